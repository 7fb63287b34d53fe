// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/table_file.hpp"

#include "runtime/base/error_text.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace dlrt {
namespace {

constexpr std::size_t file_bytes_max = 1 << 20;
constexpr mode_t file_mode = 0666;
constexpr int name_tries = 100;

std::string kind_of(mode_t mode) {
    return S_ISDIR(mode) ? "is a folder" : "is not a plain file";
}

/// The file that a write replaces: what a link leads to, else the name itself.
Result<std::string> find_target(const std::string& path) {
    if (path.empty()) return fail(Errc::argument, "'' names no file");
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) {
        if (errno == ENOENT && ::lstat(path.c_str(), &facts) != 0) return path;
        return fail_errno(errno, "'{}' cannot be written", path);
    }
    if (!S_ISREG(facts.st_mode)) {
        return fail(Errc::argument, "'{}' {}", path, kind_of(facts.st_mode));
    }
    const std::unique_ptr<char, decltype(&std::free)> real(
        ::realpath(path.c_str(), nullptr), &std::free
    );
    if (real == nullptr) return fail_errno(errno, "'{}' cannot be written", path);
    return std::string(real.get());
}

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == path.npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

/// A new file beside `target`; its name is added to `name`.
Fd open_beside(const std::string& target, std::string& name) {
    for (int i = 0; i < name_tries; ++i) {
        name = fmt::format("{}.{}.{}.new", target, ::getpid(), i);
        Fd file(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, file_mode));
        if (file.is_open() || errno != EEXIST) return file;
    }
    return Fd();
}

bool write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::write(descriptor, text.data(), text.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return false;
        text.remove_prefix(static_cast<std::size_t>(count));
    }
    return ::fsync(descriptor) == 0;
}

}  // namespace

Fd open_table(const std::string& path) {
    // A pipe in the file's place must not hold up whoever opens it.
    return Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

Result<std::string> read_table_text(const Fd& file) {
    struct stat facts {};
    if (::fstat(file.get(), &facts) != 0) {
        return store_failure(Errc::argument, errno, "cannot be looked at");
    }
    if (!S_ISREG(facts.st_mode)) return fail(Errc::argument, "{}", kind_of(facts.st_mode));
    std::string text;
    std::array<char, 4096> piece;
    while (text.size() <= file_bytes_max) {
        const ssize_t count = ::read(file.get(), piece.data(), piece.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return store_failure(Errc::argument, errno, "cannot be read");
        if (count == 0) return text;
        text.append(piece.data(), static_cast<std::size_t>(count));
    }
    return fail(Errc::argument, "is larger than {} bytes, which no table is", file_bytes_max);
}

Status check_table_target(const std::string& path) {
    const Result<std::string> target = find_target(path);
    if (!target) return target.error();
    const std::string folder = folder_of(*target);
    if (::access(folder.c_str(), W_OK | X_OK) == 0) return {};
    return fail_errno(errno, "'{}' cannot be written: folder '{}'", path, folder);
}

Status write_table_text(const std::string& path, std::string_view text) {
    const Result<std::string> target = find_target(path);
    if (!target) return target.error();
    std::string name;
    const Fd file = open_beside(*target, name);
    if (!file.is_open()) return fail_errno(errno, "'{}' cannot be written", path);
    if (write_all(file.get(), text) && std::rename(name.c_str(), target->c_str()) == 0) {
        return {};
    }
    const int error = errno;
    ::unlink(name.c_str());
    return fail_errno(error, "'{}' cannot be written", path);
}

}  // namespace dlrt
