// SPDX-License-Identifier: Apache-2.0
/// A zeroed shared mapping with doorbells and a transport area, as ranks of a host find it: for
/// tests and benchmarks of transports/shm, also across fork.
#pragma once

#include "runtime/base/doorbell.hpp"
#include "runtime/base/fd.hpp"
#include "transports/shm/shm.hpp"

#include <functional>
#include <memory>
#include <sys/mman.h>
#include <sys/stat.h>
#include <utility>

namespace dlrt::testing {

class ShmArea {
  public:
    explicit ShmArea(std::uint32_t local_size)
        : local_size_(local_size), fd_(::memfd_create("dlrt-test", MFD_CLOEXEC)) {
        size_bytes_ = shm::area_size_bytes(local_size) + bells_bytes();
        if (::ftruncate(fd_.get(), static_cast<off_t>(size_bytes_)) != 0) std::abort();
        void* mapped = ::mmap(
            nullptr, size_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0
        );
        if (mapped == MAP_FAILED) std::abort();
        base_ = static_cast<std::byte*>(mapped);
    }
    ShmArea(const ShmArea&) = delete;
    ShmArea& operator=(const ShmArea&) = delete;
    ~ShmArea() { ::munmap(base_, size_bytes_); }

    [[nodiscard]] std::uint32_t local_size() const { return local_size_; }
    [[nodiscard]] MutableBytes area() const {
        return {base_ + bells_bytes(), shm::area_size_bytes(local_size_)};
    }
    [[nodiscard]] Doorbell* doorbells() const { return reinterpret_cast<Doorbell*>(base_); }
    [[nodiscard]] std::uint64_t touched_bytes() const {
        struct stat state {};
        ::fstat(fd_.get(), &state);
        return static_cast<std::uint64_t>(state.st_blocks) * 512;
    }
    [[nodiscard]] shm::Options options(std::uint32_t rank) const {
        shm::Options options;
        options.area = area();
        options.local_rank = rank;
        options.local_size = local_size_;
        options.doorbells = doorbells();
        options.write_doorbell_descriptor = [](std::uint32_t) {};
        options.copy_table = shm::builtin_copy_table();
        return options;
    }
    [[nodiscard]] std::unique_ptr<Endpoint> open(std::uint32_t rank) const {
        return *shm::open_endpoint(options(rank));
    }

  private:
    [[nodiscard]] std::uint64_t bells_bytes() const {
        return (local_size_ * sizeof(Doorbell) + 4095) / 4096 * 4096;
    }

    std::uint32_t local_size_;
    Fd fd_;
    std::uint64_t size_bytes_ = 0;
    std::byte* base_ = nullptr;
};

}  // namespace dlrt::testing
