// SPDX-License-Identifier: Apache-2.0
#include "runtime/mpi/surface.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/mpi/refusal.hpp"

namespace dlrt::mpi {

// Never destroyed: a program may leave without MPI_Finalize while other threads are inside.
Surface* const Surface::instance_ = new Surface;

Surface::Surface() {
    const auto& predefined = predefined_types();
    for (std::size_t i = 0; i < predefined.size(); ++i) {
        const bool is_there = predefined[i] != nullptr && predefined[i]->layout != nullptr;
        layouts[i] = is_there ? &predefined[i]->layout : nullptr;
    }
    infos.set_sharing(Sharing::locked);
    error_handlers.set_sharing(Sharing::locked);
}

void Surface::attach(Core& core) {
    engine = &core.engine();
    requests = &engine->requests();
    flight = &core.flight();
    is_shared = core.thread_level() == ThreadLevel::multiple;
    const ErrorHandlerRef& fatal = predefined_handler(MPI_ERRORS_ARE_FATAL);
    world = wrap(core.world(), fatal);
    world->handle = MPI_COMM_WORLD;
    world->name = "MPI_COMM_WORLD";
    self = wrap(core.self(), fatal);
    self->handle = MPI_COMM_SELF;
    self->name = "MPI_COMM_SELF";
    environment_info->set("maxprocs", std::to_string(core.world()->size()));
    const Sharing sharing = is_shared ? Sharing::locked : Sharing::one_thread;
    comms.set_sharing(sharing);
    groups.set_sharing(sharing);
    types.set_sharing(sharing);
    messages.set_sharing(sharing);
    ops.set_sharing(sharing);
    core_alone_ = is_shared ? nullptr : &core;
    note_recent(MPI_COMM_WORLD, world.get());
    phase_.store(Phase::inside, std::memory_order_release);
}

void Surface::detach() {
    phase_.store(Phase::after, std::memory_order_release);
    core_alone_ = nullptr;
    forget_recent();
    comms.clear();
    groups.clear();
    types.clear();
    messages.clear();
    ops.clear();
    world = nullptr;
    self = nullptr;
}

Comm* Surface::find(MPI_Comm handle, CommRef& keeper) {
    if (handle == MPI_COMM_WORLD) return world.get();
    if (handle == MPI_COMM_SELF) return self.get();
    if (is_shared) {
        keeper = comms.pin(to_handle(handle)).value_or(nullptr);
        return keeper.get();
    }
    const CommRef* const entry = comms.find(to_handle(handle));
    return entry != nullptr ? entry->get() : nullptr;
}

CommRef Surface::share(MPI_Comm handle) {
    if (handle == MPI_COMM_WORLD) return world;
    if (handle == MPI_COMM_SELF) return self;
    return comms.pin(to_handle(handle)).value_or(nullptr);
}

TypeRef Surface::share(MPI_Datatype handle) {
    if (is_always_there(handle)) {
        const std::uint64_t place = number_of(handle) - first_type_number;
        return place < predefined_type_count ? predefined_types()[place] : nullptr;
    }
    return types.pin(to_handle(handle)).value_or(nullptr);
}

void Site::open(MPI_Comm comm) {
    if (!surface_.is_ready()) return refuse_time();
    const int wrong = use(comm, comm_);
    if (wrong != MPI_SUCCESS) {
        error_ = raise(wrong);
        return;
    }
    surface_.note_recent(comm, comm_.pointer);
}

void Site::refuse_time() {
    const Surface::Phase phase = surface_.phase();
    const char* const when = phase == Surface::Phase::before  ? "before MPI_Init"
                             : phase == Surface::Phase::after ? "after MPI_Finalize"
                                                              : "in a child made by fork()";
    error_ = raise(MPI_ERR_OTHER, "called {}", when);
}

void Site::store_words(std::string words) const {
    static_cast<void>(store_failure(Errc::argument, 0, std::move(words)));
}

int Site::raise(int code) const {
    return raise_on(comm_.pointer, function_, code);
}

int Site::use(MPI_Comm handle, Use<Comm>& use, const char* name) const {
    use.pointer = surface_.find(handle, use.keeper);
    if (use.pointer != nullptr && use.pointer->core != nullptr) [[likely]]
        return MPI_SUCCESS;
    if (use.pointer != nullptr) {
        return bad(MPI_ERR_COMM, "{} is not complete: wait for its MPI_Comm_idup first", name);
    }
    if (handle == MPI_COMM_NULL) return bad(MPI_ERR_COMM, "{} is MPI_COMM_NULL", name);
    return bad(MPI_ERR_COMM, "{} is freed or was never a communicator", name);
}

int Site::use(MPI_Datatype handle, Use<Type>& use, const char* name) const {
    if (is_always_there(handle)) {
        const std::uint64_t place = number_of(handle) - first_type_number;
        use.pointer = place < predefined_type_count ? predefined_types()[place].get() : nullptr;
    } else if (surface_.is_shared) {
        use.keeper = surface_.types.pin(to_handle(handle)).value_or(nullptr);
        use.pointer = use.keeper.get();
    } else if (const TypeRef* const entry = surface_.types.find(to_handle(handle))) {
        use.pointer = entry->get();
    }
    if (use.pointer != nullptr) [[likely]]
        return MPI_SUCCESS;
    if (handle == MPI_DATATYPE_NULL) return bad(MPI_ERR_TYPE, "{} is MPI_DATATYPE_NULL", name);
    return bad(MPI_ERR_TYPE, "{} is freed or was never a datatype", name);
}

int Site::use(MPI_Group handle, GroupRef& group, const char* name) const {
    if (handle == MPI_GROUP_EMPTY) {
        group = surface_.empty_group;
        return MPI_SUCCESS;
    }
    group = surface_.groups.pin(to_handle(handle)).value_or(nullptr);
    if (group != nullptr) return MPI_SUCCESS;
    if (handle == MPI_GROUP_NULL) return bad(MPI_ERR_GROUP, "{} is MPI_GROUP_NULL", name);
    return bad(MPI_ERR_GROUP, "{} is freed or was never a group", name);
}

int Site::use(MPI_Info handle, InfoRef& info) const {
    info = handle == MPI_INFO_ENV ? surface_.environment_info
                                  : surface_.infos.pin(to_handle(handle)).value_or(nullptr);
    if (info != nullptr) return MPI_SUCCESS;
    if (handle == MPI_INFO_NULL) return bad(MPI_ERR_INFO, "info is MPI_INFO_NULL");
    return bad(MPI_ERR_INFO, "info is freed or was never an info object");
}

int Site::use(MPI_Errhandler handle, ErrorHandlerRef& handler) const {
    handler = is_always_there(handle)
                  ? predefined_handler(handle)
                  : surface_.error_handlers.pin(to_handle(handle)).value_or(nullptr);
    if (handler != nullptr) return MPI_SUCCESS;
    if (handle == MPI_ERRHANDLER_NULL) {
        return bad(MPI_ERR_ERRHANDLER, "errhandler is MPI_ERRHANDLER_NULL");
    }
    return bad(MPI_ERR_ERRHANDLER, "errhandler is freed or was never an error handler");
}

int Site::use(MPI_Op handle, OpRef& op) const {
    op = surface_.ops.pin(to_handle(handle)).value_or(nullptr);
    if (op != nullptr) return MPI_SUCCESS;
    if (handle == MPI_OP_NULL) return bad(MPI_ERR_OP, "op is MPI_OP_NULL");
    return bad(MPI_ERR_OP, "op is freed or was never an operation");
}

namespace {

template<typename T, typename MpiHandle>
int give_from(const Site& site, HandleTable<T>& table, T entry, MpiHandle* handle) {
    const std::optional<Handle> made = table.insert(std::move(entry));
    if (!made) return site.bad(MPI_ERR_INTERN, "there are no more handles of this kind");
    *handle = to_mpi<MpiHandle>(*made);
    return MPI_SUCCESS;
}

}  // namespace

int Site::give(CommRef comm, MPI_Comm* handle) const {
    Comm& object = *comm;
    const int wrong = give_from(*this, surface_.comms, std::move(comm), handle);
    if (wrong == MPI_SUCCESS) object.handle = *handle;
    return wrong;
}
int Site::give(TypeRef type, MPI_Datatype* handle) const {
    return give_from(*this, surface_.types, std::move(type), handle);
}
int Site::give(GroupRef group, MPI_Group* handle) const {
    return give_from(*this, surface_.groups, std::move(group), handle);
}
int Site::give(MessageEntry entry, MPI_Message* handle) const {
    return give_from(*this, surface_.messages, std::move(entry), handle);
}
int Site::give(OpRef op, MPI_Op* handle) const {
    return give_from(*this, surface_.ops, std::move(op), handle);
}
int Site::give(InfoRef info, MPI_Info* handle) const {
    return give_from(*this, surface_.infos, std::move(info), handle);
}
int Site::give(ErrorHandlerRef handler, MPI_Errhandler* handle) const {
    return give_from(*this, surface_.error_handlers, std::move(handler), handle);
}

CommRef wrap(CommunicatorRef core, const ErrorHandlerRef& handler) {
    auto comm = std::make_shared<Comm>();
    comm->core = std::move(core);
    comm->error_handler = handler;
    return comm;
}

int give_created(
    const Site& site, const Result<CommunicatorRef>& made, const Comm& parent, MPI_Comm* handle
) {
    if (!made) return class_of(made.error());
    if (*made == nullptr) {
        *handle = MPI_COMM_NULL;
        return MPI_SUCCESS;
    }
    return site.give(wrap(*made, parent.error_handler), handle);
}

namespace {

/// "in MPI_COMM_WORLD, rank 2 of 4"; the name where the caller has given one.
std::string place_of(const Comm& comm) {
    const std::string name = comm.name.empty() ? std::string("a communicator") : comm.name;
    if (comm.core == nullptr) return "in " + name;
    return fmt::format("in {}, rank {} of {}", name, comm.core->rank(), comm.core->size());
}

/// For calls about no communicator MPI_COMM_SELF's handler decides; MPI_COMM_WORLD's, as before
/// MPI 4, where the program has set only that.
Comm* general_decider(const Surface& surface) {
    const bool is_untouched = surface.self != nullptr &&
                              surface.self->error_handler ==
                                  predefined_handler(MPI_ERRORS_ARE_FATAL);
    return is_untouched ? surface.world.get() : surface.self.get();
}

std::string name_of_code(int code) {
    const std::string text = text_of_error(code);
    return text.substr(0, text.find(':'));
}

}  // namespace

int raise_on(Comm* comm, const char* function, int code) {
    Surface& surface = Surface::get();
    Comm* const decider = comm != nullptr ? comm : general_decider(surface);
    const std::string words = fmt::format(
        "{}: {} ({}{}{})", function, last_error_text(), name_of_code(code),
        comm != nullptr ? ", " : "", comm != nullptr ? place_of(*comm) : ""
    );
    const ErrorHandlerRef handler = decider != nullptr ? decider->error_handler
                                                       : predefined_handler(MPI_ERRORS_ARE_FATAL);
    switch (handler->kind) {
        case ErrorHandler::Kind::returns:
            return code;
        case ErrorHandler::Kind::comm: {
            MPI_Comm handle = decider->handle;
            int given = code;
            handler->function(&handle, &given, words.c_str());
            return code;
        }
        case ErrorHandler::Kind::fatal:
        case ErrorHandler::Kind::abort:
        case ErrorHandler::Kind::file:
        case ErrorHandler::Kind::session:
        case ErrorHandler::Kind::window:
            break;
    }
    Core::abort(ErrorCodes::get().class_of_code(code), words);
}

int refuse(const char* function, int error_class, Refusal refusal) {
    if (refusal == Refusal::by_return) return error_class;
    const Site site(function, Site::Time::any);
    return site.raise(error_class, "dlrt doesn't have this function");
}

}  // namespace dlrt::mpi
