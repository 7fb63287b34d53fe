// SPDX-License-Identifier: Apache-2.0
#include "runtime/api/collective_site.hpp"

#include "collectives/contract.hpp"
#include "runtime/api/call_group.hpp"
#include "runtime/api/request_list.hpp"

namespace dlrt::api {
namespace {

/// Bytes that one buffer spans and the other one too, both without gaps.
bool do_overlap(const void* a, std::uint64_t a_bytes, const void* b, std::uint64_t b_bytes) {
    const auto first = reinterpret_cast<std::uintptr_t>(a);
    const auto second = reinterpret_cast<std::uintptr_t>(b);
    return first < second ? second - first < a_bytes : first - second < b_bytes;
}

Status check_shares(
    const Site& site, const Prepared& prepared, const BufferArguments& share,
    std::int32_t share_count, std::uint64_t& size_bytes
) {
    std::int64_t count = 0;
    if (__builtin_mul_overflow(share.count, std::int64_t{share_count}, &count)) {
        return site.fail(Errc::count, "{} elements for each rank are too many", share.count);
    }
    const Layout& layout = prepared.layout.layout();
    std::int64_t bytes = 0;
    std::int64_t span = 0;
    const bool is_too_long = __builtin_mul_overflow(
                                 count, static_cast<std::int64_t>(layout.size_bytes()), &bytes
                             ) ||
                             __builtin_mul_overflow(count, layout.extent_bytes(), &span);
    size_bytes = static_cast<std::uint64_t>(bytes);
    const bool is_nowhere = reinterpret_cast<std::uintptr_t>(share.address) + 1 <= 1;
    if (is_too_long || (is_nowhere && bytes > 0)) {
        return explain_buffer(site, {share.address, count, share.type}, layout);
    }
    return {};
}

/// Of a communicator that an operation keeps beyond the call.
CommunicatorRef share(const Site& site, dlrt_comm handle) {
    if (handle.generation == 0 && handle.index == DLRT_COMM_WORLD.index)
        return Core::get()->world();
    if (handle.generation == 0 && handle.index == DLRT_COMM_SELF.index) return Core::get()->self();
    return site.surface().communicators.pin(to_handle(handle)).value_or(nullptr);
}

}  // namespace

Status open_collective(const Site& site, const Entry& entry, dlrt_comm comm, Prepared& prepared) {
    if (!site.is_ready()) return Status{static_cast<Errc>(site.error())};
    if (entry.form != Form::blocking) {
        if (const Status bad = site.require(entry.request, "request"); !bad.ok()) return bad;
    }
    prepared.handle = comm;
    return site.use(comm, prepared.use);
}

Status check_root(const Site& site, const Communicator& comm, std::int32_t root) {
    if (root >= 0 && root < comm.size()) [[likely]]
        return {};
    return site.fail(Errc::root, "root {} is not in 0..{}", root, comm.size() - 1);
}

Status use_share(const Site& site, const BufferArguments& buffer, Prepared& prepared) {
    return use_buffer(site, buffer, prepared.layout, prepared.size_bytes);
}

Status check_pair(
    const Site& site, const Prepared& prepared, const Pair& pair, std::int64_t count
) {
    std::uint64_t input_bytes = 0;
    std::uint64_t output_bytes = 0;
    Status bad = check_shares(site, prepared, {pair.input, count}, pair.input_shares, input_bytes);
    if (!bad.ok()) return bad;
    bad = check_shares(site, prepared, {pair.output, count}, pair.output_shares, output_bytes);
    if (!bad.ok() || input_bytes == 0 || output_bytes == 0) return bad;
    const bool overlap = prepared.layout.layout().is_contiguous()
                             ? do_overlap(pair.input, input_bytes, pair.output, output_bytes)
                             : pair.input == pair.output;
    if (!overlap) return {};
    return site.fail(
        Errc::buffer, "input and output {}{}",
        pair.input == pair.output ? "are the same" : "overlap", pair.advice
    );
}

Status use_list(
    const Site& site, const ListArguments& arguments, const Prepared& prepared, Lists& lists,
    BlockList& list
) {
    const bool has_all_ranks = arguments.block_count == ListArguments::one_for_each_rank;
    const auto size = static_cast<std::size_t>(
        has_all_ranks ? prepared.comm().size() : arguments.block_count
    );
    const char* const whose = arguments.block_owner;
    if (size == 0) return {};
    const bool is_input = &list == &lists.input;
    if (arguments.counts == nullptr) {
        return site.fail(Errc::argument, "the counts of {} are null", arguments.name);
    }
    const bool has_types = arguments.type_count == ListArguments::Types::each;
    if (has_types && arguments.types == nullptr) {
        return site.fail(Errc::argument, "the types of {} are null", arguments.name);
    }
    // For both lists: what is in it must not move.
    if (lists.uses.capacity() == 0) lists.uses.reserve(2 * size);
    auto& layouts = is_input ? lists.input_layouts : lists.output_layouts;
    for (std::size_t i = 0; i < size; ++i) {
        const std::int64_t count = arguments.counts[i];
        if (has_types || i == 0) {
            LayoutUse& use = lists.uses.emplace_back();
            dlrt_type type = arguments.types[has_types ? i : 0];
            // Nobody looks at the type of nothing.
            if (has_types && count == 0) type = DLRT_BYTE;
            if (const Status bad = site.use(type, use); !bad.ok()) return bad;
        }
        const Layout& layout = lists.uses.back().layout();
        std::int64_t bytes = 0;
        std::int64_t span = 0;
        std::int64_t offset = 0;
        const std::int64_t unit = has_types ? 1 : layout.extent_bytes();
        const bool is_too_far = arguments.displacements != nullptr &&
                                __builtin_mul_overflow(arguments.displacements[i], unit, &offset);
        if (count < 0 || is_too_far ||
            __builtin_mul_overflow(count, static_cast<std::int64_t>(layout.size_bytes()), &bytes) ||
            __builtin_mul_overflow(count, layout.extent_bytes(), &span)) {
            return site.fail(
                Errc::count, "the block for {} {} of {}: {} elements{}", whose, i, arguments.name,
                count, count < 0 ? ", which is negative" : ", beyond all addresses"
            );
        }
        const bool is_nowhere = reinterpret_cast<std::uintptr_t>(arguments.base) + 1 <= 1;
        if (is_nowhere && bytes > 0) {
            return site.fail(
                Errc::buffer, "{} is {}, but the block for {} {} has {} bytes", arguments.name,
                arguments.base == nullptr ? "null" : "DLRT_IN_PLACE", whose, i, bytes
            );
        }
    }
    const std::size_t made = has_types ? size : 1;
    for (std::size_t i = lists.uses.size() - made; i < lists.uses.size(); ++i) {
        LayoutUse& use = lists.uses[i];
        layouts.push_back(use.keeper ? &use.keeper : use.reference);
    }
    list.counts = {arguments.counts, size};
    if (arguments.displacements != nullptr) list.displacements = {arguments.displacements, size};
    list.displacement_unit = has_types ? BlockList::Unit::bytes : BlockList::Unit::extents;
    list.layouts = layouts;
    return {};
}

std::uint64_t data_bytes(const BlockList& list) {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < list.counts.size(); ++i) {
        const Layout& layout = **list.layouts[list.layouts.size() == 1 ? 0 : i];
        bytes += static_cast<std::uint64_t>(list.counts[i]) * layout.size_bytes();
    }
    return bytes;
}

namespace {

/// The turn of one thread among several in the collectives of a communicator.
class Turn {
  public:
    Turn(const Site& site, Communicator& comm, Call call) {
        if (!site.surface().is_shared) return;
        const Status taken = take_turn(comm, call);
        if (taken.ok()) {
            state_ = &comm.collective_state();
        } else {
            refusal_ = site.pass(taken);
        }
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() {
        if (state_ != nullptr) state_->leave();
    }
    [[nodiscard]] Status refusal() const { return refusal_; }

  private:
    CollectiveState* state_ = nullptr;
    Status refusal_;
};

}  // namespace

dlrt_err conclude(const Site& site, const Entry& entry, const Prepared& prepared, Call call) {
    const Communicator& comm = prepared.comm();
    const Turn turn(site, prepared.comm(), call);
    if (!turn.refusal().ok()) return to_c(turn.refusal());
    CallGroup* const group = entry.form == Form::blocking ? CallGroup::open(site.surface())
                                                          : nullptr;
    // What a group begins is a nonblocking operation, to the other ranks too.
    const Form form = group != nullptr ? Form::nonblocking : entry.form;
    const bool is_persistent = form == Form::persistent;
    const OperationNumber number = comm.next_operation_number(
        is_persistent ? Persistence::persistent : Persistence::once
    );
    const Agreement agreement = agreement_of(prepared.call, form);
    const FlightRecorder::Operation record{
        .call = call,
        .place = {agreement.root, number.short_form()},
        .context = static_cast<std::uint64_t>(comm.user_context()),
        .size_bytes = prepared.size_bytes,
        .arguments_hash = agreement.packed(),
    };
    const FlightMark mark(site, record);
    if (form == Form::blocking) {
        const Status outcome = run_collective(prepared.comm(), prepared.call);
        if (!outcome.ok()) return to_c(site.pass(outcome));
        const CollectiveArguments* const arguments = entry.arguments;
        if (arguments != nullptr && arguments->can_be_repeated() &&
            site.surface().is_ready_and_alone()) {
            site.surface().recent_calls().note(arguments->as_recent(), prepared.comm(), record);
        }
        return DLRT_OK;
    }
    const CommunicatorRef shared = share(site, prepared.handle);
    const Result<Request*> made = is_persistent ? init_collective(shared, prepared.call)
                                                : start_collective(shared, prepared.call);
    if (!made) return to_c(site.pass(made.error()));
    if (group != nullptr) {
        group->add(site, *made, nullptr);
    } else {
        give_request(**made, entry.request);
    }
    return DLRT_OK;
}

}  // namespace dlrt::api
