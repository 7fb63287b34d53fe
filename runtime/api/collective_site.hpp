// SPDX-License-Identifier: Apache-2.0
/// What the collective functions of dlrt.h share: their three forms, the checks that each rank can
/// make by itself (the core checks what ranks must agree on), and the way to the core.
#pragma once

#include "runtime/api/arguments.hpp"
#include "runtime/api/block_overlap.hpp"
#include "runtime/api/ops.hpp"
#include "runtime/api/recent_calls.hpp"
#include "runtime/collective.hpp"

#include <optional>
#include <vector>

namespace dlrt::api {

using Form = CollectiveOperation::Form;

/// Which function is called, and where its request goes; null in the blocking form.
struct Entry {
    const char* function;
    Form form = Form::blocking;
    dlrt_request* request = nullptr;
    /// Of a call that may be made again the short way; else null.
    const CollectiveArguments* arguments = nullptr;
};

/// A collective call, checked and translated.
struct Prepared {
    Use<Communicator> use;
    dlrt_comm handle{};
    LayoutUse layout;
    std::uint64_t size_bytes = 0;  ///< Of the rank's own share.
    Reducer reducer;               ///< Of a reduction.
    CollectiveCall call;
    [[nodiscard]] Communicator& comm() const { return *use.pointer; }
};

/// The lists of a call whose blocks differ. Stays where it is.
struct Lists {
    BlockList input, output;
    std::vector<LayoutUse> uses;
    std::vector<const LayoutRef*> input_layouts, output_layouts;
    Lists() = default;
    Lists(const Lists&) = delete;
    Lists& operator=(const Lists&) = delete;
};

/// A list as its caller describes it: one type for all blocks, displacements in elements; or one
/// for each, displacements in bytes.
struct ListArguments {
    const char* name;  ///< "input" or "output".
    const void* base;
    const std::int64_t* counts;
    const std::int64_t* displacements;  ///< May be null.
    const dlrt_type* types;
    enum class Types : std::uint8_t { one, each } type_count = Types::one;
    static constexpr std::int64_t one_for_each_rank = -1;
    std::int64_t block_count = one_for_each_rank;
    const char* block_owner = "rank";  ///< Whom a block is for, in messages.
};

/// One buffer in, one out, of the same elements.
struct Buffers {
    const void* input;
    void* output;
    std::int64_t count;
    dlrt_type type;
};

[[nodiscard]] inline ConstBuffer input_of(const Buffers& buffers, const Prepared& prepared) {
    if (prepared.call.is_in_place) return {};
    return {buffers.input, static_cast<std::uint64_t>(buffers.count), prepared.layout.reference};
}

[[nodiscard]] inline Buffer output_of(const Buffers& buffers, const Prepared& prepared) {
    return {buffers.output, static_cast<std::uint64_t>(buffers.count), prepared.layout.reference};
}

/// What every collective function begins with.
Status open_collective(const Site& site, const Entry& entry, dlrt_comm comm, Prepared& prepared);

Status check_root(const Site& site, const Communicator& comm, std::int32_t root);

/// The buffer that every rank has.
Status use_share(const Site& site, const BufferArguments& buffer, Prepared& prepared);
/// The output beside an input of its own; each has so many times the share's elements.
struct Pair {
    const void* input;
    std::int32_t input_shares;
    const void* output;
    std::int32_t output_shares;
    const char* advice = in_place_advice;  ///< Where they overlap.
};
Status check_pair(const Site& site, const Prepared& prepared, const Pair& pair, std::int64_t count);

/// The blocks of one buffer.
Status use_list(
    const Site& site, const ListArguments& arguments, const Prepared& prepared, Lists& lists,
    BlockList& list
);

[[nodiscard]] std::uint64_t data_bytes(const BlockList& list);

/// Runs the call or starts it or makes it, and says it in the flight ring.
dlrt_err conclude(const Site& site, const Entry& entry, const Prepared& prepared, Call call);

}  // namespace dlrt::api
