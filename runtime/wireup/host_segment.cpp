// SPDX-License-Identifier: Apache-2.0
/// Making, checking and mapping the host segment; raising the abort cell and marking the departed.
#include "runtime/wireup/host_segment.hpp"

#include "runtime/base/check.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/wireup/host_heap.hpp"
#include "runtime/wireup/memory_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <utility>

namespace dlrt {
namespace {

constexpr std::uint64_t segment_magic = 0x4745534c54524c44;  // "DLRTLSEG"
constexpr std::uint32_t segment_version = 4;
constexpr int segment_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
/// The largest page of a supported machine: the transport area starts on a page of its own
/// anywhere.
constexpr std::uint64_t area_alignment_bytes = 64 * 1024;

/// Offsets of the parts, from the numbers of ranks alone.
struct Parts {
    std::uint64_t abort_cell, doorbells, lives, flight_rings, tenancy, departed_elsewhere,
        collective_area, transport_area;
};

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
    return (value + unit - 1) / unit * unit;
}

Parts parts_for(std::uint64_t local_size, std::uint64_t job_size) {
    Parts parts{};
    parts.abort_cell = sizeof(SegmentHeader);
    parts.doorbells = parts.abort_cell + sizeof(AbortCell);
    parts.lives = parts.doorbells + local_size * sizeof(Doorbell);
    parts.flight_rings = round_up(parts.lives + local_size * sizeof(LifeCell), no_sharing_bytes);
    parts.tenancy = parts.flight_rings + local_size * sizeof(FlightRing);
    parts.departed_elsewhere = parts.tenancy + sizeof(TenancyTable);
    parts.collective_area = round_up(parts.departed_elsewhere + job_size, area_alignment_bytes);
    parts.transport_area = round_up(
        parts.collective_area + collective_area_size_bytes(static_cast<std::uint32_t>(local_size)),
        area_alignment_bytes
    );
    return parts;
}

Parts parts_for(const SegmentHeader& header) {
    return parts_for(header.local_size, header.job_size);
}

template<typename T>
T* part(MutableBytes bytes, std::uint64_t offset) {
    return reinterpret_cast<T*>(bytes.data() + offset);
}

Result<MutableBytes> map_shared(int descriptor, std::uint64_t size_bytes) {
    void* address = ::mmap(
        nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0
    );
    if (address == MAP_FAILED) {
        return fail_errno(errno, "map the host segment of {} bytes", size_bytes);
    }
    return MutableBytes{static_cast<std::byte*>(address), size_bytes};
}

/// The header as the file holds it now; all that later code relies on has been compared.
/// `size_bytes`: what is to be mapped.
Status check_segment_file(int descriptor, std::uint64_t& size_bytes) {
    struct stat info {};
    if (::fstat(descriptor, &info) != 0) {
        return fail(Errc::wireup, "host segment: descriptor {} is not open", descriptor);
    }
    const int seals = ::fcntl(descriptor, F_GET_SEALS);
    if (!S_ISREG(info.st_mode) || seals < 0 || (seals & segment_seals) != segment_seals) {
        return fail(
            Errc::wireup, "host segment: descriptor {} is not a sealed memory file", descriptor
        );
    }
    size_bytes = static_cast<std::uint64_t>(info.st_size);
    alignas(SegmentHeader) std::byte bytes[sizeof(SegmentHeader)] = {};
    if (::pread(descriptor, bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes)) {
        return fail(
            Errc::wireup, "host segment: descriptor {} is too short for a header", descriptor
        );
    }
    const auto& header = *reinterpret_cast<const SegmentHeader*>(bytes);
    if (header.magic != segment_magic) {
        return fail(Errc::wireup, "host segment: descriptor {} is something else", descriptor);
    }
    if (header.version != segment_version) {
        return fail(
            Errc::wireup, "host segment of version {}, this library needs version {}",
            header.version, segment_version
        );
    }
    if (header.local_size == 0 || header.local_size > local_rank_count_max) {
        return fail(Errc::wireup, "host segment: {} local ranks", header.local_size);
    }
    if (header.job_size > job_size_max) {
        return fail(Errc::wireup, "host segment: {} ranks", header.job_size);
    }
    const bool is_sized_right = header.transport_area_offset == parts_for(header).transport_area &&
                                header.transport_area_size ==
                                    transport_area_size_bytes(header.local_size) &&
                                header.total_size ==
                                    header.transport_area_offset + header.transport_area_size &&
                                (header.total_size == size_bytes ||
                                 file_bytes_with_heap(header.total_size, header.local_size) ==
                                     size_bytes);
    if (!is_sized_right) {
        return fail(
            Errc::wireup, "host segment of {} bytes has another layout than this library's",
            size_bytes
        );
    }
    if (std::find(std::begin(header.job_id), std::end(header.job_id), '\0') ==
        std::end(header.job_id)) {
        return fail(Errc::wireup, "host segment: the job id has no end");
    }
    size_bytes = header.total_size;
    return {};
}

/// With the shared heap, unless 'ulimit -f' forbids files of that size: the system would kill this
/// process for the try.
std::uint64_t file_bytes_for(std::uint64_t mapped_bytes, std::uint32_t local_size) {
    const std::uint64_t all_bytes = file_bytes_with_heap(mapped_bytes, local_size);
    rlimit limit{};
    const bool is_forbidden = ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < all_bytes;
    return is_forbidden ? mapped_bytes : all_bytes;
}

void fill_header(SegmentHeader& header, const HostSegment::Shape& shape, const Parts& parts) {
    header.version = segment_version;
    header.local_size = static_cast<std::uint32_t>(shape.world_ranks.size());
    header.usable_cpu_count = shape.usable_cpu_count;
    header.host_index = shape.host_index;
    header.job_size = shape.job_size;
    header.transport_area_offset = parts.transport_area;
    header.transport_area_size = transport_area_size_bytes(header.local_size);
    header.total_size = header.transport_area_offset + header.transport_area_size;
    std::copy(shape.job_id.begin(), shape.job_id.end(), header.job_id);
    header.magic = segment_magic;
}

}  // namespace

std::uint64_t transport_area_size_bytes(std::uint32_t local_size) {
    constexpr std::uint64_t bytes_per_rank = std::uint64_t{4} << 20;
    constexpr std::uint64_t bytes_per_pair = std::uint64_t{128} << 10;
    const std::uint64_t rank_count = local_size;
    return rank_count * bytes_per_rank + rank_count * rank_count * bytes_per_pair;
}

std::uint64_t collective_area_size_bytes(std::uint32_t local_size) {
    constexpr std::uint64_t kib = 1024;
    constexpr std::uint64_t communicator_count = 64;
    // One more than there are members, for results.
    const std::uint64_t ring_count = std::uint64_t{local_size} + 1;
    return 4 * kib + communicator_count * (12 * kib + ring_count * 20 * kib);
}

Result<HostSegment> HostSegment::create(const Shape& shape) {
    if (shape.world_ranks.empty() || shape.world_ranks.size() > local_rank_count_max) {
        return fail(
            Errc::limit, "{} ranks on one host; 1 to {} are possible", shape.world_ranks.size(),
            local_rank_count_max
        );
    }
    if (shape.job_id.size() >= sizeof(SegmentHeader::job_id)) {
        return fail(Errc::limit, "job id {} is longer than 63 bytes", shape.job_id);
    }
    if (shape.job_size > job_size_max) {
        return fail(
            Errc::limit, "{} ranks in a job; at most {} are possible", shape.job_size, job_size_max
        );
    }
    const auto local_size = static_cast<std::uint32_t>(shape.world_ranks.size());
    const Parts parts = parts_for(local_size, shape.job_size);
    const std::uint64_t size_bytes = parts.transport_area + transport_area_size_bytes(local_size);
    Result<Fd> file = create_memory_file("dlrt-segment", file_bytes_for(size_bytes, local_size));
    if (!file) return file.error();
    if (Status status = seal_memory_file(file->get(), segment_seals); !status.ok()) return status;
    Result<MutableBytes> bytes = map_shared(file->get(), size_bytes);
    if (!bytes) return bytes.error();
    HostSegment segment(std::move(*file), *bytes);
    fill_header(segment.header(), shape, parts);
    for (std::uint32_t i = 0; i < local_size; ++i)
        segment.life(i).world_rank = shape.world_ranks[i];
    return segment;
}

Result<HostSegment> HostSegment::open(int descriptor) {
    std::uint64_t size_bytes = 0;
    if (Status status = check_segment_file(descriptor, size_bytes); !status.ok()) return status;
    Fd own(::fcntl(descriptor, F_DUPFD_CLOEXEC, 3));
    if (!own.is_open()) return fail_errno(errno, "duplicate the host segment's descriptor");
    Result<MutableBytes> bytes = map_shared(own.get(), size_bytes);
    if (!bytes) return bytes.error();
    return HostSegment(std::move(own), *bytes);
}

HostSegment::HostSegment(Fd fd, MutableBytes bytes) : fd_(std::move(fd)), bytes_(bytes) {
}

HostSegment::HostSegment(HostSegment&& other) noexcept
    : fd_(std::move(other.fd_)),
      bytes_(std::exchange(other.bytes_, {})),
      wake_descriptor_(std::move(other.wake_descriptor_)) {
}

HostSegment& HostSegment::operator=(HostSegment&& other) noexcept {
    if (this == &other) return *this;
    if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
    fd_ = std::move(other.fd_);
    bytes_ = std::exchange(other.bytes_, {});
    wake_descriptor_ = std::move(other.wake_descriptor_);
    return *this;
}

HostSegment::~HostSegment() {
    if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

SegmentHeader& HostSegment::header() const {
    return *part<SegmentHeader>(bytes_, 0);
}

AbortCell& HostSegment::abort_cell() const {
    return *part<AbortCell>(bytes_, parts_for(header()).abort_cell);
}

Doorbell& HostSegment::doorbell(std::uint32_t local_rank) const {
    DLRT_ASSERT(local_rank < header().local_size);
    return part<Doorbell>(bytes_, parts_for(header()).doorbells)[local_rank];
}

LifeCell& HostSegment::life(std::uint32_t local_rank) const {
    DLRT_ASSERT(local_rank < header().local_size);
    return part<LifeCell>(bytes_, parts_for(header()).lives)[local_rank];
}

FlightRing& HostSegment::flight_ring(std::uint32_t local_rank) const {
    DLRT_ASSERT(local_rank < header().local_size);
    return part<FlightRing>(bytes_, parts_for(header()).flight_rings)[local_rank];
}

TenancyTable& HostSegment::tenancy() const {
    return *part<TenancyTable>(bytes_, parts_for(header()).tenancy);
}

MutableBytes HostSegment::collective_area() const {
    const std::uint32_t local_size = header().local_size;
    return bytes_.subspan(
        parts_for(header()).collective_area, collective_area_size_bytes(local_size)
    );
}

MutableBytes HostSegment::transport_area() const {
    return bytes_.subspan(header().transport_area_offset, header().transport_area_size);
}

void HostSegment::set_wake_descriptor(std::function<void(std::uint32_t local_rank)> wake) {
    wake_descriptor_ = std::move(wake);
}

bool HostSegment::raise_abort(std::int32_t code, std::uint32_t rank, std::string_view text) const {
    AbortCell& cell = abort_cell();
    if (cell.claimed.exchange(1, std::memory_order_relaxed) != 0) return false;
    cell.code = code;
    cell.rank = rank;
    std::size_t length = std::min(text.size(), sizeof cell.text - 1);
    const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; };
    while (length > 0 && length < text.size() && continues(text[length])) --length;
    std::memcpy(cell.text, text.data(), length);
    cell.text[length] = '\0';
    // Publishes the fields; pairs with the acquire load of whoever waits.
    cell.raised.store(1, std::memory_order_release);
    wake_all();
    return true;
}

void HostSegment::mark_departed(std::uint32_t local_rank) const {
    constexpr auto departed = static_cast<std::uint32_t>(RankLife::departed);
    if (life(local_rank).life.exchange(departed, std::memory_order_release) != departed) {
        header().departures.fetch_add(1, std::memory_order_release);
    }
    wake_all();
}

std::atomic<std::uint8_t>* HostSegment::departed_elsewhere(std::uint32_t world_rank) const {
    if (world_rank >= header().job_size) return nullptr;
    return part<std::atomic<std::uint8_t>>(bytes_, parts_for(header()).departed_elsewhere) +
           world_rank;
}

void HostSegment::mark_departed_elsewhere(std::uint32_t world_rank) const {
    std::atomic<std::uint8_t>* const mark = departed_elsewhere(world_rank);
    if (mark == nullptr || mark->exchange(1, std::memory_order_release) != 0) return;
    header().departures.fetch_add(1, std::memory_order_release);
    wake_all();
}

bool HostSegment::has_departed_elsewhere(std::uint32_t world_rank) const {
    const std::atomic<std::uint8_t>* const mark = departed_elsewhere(world_rank);
    return mark != nullptr && mark->load(std::memory_order_acquire) != 0;
}

void HostSegment::wake_all() const {
    for (std::uint32_t i = 0; i < header().local_size; ++i) {
        const SleepKind kind = doorbell(i).ring(RingFence::full);
        if (kind == SleepKind::descriptor && wake_descriptor_) wake_descriptor_(i);
    }
}

}  // namespace dlrt
