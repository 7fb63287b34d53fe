// SPDX-License-Identifier: Apache-2.0
/// The files that the ranks of a host write their output to: which there are, and whose. Streams
/// whose names are the same share one file.
#pragma once

#include "launcher/frame.hpp"
#include "runtime/base/fd.hpp"
#include "runtime/base/result.hpp"
#include "runtime/wireup/job_map.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dlrt::launcher {

struct OutputFile {
    std::string path;
    Fd descriptor;
};

class OutputFiles {
  public:
    /// None.
    OutputFiles() = default;
    /// Nothing is opened yet. Errors: Errc::argument for a pattern that is none.
    [[nodiscard]] static Result<OutputFiles> plan(
        const OutputRule& rule, const JobMap& map, std::uint32_t host_index
    );

    /// Makes the folders, opens and empties the files. Errors: the first one that can't be, with
    /// its name.
    Status open();

    /// The name of the first file that could not be closed without an error, if any; errno has why.
    [[nodiscard]] std::optional<std::string> close();

    [[nodiscard]] const std::vector<OutputFile>& files() const { return files_; }
    /// Index in files().
    [[nodiscard]] std::optional<std::size_t> file_of(std::uint32_t local_rank, StreamKind stream)
        const;

  private:
    std::vector<OutputFile> files_;
    std::vector<std::array<std::size_t, 2>> by_stream_;  ///< By local rank, stdout first.
};

}  // namespace dlrt::launcher
