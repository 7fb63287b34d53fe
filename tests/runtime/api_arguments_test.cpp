// SPDX-License-Identifier: Apache-2.0
/// Every function of dlrt.h with every argument that can be seen to be bad; no crash. A job of one
/// rank.
#include "tests/runtime/bad_arguments.hpp"

using namespace dlrt::testing;

TEST_CASE("api: point to point refuses what is bad", "[api]") {
    const Joined joined;
    const Memory memory{data.data()}, target{more_data.data()};
    const Count one{1};
    dlrt_status status{};
    dlrt_request request = DLRT_REQUEST_NULL;
    const Free any_status{&status};
    const Needed made{&request};

    DLRT_REFUSE(dlrt_send, memory, one, real, Target{0}, SendTag{0}, world);
    DLRT_REFUSE(dlrt_ssend, memory, one, real, Target{0}, SendTag{0}, world);
    DLRT_REFUSE(dlrt_recv, memory, one, real, Source{0}, RecvTag{0}, world, any_status);
    DLRT_REFUSE(
        dlrt_sendrecv, memory, one, real, Target{0}, SendTag{0}, target, one, real, Source{0},
        RecvTag{0}, world, any_status
    );
    DLRT_REFUSE(
        dlrt_sendrecv_replace, memory, one, real, Target{0}, SendTag{0}, Source{0}, RecvTag{0},
        world, any_status
    );
    for (auto* const send : {dlrt_isend, dlrt_issend, dlrt_send_init, dlrt_ssend_init}) {
        const std::string name = send == dlrt_isend       ? "dlrt_isend"
                                 : send == dlrt_issend    ? "dlrt_issend"
                                 : send == dlrt_send_init ? "dlrt_send_init"
                                                          : "dlrt_ssend_init";
        refuse(name.c_str(), send, memory, one, real, Target{0}, SendTag{0}, world, made);
    }
    DLRT_REFUSE(dlrt_irecv, memory, one, real, Source{0}, RecvTag{0}, world, made);
    DLRT_REFUSE(dlrt_recv_init, memory, one, real, Source{0}, RecvTag{0}, world, made);
    CHECK((request.index == 0 && request.generation == 0));
}

TEST_CASE("api: probes and matched messages refuse what is bad", "[api]") {
    const Joined joined;
    dlrt_status status{};
    dlrt_request request{};
    dlrt_message message{};
    int flag = 0;
    const Free any_status{&status};
    const Used<dlrt_message, DLRT_ERR_MESSAGE> used{&message};
    const Memory memory{data.data()};

    DLRT_REFUSE(dlrt_probe, Source{0}, RecvTag{0}, world, any_status);
    DLRT_REFUSE(dlrt_iprobe, Source{0}, RecvTag{0}, world, Needed{&flag}, any_status);
    DLRT_REFUSE(dlrt_mprobe, Source{0}, RecvTag{0}, world, Needed{&message}, any_status);
    DLRT_REFUSE(
        dlrt_improbe, Source{0}, RecvTag{0}, world, Needed{&flag}, Needed{&message}, any_status
    );
    CHECK(dlrt_mrecv(data.data(), 1, DLRT_DOUBLE, &message, nullptr) == DLRT_ERR_MESSAGE);
    message = DLRT_MESSAGE_NO_PROC;
    DLRT_REFUSE(dlrt_mrecv, memory, Count{1}, real, used, any_status);
    DLRT_REFUSE(dlrt_imrecv, memory, Count{1}, real, used, Needed{&request});
    CHECK(message.index == DLRT_MESSAGE_NO_PROC.index);
}

TEST_CASE("api: completion refuses what is bad", "[api]") {
    const Joined joined;
    dlrt_status status{};
    dlrt_request request{};
    std::int32_t number = 0;
    int flag = 0;
    const Free any_status{&status};
    const Used<dlrt_request, DLRT_ERR_REQUEST> one{&request}, list{&request};

    DLRT_REFUSE(dlrt_wait, one, any_status);
    DLRT_REFUSE(dlrt_test, one, Needed{&flag}, any_status);
    DLRT_REFUSE(dlrt_waitany, Length{1}, list, Needed{&number}, any_status);
    DLRT_REFUSE(dlrt_testany, Length{1}, list, Needed{&number}, Needed{&flag}, any_status);
    DLRT_REFUSE(dlrt_waitsome, Length{1}, list, Needed{&number}, Needed{&number}, any_status);
    DLRT_REFUSE(dlrt_testsome, Length{1}, list, Needed{&number}, Needed{&number}, any_status);
    DLRT_REFUSE(dlrt_waitall, Length{1}, list, any_status);
    DLRT_REFUSE(dlrt_testall, Length{1}, list, Needed{&flag}, any_status);
    DLRT_REFUSE(dlrt_request_free, one);
    DLRT_REFUSE(dlrt_start, RequestHandle{request});
    DLRT_REFUSE(dlrt_cancel, RequestHandle{request});
    const dlrt_request nothing = DLRT_REQUEST_NULL;
    CHECK(dlrt_startall(1, &nothing) == DLRT_ERR_REQUEST);
    CHECK(dlrt_startall(-1, &nothing) == DLRT_ERR_COUNT);
    CHECK(dlrt_startall(1, nullptr) == DLRT_ERR_ARG);
    CHECK(dlrt_request_status(nothing, nullptr, nullptr) == DLRT_ERR_ARG);
    CHECK(dlrt_request_status({5, 7}, &flag, nullptr) == DLRT_ERR_REQUEST);
    CHECK(dlrt_request_free(&request) == DLRT_ERR_REQUEST);
}

TEST_CASE("api: groups refuse what is bad", "[api]") {
    const Joined joined;
    dlrt_group group{}, result{};
    REQUIRE(dlrt_comm_group(DLRT_COMM_WORLD, &group) == DLRT_OK);
    std::int32_t number = 0;
    dlrt_comparison comparison{};
    std::array<std::int32_t, 2> ranks{0, 0};
    const Group good{group};
    const Needed made{&result};

    DLRT_REFUSE(dlrt_comm_group, world, made);
    DLRT_REFUSE(dlrt_group_size, good, Needed{&number});
    DLRT_REFUSE(dlrt_group_rank, good, Needed{&number});
    DLRT_REFUSE(dlrt_group_translate, good, Length{1}, Needed{ranks.data()}, good, Needed{&number});
    DLRT_REFUSE(dlrt_group_compare, good, good, Needed{&comparison});
    DLRT_REFUSE(dlrt_group_union, good, good, made);
    DLRT_REFUSE(dlrt_group_intersection, good, good, made);
    DLRT_REFUSE(dlrt_group_difference, good, good, made);
    DLRT_REFUSE(dlrt_group_incl, good, Length{1}, Needed{ranks.data()}, made);
    DLRT_REFUSE(dlrt_group_excl, good, Length{1}, Needed{ranks.data()}, made);
    const std::int32_t ranges[1][3] = {{0, 0, 1}};
    DLRT_REFUSE(dlrt_group_range_incl, good, Length{1}, Needed{&ranges[0]}, made);
    DLRT_REFUSE(dlrt_group_range_excl, good, Length{1}, Needed{&ranges[0]}, made);
    DLRT_REFUSE(dlrt_group_free, Used<dlrt_group, DLRT_ERR_GROUP>{&group});

    CHECK(dlrt_group_incl(group, 2, ranks.data(), &result) == DLRT_ERR_COUNT);
    ranks[0] = 1;
    CHECK(dlrt_group_incl(group, 1, ranks.data(), &result) == DLRT_ERR_RANK);
    CHECK(std::string(dlrt_last_error()) == "dlrt_group_incl: rank 1 is not in a group of 1 ranks");
    CHECK(dlrt_group_translate(group, 1, ranks.data(), group, &number) == DLRT_ERR_RANK);
    const std::int32_t still[1][3] = {{0, 0, 0}};
    CHECK(dlrt_group_range_incl(group, 1, still, &result) == DLRT_ERR_ARG);
    CHECK((result.index == 0 && result.generation == 0));
    dlrt_group stale = group;
    CHECK(dlrt_group_free(&group) == DLRT_OK);
    CHECK(dlrt_group_free(&stale) == DLRT_ERR_GROUP);
    CHECK(dlrt_group_free(&group) == DLRT_ERR_GROUP);
}

TEST_CASE("api: communicators refuse what is bad", "[api]") {
    const Joined joined;
    dlrt_group group{};
    REQUIRE(dlrt_comm_group(DLRT_COMM_WORLD, &group) == DLRT_OK);
    dlrt_comm result{}, used = DLRT_COMM_SELF;
    dlrt_comparison comparison{};
    std::int32_t number = 0;
    const Needed made{&result};

    DLRT_REFUSE(dlrt_comm_size, world, Needed{&number});
    DLRT_REFUSE(dlrt_comm_rank, world, Needed{&number});
    DLRT_REFUSE(dlrt_comm_compare, world, world, Needed{&comparison});
    DLRT_REFUSE(dlrt_comm_dup, world, made);
    DLRT_REFUSE(dlrt_comm_split, world, Free{0}, Free{0}, made);
    DLRT_REFUSE(dlrt_comm_split_host, world, Free{1}, Free{0}, made);
    DLRT_REFUSE(dlrt_comm_create, world, Group{group}, made);
    DLRT_REFUSE(dlrt_comm_create_from_group, Group{group}, Needed{"text"}, made);
    DLRT_REFUSE(dlrt_comm_free, Used<dlrt_comm, DLRT_ERR_COMM>{&used});

    CHECK(dlrt_comm_split(DLRT_COMM_WORLD, -1, 0, &result) == DLRT_ERR_ARG);
    CHECK((result.index == 0 && result.generation == 0));
    used = DLRT_COMM_WORLD;
    CHECK(dlrt_comm_free(&used) == DLRT_ERR_COMM);
    CHECK(used.index == DLRT_COMM_WORLD.index);
    used = DLRT_COMM_SELF;
    CHECK(dlrt_comm_free(&used) == DLRT_ERR_COMM);
    REQUIRE(dlrt_comm_dup(DLRT_COMM_WORLD, &result) == DLRT_OK);
    dlrt_comm stale = result;
    CHECK(dlrt_comm_free(&result) == DLRT_OK);
    CHECK(dlrt_comm_free(&stale) == DLRT_ERR_COMM);
    CHECK(dlrt_comm_size(stale, &number) == DLRT_ERR_COMM);
    CHECK(dlrt_comm_free(&result) == DLRT_ERR_COMM);
    CHECK(dlrt_group_free(&group) == DLRT_OK);
}

TEST_CASE("api: types refuse what is bad", "[api]") {
    const Joined joined;
    dlrt_type result{};
    std::array<std::int64_t, 2> numbers{1, 1};
    std::array<std::int64_t, 2> starts{0, 0};
    std::array<dlrt_type, 2> olds{DLRT_INT, DLRT_DOUBLE};
    const Needed made{&result};
    const Needed lengths{numbers.data()}, places{starts.data()};
    const Free anything{std::int64_t{4}};

    DLRT_REFUSE(dlrt_type_contiguous, Natural{1}, real, made);
    DLRT_REFUSE(dlrt_type_vector, Natural{2}, Natural{1}, anything, real, made);
    DLRT_REFUSE(dlrt_type_vector_bytes, Natural{2}, Natural{1}, anything, real, made);
    DLRT_REFUSE(dlrt_type_indexed, Natural{2}, lengths, places, real, made);
    DLRT_REFUSE(dlrt_type_indexed_bytes, Natural{2}, lengths, places, real, made);
    DLRT_REFUSE(dlrt_type_struct, Natural{2}, lengths, places, Needed{olds.data()}, made);
    DLRT_REFUSE(dlrt_type_resized, real, anything, anything, made);
    DLRT_REFUSE(
        dlrt_type_subarray, Free{2}, lengths, lengths, places, Free{DLRT_ROW_MAJOR}, real, made
    );
    dlrt_type used = DLRT_TYPE_NULL;
    DLRT_REFUSE(dlrt_type_free, Used<dlrt_type, DLRT_ERR_TYPE>{&used});

    CHECK(dlrt_type_contiguous(INT64_MAX, DLRT_DOUBLE, &result) == DLRT_ERR_TYPE);
    CHECK(dlrt_type_vector(2, 1, INT64_MAX, DLRT_DOUBLE, &result) == DLRT_ERR_TYPE);
    numbers[1] = -1;
    CHECK(dlrt_type_indexed(2, numbers.data(), starts.data(), DLRT_INT, &result) == DLRT_ERR_COUNT);
    olds[1] = DLRT_TYPE_NULL;
    numbers[1] = 1;
    CHECK(
        dlrt_type_struct(2, numbers.data(), starts.data(), olds.data(), &result) == DLRT_ERR_TYPE
    );
    const std::array<std::int64_t, 2> beyond{1, 0};
    const auto subarray = [&](std::int32_t dimensions, dlrt_order order) {
        return dlrt_type_subarray(
            dimensions, numbers.data(), numbers.data(), beyond.data(), order, DLRT_INT, &result
        );
    };
    CHECK(subarray(2, DLRT_ROW_MAJOR) == DLRT_ERR_ARG);
    CHECK(subarray(0, DLRT_ROW_MAJOR) == DLRT_ERR_ARG);
    CHECK(subarray(-1, DLRT_ROW_MAJOR) == DLRT_ERR_ARG);
    CHECK(subarray(2, static_cast<dlrt_order>(2)) == DLRT_ERR_ARG);
    used = DLRT_INT;
    CHECK(dlrt_type_free(&used) == DLRT_ERR_TYPE);
    CHECK(dlrt_type_free(&result) == DLRT_ERR_TYPE);
    CHECK((result.index == 0 && result.generation == 0));
}

TEST_CASE("api: questions about types and packing refuse what is bad", "[api]") {
    const Joined joined;
    std::int64_t low = 0, high = 0;
    std::uint64_t size = 0;
    dlrt_status status{};
    DLRT_REFUSE(dlrt_type_size, real, Needed{&size});
    DLRT_REFUSE(dlrt_type_extent, real, Needed{&low}, Needed{&high});
    DLRT_REFUSE(dlrt_type_true_extent, real, Needed{&low}, Needed{&high});
    DLRT_REFUSE(dlrt_status_count, Needed<const dlrt_status>{&status}, real, Needed{&low});
    DLRT_REFUSE(dlrt_pack_size, Natural{1}, real, Needed{&size});

    std::array<char, 20> packed{};
    std::uint64_t position = 8;
    const Input memory{data.data()}, place{packed.data()};
    const Free whole{std::uint64_t{20}};
    DLRT_REFUSE(dlrt_pack, memory, Natural{1}, real, place, whole, Needed{&position});
    DLRT_REFUSE(dlrt_unpack, place, whole, Needed{&position}, memory, Natural{1}, real);
    CHECK(dlrt_pack(data.data(), 2, DLRT_DOUBLE, packed.data(), 20, &position) == DLRT_ERR_BUFFER);
    CHECK(
        dlrt_pack(data.data(), INT64_MAX, DLRT_DOUBLE, packed.data(), 20, &position) ==
        DLRT_ERR_BUFFER
    );
    CHECK(position == 8);
    position = UINT64_MAX;
    CHECK(
        dlrt_unpack(packed.data(), 20, &position, data.data(), 1, DLRT_DOUBLE) == DLRT_ERR_BUFFER
    );
    CHECK(dlrt_pack(data.data(), 0, DLRT_DOUBLE, packed.data(), 20, &position) == DLRT_ERR_BUFFER);
}

TEST_CASE("api: collectives refuse what is bad", "[api]") {
    const Joined joined;
    const Memory memory{data.data()};
    const Input input{data.data()};
    const Memory output{more_data.data()};
    const Count one{1};
    const Reduction sum{DLRT_SUM};
    DLRT_REFUSE(dlrt_barrier, world);
    DLRT_REFUSE(dlrt_bcast, memory, one, real, Root{0}, world);
    DLRT_REFUSE(dlrt_reduce, input, output, one, real, sum, Root{0}, world);
    DLRT_REFUSE(dlrt_allreduce, input, output, one, real, sum, world);
    DLRT_REFUSE(dlrt_gather, input, one, real, output, Root{0}, world);
    DLRT_REFUSE(dlrt_scatter, input, Input{more_data.data()}, one, real, Root{0}, world);
    DLRT_REFUSE(dlrt_allgather, input, one, real, output, world);

    const auto allreduce = [](dlrt_type type, dlrt_op op, void* to) {
        return dlrt_allreduce(data.data(), to, 1, type, op, DLRT_COMM_WORLD);
    };
    CHECK(allreduce(DLRT_DOUBLE, DLRT_BAND, more_data.data()) == DLRT_ERR_OP);
    CHECK(allreduce(DLRT_COMPLEX_FLOAT, DLRT_MIN, more_data.data()) == DLRT_ERR_OP);
    CHECK(allreduce(DLRT_DOUBLE, DLRT_SUM, data.data()) == DLRT_ERR_BUFFER);
    const std::array<std::int64_t, 2> lengths{1, 1}, places{0, 8};
    const std::array<dlrt_type, 2> olds{DLRT_INT, DLRT_DOUBLE};
    dlrt_type mixed{};
    REQUIRE(dlrt_type_struct(2, lengths.data(), places.data(), olds.data(), &mixed) == DLRT_OK);
    CHECK(allreduce(mixed, DLRT_SUM, more_data.data()) == DLRT_ERR_TYPE);
    CHECK(dlrt_type_free(&mixed) == DLRT_OK);
}

TEST_CASE("api: nothing works before init and after finalize, but the exceptions", "[api]") {
    for (int round = 0; round < 2; ++round) {
        std::int32_t rank = 0;
        dlrt_type type{};
        CHECK(dlrt_comm_rank(DLRT_COMM_WORLD, &rank) == DLRT_ERR_NOT_INITIALIZED);
        CHECK(std::string(dlrt_last_error()).starts_with("dlrt_comm_rank: "));
        CHECK(dlrt_type_contiguous(1, DLRT_INT, &type) == DLRT_ERR_NOT_INITIALIZED);
        CHECK(dlrt_finalize() == DLRT_ERR_NOT_INITIALIZED);
        CHECK(dlrt_initialized() == 0);
        CHECK(dlrt_version() == 100);
        dlrt_comm left{};
        {
            const Joined joined;
            CHECK(dlrt_initialized() == 1);
            CHECK(dlrt_finalized() == 0);
            CHECK(dlrt_init() == DLRT_ERR_ALREADY_INITIALIZED);
            CHECK(dlrt_query_thread(nullptr) == DLRT_ERR_ARG);
            REQUIRE(dlrt_comm_dup(DLRT_COMM_WORLD, &left) == DLRT_OK);
        }
        CHECK(dlrt_finalized() == 1);
        const Joined again;
        CHECK(dlrt_comm_rank(left, &rank) == DLRT_ERR_COMM);
    }
}

TEST_CASE("api: init refuses bad levels and stores", "[api]") {
    dlrt_thread_level level{};
    for (const int bad : {-1, 4, INT32_MAX}) {
        CHECK(dlrt_init_thread(static_cast<dlrt_thread_level>(bad), &level) == DLRT_ERR_ARG);
    }
    const auto put = [](void*, const char*, const void*, size_t) { return 0; };
    const auto get = [](void*, const char*, void*, size_t, size_t*) { return 1; };
    const dlrt_store good{sizeof(dlrt_store), nullptr, put, get, 0, 1};
    const auto try_store = [&](auto&& change) {
        dlrt_store store = good;
        change(store);
        return dlrt_init_store(&store, DLRT_THREAD_SINGLE, nullptr);
    };
    CHECK(dlrt_init_store(nullptr, DLRT_THREAD_SINGLE, nullptr) == DLRT_ERR_ARG);
    CHECK(dlrt_init_store(&good, static_cast<dlrt_thread_level>(9), nullptr) == DLRT_ERR_ARG);
    CHECK(try_store([](dlrt_store& store) { store.size = 8; }) == DLRT_ERR_ARG);
    CHECK(try_store([](dlrt_store& store) { store.put = nullptr; }) == DLRT_ERR_ARG);
    CHECK(try_store([](dlrt_store& store) { store.get = nullptr; }) == DLRT_ERR_ARG);
    CHECK(try_store([](dlrt_store& store) { store.world_size = 0; }) == DLRT_ERR_ARG);
    CHECK(try_store([](dlrt_store& store) { store.world_size = UINT32_MAX; }) == DLRT_ERR_ARG);
    CHECK(try_store([](dlrt_store& store) { store.rank = 1; }) == DLRT_ERR_RANK);
    CHECK(dlrt_initialized() == 0);
}
