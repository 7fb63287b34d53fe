// SPDX-License-Identifier: Apache-2.0
/// What the collective functions share: their three forms, the checks that each rank can make by
/// itself (the core checks what ranks must agree on), and the way to the core.
#pragma once

#include "runtime/collective.hpp"
#include "runtime/mpi/arguments.hpp"
#include "runtime/mpi/entry.hpp"
#include "runtime/mpi/numbers.hpp"
#include "runtime/mpi/op.hpp"
#include "runtime/mpi/recent_calls.hpp"

#include <cstdint>
#include <vector>

namespace dlrt::mpi {

/// A list of blocks as its caller describes it: one type for all and displacements in extents, or a
/// type for each and displacements in bytes.
struct ListArguments {
    const char* name;
    const void* base;
    const Numbers* counts;
    const Numbers* displacements;  ///< Null: one after the other.
    const MPI_Datatype* types;
    enum class Types : std::uint8_t { one, each } type_count = Types::one;
};

/// A list, checked and copied. Stays where it is.
struct List {
    std::vector<std::int64_t> counts, displacements;
    std::vector<BufferUse> uses;
    std::vector<const LayoutRef*> layouts;
    BlockList blocks;
    std::uint64_t size_bytes = 0;

    List() = default;
    List(const List&) = delete;
    List& operator=(const List&) = delete;
};

/// One collective call.
class CollectiveSite {
  public:
    /// `recent`: of a call that may be made again the short way; else null.
    CollectiveSite(const Entry& entry, MPI_Comm comm, const RecentCall* recent = nullptr);
    CollectiveSite(const CollectiveSite&) = delete;
    CollectiveSite& operator=(const CollectiveSite&) = delete;

    [[nodiscard]] bool ok() const { return code_ == MPI_SUCCESS; }
    [[nodiscard]] int code() const { return code_; }
    [[nodiscard]] const Site& site() const { return site_; }
    [[nodiscard]] Communicator& core() const { return site_.core(); }
    [[nodiscard]] CollectiveCall& call() { return call_; }

    /// Each returns MPI_SUCCESS or a class whose words are stored.
    int check_root(int root) const;
    int set_input(const BufferArguments& buffer);
    int set_output(const BufferArguments& buffer);
    /// `block_count`: how many the list has.
    int set_input_list(const ListArguments& list, std::int64_t block_count);
    int set_output_list(const ListArguments& list, std::int64_t block_count);
    int set_op(MPI_Op op, MPI_Datatype type);
    /// Input and output that are both there must not be the same.
    int refuse_same() const;
    int refuse_in_place(const void* address) const;
    [[nodiscard]] const List& input_list() const { return lists_[0]; }
    [[nodiscard]] std::uint64_t input_bytes() const { return input_.size_bytes; }

    /// Raises the error, or makes the call and says it in the flight ring.
    int conclude(int wrong, Call call);

  private:
    int set_list(const ListArguments& list, std::int64_t block_count, List& made);
    int run(const FlightRecorder::Operation& record);
    int make_request(bool is_persistent);

    Entry entry_;
    const RecentCall* recent_;
    Site site_;
    int code_ = MPI_SUCCESS;
    CollectiveCall call_;
    BufferUse input_use_, output_use_, op_use_;
    Transfer input_, output_;
    List lists_[2];
    Reducer reducer_;
};

}  // namespace dlrt::mpi
