// SPDX-License-Identifier: Apache-2.0
#include "runtime/torch/world.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>

namespace dlrt_torch {
namespace {

constexpr auto threads = static_cast<dlrt_thread_level>(
    static_cast<unsigned>(DLRT_THREAD_MULTIPLE) | static_cast<unsigned>(DLRT_THREAD_PROGRESS)
);
/// For messages that nobody has received yet when this process leaves.
constexpr std::int64_t farewell_ms = 5000;

/// Of the one world of the process. Never destroyed: what is left at the end is nobody's.
struct Present {
    std::mutex mutex;
    std::shared_ptr<World> of_job;
    std::weak_ptr<World> any;
};
Present& present() {
    static auto* const it = new Present;
    return *it;
}

int number_in(const char* variable, int otherwise) {
    const char* const text = std::getenv(variable);
    return text != nullptr && *text != '\0' ? std::atoi(text) : otherwise;
}

std::string id_of_job() {
    const char* const text = std::getenv("DLRT_JOBID");
    return text != nullptr && *text != '\0' ? std::string("job ") + text : "";
}

std::vector<std::int64_t> ranks_up_to(int size) {
    std::vector<std::int64_t> ranks(static_cast<std::size_t>(size));
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
}

void require_threads() {
    dlrt_thread_level level = DLRT_THREAD_SINGLE;
    require(dlrt_query_thread(&level), "the torch layer of dlrt");
    if (level == DLRT_THREAD_MULTIPLE) return;
    throw Failure(
        DLRT_ERR_THREAD,
        "dlrt was initialised before torch, and not with DLRT_THREAD_MULTIPLE, which torch needs; "
        "initialise it so, or let init_process_group do it"
    );
}

std::vector<std::int64_t> ranks_of_world() {
    std::int32_t size = 0;
    require(dlrt_comm_size(DLRT_COMM_WORLD, &size), "the torch layer of dlrt");
    return ranks_up_to(size);
}

std::string in_words(const std::vector<std::int64_t>& ranks) {
    std::string text;
    for (const std::int64_t rank : ranks) {
        text += (text.empty() ? "" : ", ") + std::to_string(rank);
    }
    return text;
}

}  // namespace

std::optional<JobPlace> place_in_job() {
    if (id_of_job().empty()) return std::nullopt;
    const int rank = number_in("DLRT_RANK", -1);
    const int size = number_in("DLRT_SIZE", -1);
    if (rank < 0 || size < 1) return std::nullopt;
    return JobPlace{rank, size};
}

World::World(Owner owner, std::string id, std::vector<std::int64_t> global_ranks)
    : owner_(owner),
      id_(std::move(id)),
      global_ranks_(std::move(global_ranks)),
      completer_(std::make_shared<Completer>()) {
}

World::~World() {
    leave();
}

bool World::is_open() const {
    return is_open_ && dlrt_initialized() != 0;
}

void World::leave() {
    if (!is_open_) return;
    is_open_ = false;
    // A forked child has neither the thread nor the right to touch what it would wait for.
    if (dlrt_initialized() == 0) {
        static auto* const left_to_parent = new std::vector<std::shared_ptr<Completer>>;
        left_to_parent->push_back(completer_);
        return;
    }
    completer_->stop();
    if (owner_ == Owner::somebody_else) return;
    // Where others are inside calls, what they use must stay; the process is ending then.
    if (dlrt_leave(farewell_ms) != DLRT_ERR_THREAD) completer_->forget();
}

std::shared_ptr<World> World::join_job() {
    const bool is_ours = dlrt_initialized() == 0;
    if (is_ours) {
        require(dlrt_init_thread(threads, nullptr), "join the job of dlrun");
    } else {
        require_threads();
    }
    const Owner owner = is_ours ? Owner::us : Owner::somebody_else;
    return std::shared_ptr<World>(new World(owner, id_of_job(), ranks_of_world()));
}

std::shared_ptr<World> World::of_job() {
    Present& now = present();
    const std::lock_guard lock(now.mutex);
    if (!now.of_job) {
        now.of_job = join_job();
        now.any = now.of_job;
    }
    return now.of_job;
}

std::shared_ptr<World> World::join_by(
    Meeting& meeting, const std::vector<std::int64_t>& global_ranks
) {
    dlrt_store store{};
    store.size = sizeof store;
    store.user = &meeting;
    store.put = [](void* user, const char* key, const void* value, std::size_t length) {
        return static_cast<Meeting*>(user)->put(key, value, length);
    };
    store.get = [](void* user, const char* key, void* value, std::size_t capacity,
                   std::size_t* length) {
        return static_cast<Meeting*>(user)->get(key, value, capacity, length);
    };
    store.rank = static_cast<std::uint32_t>(meeting.rank());
    store.world_size = static_cast<std::uint32_t>(meeting.size());
    const dlrt_err outcome = dlrt_init_store(&store, threads, nullptr);
    if (outcome != DLRT_OK) {
        std::string text = std::string("join through torch's store: ") + dlrt_last_error();
        if (!meeting.trouble().empty()) text += ": " + meeting.trouble();
        throw Failure(outcome, text);
    }
    const std::string id = "world " + meeting.agree_on_id();
    return std::shared_ptr<World>(new World(Owner::us, id, global_ranks));
}

std::shared_ptr<World> World::of_group(
    Meeting& meeting, const std::vector<std::int64_t>& global_ranks
) {
    Present& now = present();
    const std::lock_guard lock(now.mutex);
    std::shared_ptr<World> found = now.any.lock();
    if (found && !found->is_open()) found.reset();
    const std::optional<JobPlace> place = place_in_job();
    const bool is_whole_job = place && place->size == meeting.size() &&
                              place->rank == meeting.rank();
    const std::string word = found ? found->id_ : is_whole_job ? id_of_job() : std::string("none");
    if (meeting.do_all_say(word)) {
        if (found) return found;
        if (is_whole_job) {
            now.of_job = join_job();
            now.any = now.of_job;
            return now.of_job;
        }
    }
    // Some of the members have another one, or none any more: what is left of it here is over.
    if (found) found->leave();
    now.of_job.reset();
    std::shared_ptr<World> joined = join_by(meeting, global_ranks);
    now.any = joined;
    return joined;
}

void World::leave_all() {
    Present& now = present();
    const std::lock_guard lock(now.mutex);
    if (const auto found = now.any.lock()) found->leave();
    now.of_job.reset();
}

dlrt_comm World::make_communicator(
    const std::vector<std::int64_t>& global_ranks, const std::string& name
) const {
    const std::string doing = "make group '" + name + "'";
    std::vector<std::int32_t> members;
    for (const std::int64_t rank : global_ranks) {
        const auto found = std::ranges::find(global_ranks_, rank);
        if (found == global_ranks_.end()) {
            throw Failure(
                DLRT_ERR_GROUP,
                doing + ": rank " + std::to_string(rank) +
                    " is not in the dlrt world of this process, which is of ranks " +
                    in_words(global_ranks_) + "; let the default group be of backend dlrt"
            );
        }
        members.push_back(static_cast<std::int32_t>(found - global_ranks_.begin()));
    }
    dlrt_group world = DLRT_GROUP_NULL;
    dlrt_group group = DLRT_GROUP_NULL;
    dlrt_comm comm = DLRT_COMM_NULL;
    require(dlrt_comm_group(DLRT_COMM_WORLD, &world), doing);
    const auto count = static_cast<std::int32_t>(members.size());
    const dlrt_err chosen = dlrt_group_incl(world, count, members.data(), &group);
    const dlrt_err made = chosen == DLRT_OK
                              ? dlrt_comm_create_from_group(group, name.c_str(), &comm)
                              : chosen;
    const std::string reason = dlrt_last_error();
    static_cast<void>(dlrt_group_free(&world));
    if (chosen == DLRT_OK) static_cast<void>(dlrt_group_free(&group));
    if (made != DLRT_OK) throw Failure(made, doing + ": " + reason);
    return comm;
}

std::int64_t World::tell_all(std::int64_t value, Milliseconds timeout) {
    dlrt_request request = DLRT_REQUEST_NULL;
    const std::string doing = "meet all ranks of the job";
    auto told = std::make_unique<std::int64_t>(value);
    require(dlrt_ibcast(told.get(), 1, DLRT_INT64, 0, DLRT_COMM_WORLD, &request), doing);
    std::int32_t index = 0;
    const dlrt_err outcome = dlrt_waitany_for(1, &request, timeout.count(), &index, nullptr);
    if (outcome == DLRT_OK) return *told;
    // It may still come.
    static_cast<void>(told.release());
    require(outcome, doing);
    return value;
}

}  // namespace dlrt_torch
