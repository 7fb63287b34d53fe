// SPDX-License-Identifier: Apache-2.0
/// memfd_create and its seals.
#include "runtime/wireup/memory_file.hpp"

#include "runtime/base/error_text.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>

namespace dlrt {
namespace {

/// MFD_NOEXEC_SEAL of Linux 6.3: systems with vm.memfd_noexec=2 refuse files without it.
constexpr unsigned not_executable = 0x0008U;

}  // namespace

Result<Fd> create_memory_file(const char* name, std::uint64_t size_bytes) {
    constexpr unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    Fd file(::memfd_create(name, flags | not_executable));
    if (!file.is_open() && errno == EINVAL) file.reset(::memfd_create(name, flags));
    if (!file.is_open()) return fail_errno(errno, "create the memory file {}", name);
    if (::ftruncate(file.get(), static_cast<off_t>(size_bytes)) != 0) {
        const int error = errno;
        const char* hint = error == EFBIG ? ", more than 'ulimit -f' allows" : "";
        return fail_errno(error, "give the memory file {} {} bytes{}", name, size_bytes, hint);
    }
    return file;
}

Status seal_memory_file(int descriptor, int seals) {
    if (::fcntl(descriptor, F_ADD_SEALS, seals) != 0) {
        return fail_errno(errno, "seal memory file {}", descriptor);
    }
    return {};
}

}  // namespace dlrt
