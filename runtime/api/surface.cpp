// SPDX-License-Identifier: Apache-2.0
#include "runtime/api/surface.hpp"

#include "runtime/api/recent_calls.hpp"

namespace dlrt::api {

static_assert(static_cast<int>(Errc::timeout) == DLRT_ERR_TIMEOUT);
static_assert(static_cast<int>(Errc::internal) == DLRT_ERR_INTERNAL);
static_assert(any_source == DLRT_ANY_SOURCE && any_tag == DLRT_ANY_TAG);
static_assert(undefined_rank == DLRT_UNDEFINED);
static_assert(static_cast<int>(ReduceOp::average) == built_in_op_count - 1);

// Never destroyed: a program may leave without finalize while other threads are inside.
Surface* const Surface::instance_ = new Surface;

Surface::Surface() : recent_calls_(new RecentCalls) {
}

void Surface::forget_recent() {
    recent_ = nullptr;
    recent_calls_->forget();
}

void Surface::attach(Core& core) {
    const std::scoped_lock guard(attach_mutex_);
    if (is_attached_to(&core)) return;
    world = core.world().get();
    self = core.self().get();
    note_recent(DLRT_COMM_WORLD, world);
    engine = &core.engine();
    requests = &engine->requests();
    flight = &core.flight();
    is_shared = core.thread_level() == ThreadLevel::multiple;
    for (std::uint32_t i = 1; i < element_type_count; ++i) {
        elements[i] = &Layout::of(static_cast<ElementType>(i));
    }
    const Sharing sharing = is_shared ? Sharing::locked : Sharing::one_thread;
    communicators.set_sharing(sharing);
    groups.set_sharing(sharing);
    types.set_sharing(sharing);
    messages.set_sharing(sharing);
    ops.set_sharing(sharing);
    // Pairs with the load in is_attached_to().
    choose_short_way(&core);
    core_.store(&core, std::memory_order_release);
}

void Surface::choose_short_way(Core* core) {
    const bool is_careful = is_shared || open_call_groups() != 0;
    core_alone_.store(is_careful ? nullptr : core, std::memory_order_release);
}

void Surface::count_call_groups(std::int32_t change) {
    const std::scoped_lock guard(attach_mutex_);
    open_call_groups_.fetch_add(static_cast<std::uint32_t>(change), std::memory_order_relaxed);
    choose_short_way(core_.load(std::memory_order_relaxed));
}

void Surface::detach() {
    const std::scoped_lock guard(attach_mutex_);
    core_.store(nullptr, std::memory_order_release);
    core_alone_.store(nullptr, std::memory_order_release);
    communicators.clear();
    groups.clear();
    types.clear();
    messages.clear();
    ops.clear();
    world = nullptr;
    self = nullptr;
    forget_recent();
    engine = nullptr;
    requests = nullptr;
    flight = nullptr;
}

void Site::enter_slowly(Core* core) {
    if (core == nullptr) {
        error_ = pass(Core::absence());
    } else {
        surface_.attach(*core);
    }
}

Status Site::pass(Status status) const {
    return store_failure(
        status.code, status.os_error, fmt::format("{}: {}", function_, last_error_text())
    );
}

Status Site::use_other(dlrt_comm handle, Use<Communicator>& use) const {
    if (handle.index == DLRT_COMM_SELF.index && handle.generation == 0) {
        use.pointer = surface_.self;
        return {};
    }
    if (surface_.is_shared) {
        use.keeper = surface_.communicators.pin(to_handle(handle)).value_or(nullptr);
        use.pointer = use.keeper.get();
    } else if (const CommunicatorRef* entry = surface_.communicators.find(to_handle(handle))) {
        use.pointer = entry->get();
    }
    if (use.pointer != nullptr) return {};
    if (handle.index == 0 && handle.generation == 0) {
        return fail(Errc::communicator, "comm is DLRT_COMM_NULL");
    }
    return fail(Errc::communicator, "comm is freed or was never a communicator");
}

Status Site::use_other(dlrt_type handle, LayoutUse& use) const {
    if (surface_.is_shared) {
        use.keeper = surface_.types.pin(to_handle(handle)).value_or(nullptr);
        if (use.keeper) use.reference = &use.keeper;
    } else {
        use.reference = surface_.types.find(to_handle(handle));
    }
    if (use.reference != nullptr) return {};
    if (handle.index == 0 && handle.generation == 0) {
        return fail(Errc::type, "type is DLRT_TYPE_NULL");
    }
    return fail(Errc::type, "type is freed or was never a type");
}

Status Site::use(dlrt_group handle, GroupRef& group) const {
    if (handle.index == DLRT_GROUP_EMPTY.index && handle.generation == 0) {
        group = surface_.empty_group;
        return {};
    }
    group = surface_.groups.pin(to_handle(handle)).value_or(nullptr);
    if (group) return {};
    if (handle.index == 0 && handle.generation == 0) {
        return fail(Errc::group, "group is DLRT_GROUP_NULL");
    }
    return fail(Errc::group, "group is freed or was never a group");
}

Status Site::use(dlrt_op handle, UserOpRef& op) const {
    op = surface_.ops.pin(to_handle(handle)).value_or(nullptr);
    if (op) return {};
    if (handle.index == 0 && handle.generation == 0) return fail(Errc::op, "op is DLRT_OP_NULL");
    return fail(Errc::op, "op is freed or was never an operation");
}

namespace {

template<typename T, typename CHandle>
Status give_from(const Site& site, HandleTable<T>& table, T entry, CHandle* handle) {
    const std::optional<Handle> made = table.insert(std::move(entry));
    if (!made) return site.fail(Errc::limit, "there are no more handles of this kind");
    *handle = {made->index, made->generation};
    return {};
}

}  // namespace

Status Site::give(CommunicatorRef comm, dlrt_comm* handle) const {
    return give_from(*this, surface_.communicators, std::move(comm), handle);
}
Status Site::give(GroupRef group, dlrt_group* handle) const {
    return give_from(*this, surface_.groups, std::move(group), handle);
}
Status Site::give(LayoutRef layout, dlrt_type* handle) const {
    return give_from(*this, surface_.types, std::move(layout), handle);
}
Status Site::give(MessageEntry entry, dlrt_message* handle) const {
    return give_from(*this, surface_.messages, std::move(entry), handle);
}
Status Site::give(UserOpRef op, dlrt_op* handle) const {
    return give_from(*this, surface_.ops, std::move(op), handle);
}

}  // namespace dlrt::api
