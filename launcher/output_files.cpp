// SPDX-License-Identifier: Apache-2.0
#include "launcher/output_files.hpp"

#include "launcher/line_format.hpp"
#include "runtime/base/error_text.hpp"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <unistd.h>
#include <utility>

namespace dlrt::launcher {
namespace {

Status make_folder_of(const std::string& path) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (!error) return {};
    return fail_errno(
        error.value(), "cannot make the folder '{}' of the output file '{}'", folder.string(), path
    );
}

}  // namespace

Result<OutputFiles> OutputFiles::plan(
    const OutputRule& rule, const JobMap& map, std::uint32_t host_index
) {
    OutputFiles result;
    if (rule.file_pattern.empty()) return result;
    const Result<LineFormat> pattern = LineFormat::parse(rule.file_pattern);
    if (!pattern) return pattern.error();
    std::map<std::string, std::size_t> known;
    for (const std::uint32_t rank : map.ranks_on_host(host_index)) {
        const RankEntry& entry = map.ranks[rank];
        auto& indices = result.by_stream_.emplace_back();
        for (const StreamKind stream : {StreamKind::out, StreamKind::err}) {
            // Of merged streams the second one does not exist.
            if (stream == StreamKind::err && rule.merges_stderr) continue;
            std::string path = pattern->expand(
                {rank, entry.local_rank, map.hosts[host_index].name, 0, stream, entry.block_index,
                 map.job_id}
            );
            const auto [found, is_new] = known.emplace(std::move(path), result.files_.size());
            if (is_new) result.files_.push_back({found->first, Fd()});
            indices[stream == StreamKind::out ? 0 : 1] = found->second;
        }
    }
    return result;
}

Status OutputFiles::open() {
    for (OutputFile& file : files_) {
        if (const Status status = make_folder_of(file.path); !status.ok()) return status;
        // Whatever else writes to the file, ours is added to it. A pipe without a reader is refused
        // instead of waited for.
        constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NONBLOCK | O_NOCTTY |
                              O_CLOEXEC;
        file.descriptor = Fd(::open(file.path.c_str(), flags, 0666));
        if (!file.descriptor.is_open()) {
            return fail_errno(errno, "cannot open the output file '{}'", file.path);
        }
    }
    return {};
}

std::optional<std::string> OutputFiles::close() {
    std::optional<std::string> failed;
    int first_error = 0;
    for (OutputFile& file : files_) {
        if (!file.descriptor.is_open()) continue;
        if (::close(file.descriptor.release()) == 0 || failed) continue;
        failed = file.path;
        first_error = errno;
    }
    errno = first_error;
    return failed;
}

std::optional<std::size_t> OutputFiles::file_of(std::uint32_t local_rank, StreamKind stream) const {
    if (local_rank >= by_stream_.size()) return {};
    return by_stream_[local_rank][stream == StreamKind::out ? 0 : 1];
}

}  // namespace dlrt::launcher
