// SPDX-License-Identifier: Apache-2.0
/// The job map to bytes and back, as format.md says, and its memory file.
#include "runtime/wireup/job_map.hpp"

#include "runtime/base/byte_io.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/wireup/memory_file.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace dlrt {
namespace {

constexpr std::uint64_t job_map_magic = 0x50414d54524c4421;  // "!DLRTMAP"
constexpr std::uint32_t job_map_version = 1;
constexpr std::size_t host_entry_bytes_min = 8;
constexpr std::size_t rank_entry_bytes_min = 16;
constexpr std::size_t job_map_bytes_max = std::size_t{1} << 32;

HostEntry read_host(ByteReader& in) {
    HostEntry host;
    host.name = in.text();
    host.usable_cpu_count = in.number<std::uint32_t>();
    return host;
}

RankEntry read_rank(ByteReader& in) {
    RankEntry rank;
    rank.host_index = in.number<std::uint32_t>();
    rank.local_rank = in.number<std::uint32_t>();
    rank.block_index = in.number<std::uint32_t>();
    const std::uint32_t cpu_count = in.count(sizeof(std::uint32_t));
    rank.cpus.reserve(cpu_count);
    for (std::uint32_t i = 0; i < cpu_count; ++i) rank.cpus.push_back(in.number<std::uint32_t>());
    return rank;
}

/// Local ranks of each host must be 0, 1, … without gap or repetition.
Status check_places(const JobMap& map) {
    std::vector<std::uint32_t> local_sizes(map.hosts.size(), 0);
    for (std::uint32_t rank = 0; rank < map.size(); ++rank) {
        const std::uint32_t host = map.ranks[rank].host_index;
        if (host >= map.hosts.size()) {
            return fail(
                Errc::wireup, "job map: rank {} is on host {} of {}", rank, host, map.hosts.size()
            );
        }
        ++local_sizes[host];
    }
    std::vector<std::uint64_t> first_of_host(map.hosts.size(), 0);
    for (std::size_t host = 1; host < map.hosts.size(); ++host) {
        first_of_host[host] = first_of_host[host - 1] + local_sizes[host - 1];
    }
    std::vector<bool> is_taken(map.ranks.size(), false);
    for (std::uint32_t rank = 0; rank < map.size(); ++rank) {
        const RankEntry& entry = map.ranks[rank];
        if (entry.local_rank >= local_sizes[entry.host_index]) {
            return fail(
                Errc::wireup, "job map: rank {} has local rank {} of {}", rank, entry.local_rank,
                local_sizes[entry.host_index]
            );
        }
        const std::uint64_t place = first_of_host[entry.host_index] + entry.local_rank;
        if (is_taken[place]) {
            return fail(
                Errc::wireup, "job map: two ranks have local rank {} of host {}", entry.local_rank,
                entry.host_index
            );
        }
        is_taken[place] = true;
    }
    return {};
}

}  // namespace

std::vector<std::uint32_t> JobMap::ranks_on_host(std::uint32_t host_index) const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t rank = 0; rank < size(); ++rank) {
        if (ranks[rank].host_index == host_index) found.push_back(rank);
    }
    std::sort(found.begin(), found.end(), [&](std::uint32_t a, std::uint32_t b) {
        return ranks[a].local_rank < ranks[b].local_rank;
    });
    return found;
}

std::vector<std::byte> encode_job_map(const JobMap& map) {
    ByteWriter out;
    out.number(job_map_magic);
    out.number(job_map_version);
    out.text(map.job_id);
    out.number(static_cast<std::uint32_t>(map.hosts.size()));
    out.number(static_cast<std::uint32_t>(map.ranks.size()));
    for (const HostEntry& host : map.hosts) {
        out.text(host.name);
        out.number(host.usable_cpu_count);
    }
    for (const RankEntry& rank : map.ranks) {
        out.number(rank.host_index);
        out.number(rank.local_rank);
        out.number(rank.block_index);
        out.number(static_cast<std::uint32_t>(rank.cpus.size()));
        for (const std::uint32_t cpu : rank.cpus) out.number(cpu);
    }
    return out.take();
}

Result<JobMap> decode_job_map(Bytes bytes) {
    ByteReader in(bytes);
    const auto magic = in.number<std::uint64_t>();
    const auto version = in.number<std::uint32_t>();
    if (!in.ok() || magic != job_map_magic) {
        return fail(Errc::wireup, "not a job map: {} bytes without its magic number", bytes.size());
    }
    if (version != job_map_version) {
        return fail(
            Errc::wireup, "job map of version {}, this library reads version {}", version,
            job_map_version
        );
    }
    JobMap map;
    map.job_id = in.text();
    const auto host_count = in.count(host_entry_bytes_min);
    const auto rank_count = in.count(rank_entry_bytes_min);
    if (!in.ok() || rank_count > in.size_left() / rank_entry_bytes_min ||
        host_count > in.size_left() / host_entry_bytes_min) {
        return fail(Errc::wireup, "job map of {} bytes is damaged", bytes.size());
    }
    map.hosts.reserve(host_count);
    for (std::uint32_t i = 0; i < host_count; ++i) map.hosts.push_back(read_host(in));
    map.ranks.reserve(rank_count);
    for (std::uint32_t i = 0; i < rank_count && in.ok(); ++i) map.ranks.push_back(read_rank(in));
    if (!in.is_at_end()) {
        return fail(
            Errc::wireup, "job map of {} bytes is {}", bytes.size(),
            in.ok() ? "too long" : "damaged"
        );
    }
    if (map.ranks.empty()) return fail(Errc::wireup, "job map without ranks");
    if (Status status = check_places(map); !status.ok()) return status;
    return map;
}

Result<Fd> create_job_map_file(const JobMap& map) {
    const std::vector<std::byte> bytes = encode_job_map(map);
    Result<Fd> file = create_memory_file("dlrt-map", bytes.size());
    if (!file) return file;
    std::size_t written_bytes = 0;
    while (written_bytes < bytes.size()) {
        const ssize_t result = ::pwrite(
            file->get(), bytes.data() + written_bytes, bytes.size() - written_bytes,
            static_cast<off_t>(written_bytes)
        );
        if (result < 0 && errno == EINTR) continue;
        if (result <= 0) return fail_errno(errno, "write the job map");
        written_bytes += static_cast<std::size_t>(result);
    }
    const int seals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    if (Status status = seal_memory_file(file->get(), seals); !status.ok()) return status;
    return file;
}

Result<JobMap> read_job_map_file(int descriptor) {
    struct stat info {};
    if (::fstat(descriptor, &info) != 0) {
        return fail(Errc::wireup, "job map: descriptor {} is not open", descriptor);
    }
    const int seals = ::fcntl(descriptor, F_GET_SEALS);
    constexpr int needed = F_SEAL_WRITE | F_SEAL_SHRINK;
    if (!S_ISREG(info.st_mode) || seals < 0 || (seals & needed) != needed) {
        return fail(Errc::wireup, "job map: descriptor {} is not a sealed memory file", descriptor);
    }
    const auto size_bytes = static_cast<std::size_t>(info.st_size);
    if (size_bytes == 0 || size_bytes > job_map_bytes_max) {
        return fail(Errc::wireup, "job map: descriptor {} holds {} bytes", descriptor, size_bytes);
    }
    void* address = ::mmap(nullptr, size_bytes, PROT_READ, MAP_SHARED, descriptor, 0);
    if (address == MAP_FAILED) return fail_errno(errno, "map the job map");
    Result<JobMap> map = decode_job_map({static_cast<const std::byte*>(address), size_bytes});
    ::munmap(address, size_bytes);
    return map;
}

}  // namespace dlrt
