// SPDX-License-Identifier: Apache-2.0
/// From the environment to a running engine, and back.
#include "runtime/core_state.hpp"

#include "runtime/base/clock.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/collective.hpp"
#include "runtime/connect/interfaces.hpp"
#include "runtime/connect/sodium.hpp"
#include "runtime/host_cells.hpp"
#include "runtime/host_collective.hpp"
#include "runtime/request_state.hpp"
#include "runtime/tenancy.hpp"
#include "runtime/timed_wait.hpp"
#include "runtime/wireup/message.hpp"
#include "runtime/wireup/usable_cpus.hpp"
#include "transports/loopback/loopback.hpp"
#include "transports/shm/copy_table_places.hpp"
#include "transports/shm/shm.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

namespace dlrt {
namespace {

constexpr std::uint32_t loopback_endpoint = 0;
constexpr std::uint32_t shm_endpoint = 1;
/// Request handles of an earlier round of init and finalize stay stale. Held by the lock of those.
constinit std::uint32_t next_request_generation = 0;
/// For what was sent to reach hosts that are slow, or have gone without a word.
constexpr std::uint32_t parting_timeout_ms = 10'000;
/// A rank that dies takes its connections along before its daemon can say how it ended.
constexpr std::uint32_t loss_delay_ms = 3000;
/// About what one round of polling takes where spinning makes sense at all.
constexpr std::uint32_t spin_round_ns = 27;

Status limit_eager(const Settings& settings, const Endpoint& endpoint) {
    const std::uint32_t possible = endpoint.capabilities().eager_bytes_max;
    if (!settings.eager_bytes || *settings.eager_bytes <= possible) return {};
    return fail(
        Errc::argument, "DLRT_EAGER_BYTES={}: {} sends at most {} bytes that way",
        *settings.eager_bytes, endpoint.name(), possible
    );
}

/// Warns of damaged ones in one rank of the host: they all find the same.
Result<shm::CopyTable> find_copy_table(const Settings& settings, std::uint32_t local_rank) {
    shm::CopyTableChoice choice = shm::choose_copy_table(
        table_places(settings.copy_table_path, shm::copy_table_file_name), find_measured_host
    );
    if (!choice.table) {
        const PlaceReport& named = choice.places.front();
        return fail(
            Errc::argument, "DLRT_COPY_TABLE={}: {}; run dltune again on this host or unset it",
            named.path, named.reason
        );
    }
    for (const PlaceReport& place : choice.places) {
        if (place.state != PlaceState::damaged || local_rank != 0) continue;
        log(LogLevel::warning, "shm",
            "copy table '{}' is passed over: {}; run dltune again or remove it", place.path,
            place.reason);
    }
    return std::move(*choice.table);
}

}  // namespace

Result<std::unique_ptr<Core::State>> Core::State::open(
    ThreadLevel required, ProgressBy progress, std::optional<KeyValueStore> store
) {
    std::vector<std::string_view> other_names(environment::all.begin(), environment::all.end());
    // A setting of dlrun that the user may have set for all programs.
    other_names.emplace_back("DLRT_HOSTFILE");
    Result<Settings> settings = read_settings(environ, other_names);
    if (!settings) return settings.error();
    Result<CollectiveSettings> collective_settings = dlrt::collective_settings(*settings);
    if (!collective_settings) return collective_settings.error();
    set_log_level(settings->log_level);
    if (settings->has_progress_thread) progress = ProgressBy::thread;
    if (progress == ProgressBy::thread) required = ThreadLevel::multiple;
    std::unique_ptr<State> state(
        new State(std::move(*settings), std::move(*collective_settings), required)
    );
    state->progress_by_ = progress;
    if (Status status = state->join(std::move(store)); !status.ok()) return status;
    for (const std::string& warning : state->collective_settings_.warnings) {
        if (state->place().local_rank == 0) log(LogLevel::warning, "collectives", "{}", warning);
    }
    Status status;
    if (auto groups = groups_of_job(state->settings_, state->job_map()); groups) {
        state->collective_settings_.world_groups = std::move(*groups);
        status = state->open_engine();
    } else {
        status = groups.error();
    }
    if (!status.ok()) return state->fail_others(status);
    return state;
}

Status Core::State::fail_others(Status status) {
    const std::string reason = last_error_text();
    const bool is_on_several_hosts = membership_->segment.header().local_size < job_map().size();
    if (is_on_several_hosts && !has_put_address_) source_->put_no_address(tcp_name(), reason);
    source_->abort(1, reason);
    return store_failure(status.code, 0, reason);
}

Status Core::State::join(std::optional<KeyValueStore> store) {
    constexpr int ms_per_s = 1000;
    const int timeout_ms = static_cast<int>(settings_.join_timeout_s) * ms_per_s;
    if (store) {
        source_ = make_store_source(std::move(*store), timeout_ms);
    } else {
        Result<std::unique_ptr<WireupSource>> source = choose_source(timeout_ms);
        if (!source) return source.error();
        source_ = std::move(*source);
    }
    Result<Membership> membership = source_->join();
    if (!membership) return membership.error();
    membership_.emplace(std::move(*membership));
    const std::string& host = job_map().hosts[place().host_index].name;
    set_log_identity(membership_->rank, host);
    log(LogLevel::info, "core", "rank {} of {} joined through {}", membership_->rank,
        job_map().size(), source_->name());
    return {};
}

void Core::State::claim_rank() {
    LifeCell& cell = life();
    generation_ = cell.generation.fetch_add(1, std::memory_order_relaxed);
    cell.pid.store(::getpid(), std::memory_order_relaxed);
    // Pairs with whoever asks whether the rank is there.
    cell.life.store(static_cast<std::uint32_t>(RankLife::initialized), std::memory_order_release);
}

Status Core::State::open_engine() {
    ring_fence_ = register_ring_fence();
    flight_.emplace(membership_->segment.flight_ring(place().local_rank));
    claim_rank();
    const std::uint64_t record = flight_->enter({.call = Call::init});
    Engine::Options options;
    options.rank = static_cast<WorldRank>(membership_->rank);
    options.local_rank = place().local_rank;
    options.segment = &membership_->segment;
    options.doorbell_descriptor = membership_->doorbell.get();
    options.ring_fence = ring_fence_;
    options.wait_budget = choose_budget();
    options.flight_recorder = &*flight_;
    options.eager_bytes_max = settings_.eager_bytes;
    options.protocol_rules = settings_.protocol_rules;
    options.first_request_generation = next_request_generation;
    if (Status status = open_endpoints(options); !status.ok()) return status;
    engine_ = std::make_unique<Engine>(std::move(options));
    if (thread_level_ == ThreadLevel::multiple) engine_->set_thread_mode(ThreadMode::multiple);
    make_communicators();
    flight_->finish(record);
    if (thread_level_ == ThreadLevel::multiple) flight_->allow_threads();
    if (progress_by_ == ProgressBy::callers) return {};
    Result<std::unique_ptr<ProgressThread>> thread = ProgressThread::start(*engine_);
    if (!thread) return thread.error();
    progress_thread_ = std::move(*thread);
    return {};
}

Status Core::State::open_endpoints(Engine::Options& options) {
    HostSegment& segment = membership_->segment;
    const std::uint32_t local_size = segment.header().local_size;
    Result<shm::CopyTable> table = find_copy_table(settings_, place().local_rank);
    if (!table) return table.error();
    options.write_doorbell_descriptor = [source = source_.get()](std::uint32_t other) {
        const std::uint64_t one = 1;
        const int descriptor = source->doorbell_of(other);
        [[maybe_unused]] const ssize_t written = ::write(descriptor, &one, sizeof one);
    };
    segment.set_wake_descriptor(options.write_doorbell_descriptor);
    heap_ = std::make_unique<Heap>(
        heap_regions(segment), place().local_rank,
        settings_.heap_bytes.value_or(standard_heap_limit_bytes())
    );
    options.endpoints.push_back(loopback::open_endpoint());
    if (local_size > 1) {
        shm::Options shm_options;
        shm_options.area = segment.transport_area();
        shm_options.local_rank = place().local_rank;
        shm_options.local_size = local_size;
        shm_options.doorbells = &segment.doorbell(0);
        shm_options.ring_fence = ring_fence_;
        shm_options.write_doorbell_descriptor = options.write_doorbell_descriptor;
        shm_options.copy_table = std::move(*table);
        shm_options.allow_cross_memory = settings_.allow_cross_memory;
        shm_options.own_heap = &heap_->own();
        shm_options.map_peer_heap = [heap = heap_.get()](std::uint32_t peer, std::uint64_t bytes) {
            return heap->map_peer(peer, bytes);
        };
        auto endpoint = shm::open_endpoint(std::move(shm_options));
        if (!endpoint) return endpoint.error();
        options.endpoints.push_back(std::move(*endpoint));
    }
    const auto tcp_endpoint = static_cast<std::uint32_t>(options.endpoints.size());
    if (local_size < job_map().size()) {
        auto endpoint = open_tcp();
        if (!endpoint) return endpoint.error();
        tcp_ = endpoint->get();
        options.endpoints.push_back(std::move(*endpoint));
        options.endpoints_elsewhere.push_back(tcp_endpoint);
    }
    for (const auto& endpoint : options.endpoints) {
        if (Status status = limit_eager(settings_, *endpoint); !status.ok()) return status;
    }
    for (std::uint32_t rank = 0; rank < job_map().size(); ++rank) {
        const RankEntry& entry = job_map().ranks[rank];
        if (rank == membership_->rank) {
            options.routes.push_back({loopback_endpoint, PeerIndex{0}});
        } else if (entry.host_index == place().host_index) {
            options.routes.push_back({shm_endpoint, PeerIndex{entry.local_rank}});
        } else {
            options.routes.push_back({tcp_endpoint, PeerIndex{rank}});
        }
    }
    for (const std::uint32_t rank : job_map().ranks_on_host(place().host_index)) {
        options.world_rank_of_local.push_back(static_cast<WorldRank>(rank));
    }
    return {};
}

std::string Core::State::tcp_name() const {
    // Another one in each round of init and finalize, in which ranks listen elsewhere.
    return generation_ == 0 ? "tcp" : fmt::format("tcp/{}", generation_);
}

Result<std::unique_ptr<tcp::TcpEndpoint>> Core::State::open_tcp() {
    if (Status status = tcp::load_sodium(); !status.ok()) return status;
    tcp::Options options;
    options.identity.own = membership_->rank;
    options.identity.count = job_map().size();
    const std::string transport = tcp_name();
    options.identity.secret = tcp::derive_secret(
        source_->shared_secret(), "connections of " + transport
    );
    const auto family = static_cast<tcp::Family>(settings_.tcp_family);
    auto listener = tcp::listen_anywhere(
        family, {settings_.tcp_port_first, settings_.tcp_port_last}
    );
    if (!listener) return listener.error();
    const auto addresses = tcp::choose_addresses(
        tcp::find_interface_addresses(), settings_.tcp_interfaces, family, listener->port
    );
    if (!addresses) return addresses.error();
    const std::vector<std::byte> told = tcp::encode_addresses(*addresses);
    has_put_address_ = true;
    if (Status status = source_->put_address(transport, told); !status.ok()) return status;
    options.listener = std::move(*listener);
    options.sockets = settings_.tcp_sockets;
    options.own_addresses = *addresses;
    options.addresses_of = [source = source_.get(), transport](std::uint32_t rank
                           ) -> std::optional<std::vector<tcp::SocketAddress>> {
        const auto bytes = source->address_of(rank, transport);
        if (!bytes) return std::nullopt;
        auto decoded = tcp::decode_addresses(*bytes);
        return decoded ? std::move(*decoded) : std::vector<tcp::SocketAddress>{};
    };
    options.watches_awaited = !source_->tells_of_departures();
    if (source_->tells_of_departures()) {
        options.loss_delay_ms = loss_delay_ms;
        options.connect_back = [source = source_.get(), transport](
                                   std::uint32_t rank, const std::string& failure
                               ) { return source->connect_back(rank, transport, failure); };
        options.take_connect_back = [source = source_.get(),
                                     transport]() -> std::optional<tcp::Options::ConnectBack> {
            auto request = source->take_connect_back(transport);
            if (!request) return std::nullopt;
            return tcp::Options::ConnectBack{request->rank, std::move(request->failure)};
        };
    }
    options.news_descriptor = source_->news_descriptor();
    options.take_news = [source = source_.get()] { source->take_news(); };
    return tcp::open_endpoint(std::move(options));
}

WaitBudget Core::State::choose_budget() const {
    const HostSegment& segment = membership_->segment;
    const bool is_bound = !place().cpus.empty();
    Tenancy tenancy = find_tenancy(
        segment.tenancy(), segment.header().usable_cpu_count, find_usable_cpus().cpus, is_bound
    );
    tenancy.has_threads = thread_level_ == ThreadLevel::multiple;
    WaitBudget budget = wait_budget(tenancy);
    if (settings_.spin_us) budget.spin_rounds = *settings_.spin_us * 1000 / spin_round_ns;
    return budget;
}

void Core::State::make_communicators() {
    std::vector<WorldRank> members(job_map().size());
    std::iota(members.begin(), members.end(), 0);
    const auto rank = static_cast<WorldRank>(membership_->rank);
    world_ = std::make_shared<Communicator>(
        *engine_, context(world_number, 0), std::make_shared<Group>(std::move(members)), rank
    );
    const bool is_one_host = membership_->segment.header().local_size == job_map().size();
    if (is_one_host && job_map().size() > 1) {
        world_->open_host_collective(generation_ % CellAreas::world_count);
    }
    self_ = std::make_shared<Communicator>(
        *engine_, context(self_number, membership_->rank),
        std::make_shared<Group>(std::vector<WorldRank>{rank}), 0
    );
}

ContextId Core::State::context(std::uint32_t number, std::uint32_t leader) const {
    constexpr std::uint64_t generation_mask = 0xfff;
    return ContextId{
        (generation_ & generation_mask) << 52 | std::uint64_t{leader} << 32 |
        std::uint64_t{number}};
}

Status Core::State::meet_all() {
    const std::uint64_t record = flight_->enter({.call = Call::finalize});
    // While one rank waits here it serves those who still receive from it. Once all have come,
    // nobody will receive any more, so that a message without a receive holds nobody up.
    const Status met = barrier(*world_);
    if (settings_.is_checking) report_unreceived();
    flight_->finish(record);
    return met;
}

void Core::State::report_unreceived() {
    // What was sent before the barrier is there, but not necessarily looked at.
    for (int round = 0; round < 1000 && engine_->progress();) ++round;
    const std::uint64_t count = engine_->drop_context(world_->user_context()) +
                                engine_->drop_context(self_->user_context());
    if (count == 0) return;
    write_log_line(
        "check",
        fmt::format("{} message{} arrived that nobody received", count, count == 1 ? "" : "s")
    );
}

bool Core::State::hand_over(std::int64_t timeout_ms) {
    constexpr std::int64_t longest_ms = std::int64_t{1} << 42;
    const auto limited_ms = static_cast<std::uint64_t>(std::min(timeout_ms, longest_ms));
    return hand_over_until(*engine_, monotonic_ns() + limited_ms * 1'000'000);
}

void Core::State::leave(Farewell farewell) {
    progress_thread_.reset();
    if (world_->host_collective() != nullptr) world_->host_collective()->leave();
    self_.reset();
    world_.reset();
    next_request_generation = engine_->requests().next_generation();
    if (tcp_ != nullptr) {
        const bool has_met_all = farewell == Farewell::met_all;
        tcp_->part(has_met_all ? tcp::Parting::finished : tcp::Parting::early, parting_timeout_ms);
        tcp_ = nullptr;
    }
    engine_.reset();
    heap_.reset();
    life().pid.store(0, std::memory_order_relaxed);
    // Before the source closes what others watch: pairs with their look at this cell.
    if (farewell == Farewell::met_all) {
        life().life.store(
            static_cast<std::uint32_t>(RankLife::finalized), std::memory_order_release
        );
    } else {
        membership_->segment.mark_departed(place().local_rank);
    }
    if (const Status left = source_->leave(); !left.ok()) {
        log(LogLevel::warning, "finalize", "{}", last_error_text());
    }
}

void Core::State::abort(int status, std::string_view text) {
    // A daemon prints the cause once for the whole job.
    if (source_->name() != "daemon") {
        write_log_line("abort", fmt::format("status {}: {}", status, text));
    }
    // Told before the others are woken: their aborts are consequences, and must not come first.
    source_->abort(status, text);
    membership_->segment.raise_abort(status, membership_->rank, text);
}

}  // namespace dlrt
