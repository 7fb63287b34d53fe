/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Point to point, as traps of the standard: order, wildcards, null things, truncation, buffered
 * sends, probes, persistent requests. 3 ranks.
 */
#include "check.h"

static void check_count(const MPI_Status* status, MPI_Datatype type, int expected) {
    int count = -1;
    OK(MPI_Get_count(status, type, &count));
    CHECK_EQUAL(count, expected);
}

/* The earlier receive gets the first message, even if the later one is more specific. */
static void earlier_receive_is_first(void) {
    int values[2] = {7, 8}, first = 0, second = 0;
    MPI_Request requests[2];
    if (own_rank == 0) {
        OK(MPI_Irecv(&first, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0])
        );
        OK(MPI_Irecv(&second, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &requests[1]));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK_EQUAL(first, 7);
        CHECK_EQUAL(second, 8);
        CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
        return;
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (own_rank != 1) return;
    OK(MPI_Send(&values[0], 1, MPI_INT, 0, 5, MPI_COMM_WORLD));
    OK(MPI_Send(&values[1], 1, MPI_INT, 0, 5, MPI_COMM_WORLD));
}

/* Sizes below and above every limit of a protocol stay in order. */
static void order_across_protocols(void) {
    enum { sizes = 6, rounds = 40, longest = 300000 };
    static const int size_of[sizes] = {0, 8, 4000, 9000, 70000, longest};
    char* const data = calloc(longest, 1);
    for (int i = 0; i < rounds && own_rank < 2; ++i) {
        const int size = size_of[(i * 7) % sizes];
        MPI_Status status;
        if (own_rank == 1) {
            memset(data, i, (size_t)size);
            OK(MPI_Send(data, size, MPI_BYTE, 0, 3, MPI_COMM_WORLD));
            continue;
        }
        const int source = i % 2 == 0 ? 1 : MPI_ANY_SOURCE;
        OK(MPI_Recv(
            data, longest, MPI_BYTE, source, i % 3 == 0 ? MPI_ANY_TAG : 3, MPI_COMM_WORLD, &status
        ));
        check_count(&status, MPI_BYTE, size);
        CHECK_EQUAL(status.MPI_SOURCE, 1);
        CHECK_EQUAL(status.MPI_TAG, 3);
        for (int k = 0; k < size; k += 997) CHECK_EQUAL(data[k], (char)i);
    }
    free(data);
}

/* A pending wildcard isn't disturbed by collectives of the same communicator. */
static void wildcards_leave_collectives_alone(void) {
    int value = 0, sum = 0;
    MPI_Request request;
    OK(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request));
    for (int i = 0; i < 20; ++i) {
        OK(MPI_Allreduce(&own_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK_EQUAL(sum, 3);
    }
    const int next = (own_rank + 1) % world_size;
    OK(MPI_Send(&own_rank, 1, MPI_INT, next, 11, MPI_COMM_WORLD));
    MPI_Status status;
    OK(MPI_Wait(&request, &status));
    CHECK_EQUAL(value, status.MPI_SOURCE);
    CHECK_EQUAL(status.MPI_SOURCE, (own_rank + world_size - 1) % world_size);
}

static void null_things(void) {
    int value = 42, flag = 0, index = 0, count = -1;
    MPI_Status status = {5, 5, 5, {5, 5, 5, 5, 5}};
    MPI_Request request = MPI_REQUEST_NULL;
    OK(MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
    OK(MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status));
    CHECK_EQUAL(value, 42);
    CHECK_EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
    CHECK_EQUAL(status.MPI_TAG, MPI_ANY_TAG);
    CHECK_EQUAL(status.MPI_ERROR, 5);
    check_count(&status, MPI_INT, 0);
    OK(MPI_Recv(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    OK(MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request));
    OK(MPI_Waitall(1, &request, &status));
    CHECK_EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
    OK(MPI_Wait(&request, &status));
    CHECK_EQUAL(status.MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_EQUAL(status.MPI_TAG, MPI_ANY_TAG);
    OK(MPI_Waitany(1, &request, &index, &status));
    CHECK_EQUAL(index, MPI_UNDEFINED);
    OK(MPI_Waitsome(1, &request, &count, &index, MPI_STATUSES_IGNORE));
    CHECK_EQUAL(count, MPI_UNDEFINED);
    OK(MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, &status));
    CHECK_EQUAL(status.MPI_SOURCE, MPI_ANY_SOURCE);
    OK(MPI_Start(&request));
    OK(MPI_Wait(&request, &status));
    CHECK_EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
    OK(MPI_Request_free(&request));
    MPI_Message message;
    OK(MPI_Improbe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, &message, &status));
    CHECK(flag && message == MPI_MESSAGE_NO_PROC);
    OK(MPI_Mrecv(&value, 1, MPI_INT, &message, &status));
    CHECK(message == MPI_MESSAGE_NULL && status.MPI_SOURCE == MPI_PROC_NULL);
}

/* To oneself, also probed, and the largest tag. */
static void self_sends(void) {
    int value = 0, flag = 0, *tag_max = NULL;
    MPI_Status status;
    MPI_Request request;
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_max, &flag));
    CHECK(flag && *tag_max >= 32767);
    OK(MPI_Isend(&own_rank, 1, MPI_INT, own_rank, *tag_max, MPI_COMM_WORLD, &request));
    OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    CHECK_EQUAL(status.MPI_TAG, *tag_max);
    MPI_Message message;
    OK(MPI_Mprobe(status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &message, &status));
    OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    OK(MPI_Mrecv(&value, 1, MPI_INT, &message, &status));
    CHECK_EQUAL(value, own_rank);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* A message that is too long: the class, nothing beyond the buffer, the next one is good. */
static void truncation(void) {
    enum { length = 20000 };
    static int data[length];
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (int size = 10; size <= length && own_rank < 2; size *= 2000) {
        if (own_rank == 1) {
            OK(MPI_Send(data, size, MPI_INT, 0, 1, MPI_COMM_WORLD));
            OK(MPI_Send(data, 1, MPI_INT, 0, 2, MPI_COMM_WORLD));
            continue;
        }
        int buffer[6] = {0, 0, 0, 0, 0, 99}, error_class = 0;
        MPI_Status status;
        const int code = MPI_Recv(buffer, 5, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        OK(MPI_Error_class(code, &error_class));
        CHECK_EQUAL(error_class, MPI_ERR_TRUNCATE);
        CHECK_EQUAL(status.MPI_SOURCE, 1);
        CHECK_EQUAL(status.MPI_TAG, 1);
        CHECK_EQUAL(buffer[5], 99);
        OK(MPI_Recv(buffer, 5, MPI_INT, 1, 2, MPI_COMM_WORLD, &status));
        check_count(&status, MPI_INT, 1);
    }
    /* Of several requests, each status says how its own went. */
    if (own_rank == 1) {
        OK(MPI_Send(data, 4, MPI_INT, 0, 1, MPI_COMM_WORLD));
        OK(MPI_Send(data, 1, MPI_INT, 0, 2, MPI_COMM_WORLD));
    } else if (own_rank == 0) {
        MPI_Request requests[2];
        MPI_Status statuses[2];
        OK(MPI_Irecv(data, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[0]));
        OK(MPI_Irecv(data + 4, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &requests[1]));
        CHECK_EQUAL(MPI_Waitall(2, requests, statuses), MPI_ERR_IN_STATUS);
        CHECK_EQUAL(statuses[0].MPI_ERROR, MPI_ERR_TRUNCATE);
        CHECK_EQUAL(statuses[1].MPI_ERROR, MPI_SUCCESS);
    }
    CHECK_EQUAL(MPI_Send(data, 1, MPI_INT, world_size, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    CHECK_EQUAL(MPI_Send(data, 1, MPI_INT, 0, -5, MPI_COMM_WORLD), MPI_ERR_TAG);
    CHECK_EQUAL(MPI_Send(data, -1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    CHECK_EQUAL(MPI_Send(data, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    CHECK_EQUAL(MPI_Send(data, 1, NULL, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    CHECK_EQUAL(MPI_Send(NULL, 1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

static void cancelled_receive(void) {
    int value = 0, flag = 0;
    MPI_Request request;
    MPI_Status status;
    OK(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &request));
    OK(MPI_Cancel(&request));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    const int next = (own_rank + 1) % world_size;
    OK(MPI_Sendrecv(
        &own_rank, 1, MPI_INT, next, 77, &value, 1, MPI_INT, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD,
        &status
    ));
    CHECK_EQUAL(value, (own_rank + world_size - 1) % world_size);
}

/* n messages of size s fit in n * (s + overhead), at any alignment; no more than that is used. */
static void buffered_sends(void) {
    enum { messages = 3, size = 100 };
    static char memory[messages * (size + MPI_BSEND_OVERHEAD) + 1];
    char data[size];
    const int next = (own_rank + 1) % world_size;
    void* given = NULL;
    int given_size = 0;
    OK(MPI_Buffer_attach(memory + 1, (int)sizeof(memory) - 1));
    for (int i = 0; i < messages; ++i) {
        memset(data, i, size);
        OK(MPI_Bsend(data, size, MPI_CHAR, next, i, MPI_COMM_WORLD));
    }
    for (int i = 0; i < messages; ++i) {
        OK(MPI_Recv(data, size, MPI_CHAR, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_EQUAL(data[size - 1], i);
    }
    OK(MPI_Buffer_detach(&given, &given_size));
    CHECK(given == memory + 1);
    CHECK_EQUAL(given_size, sizeof(memory) - 1);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_EQUAL(MPI_Bsend(data, size, MPI_CHAR, next, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    MPI_Request request;
    OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
    OK(MPI_Bsend_init(&own_rank, 1, MPI_INT, next, 4, MPI_COMM_WORLD, &request));
    for (int i = 0; i < 3; ++i) {
        int value = -1;
        OK(MPI_Start(&request));
        OK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_EQUAL(value, (own_rank + world_size - 1) % world_size);
    }
    OK(MPI_Request_free(&request));
    OK(MPI_Buffer_flush());
    OK(MPI_Buffer_detach(&given, &given_size));
}

static void persistent_requests(void) {
    int out = 0, in = 0;
    const int next = (own_rank + 1) % world_size;
    MPI_Request requests[2];
    OK(MPI_Send_init(&out, 1, MPI_INT, next, 9, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Recv_init(&in, 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &requests[1]));
    for (int i = 0; i < 5; ++i) {
        out = 10 * own_rank + i;
        OK(MPI_Startall(2, requests));
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK_EQUAL(in, 10 * ((own_rank + world_size - 1) % world_size) + i);
    }
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
}

static void exchanges(void) {
    const int next = (own_rank + 1) % world_size, before = (own_rank + world_size - 1) % world_size;
    int value = own_rank;
    MPI_Status status;
    MPI_Request request;
    OK(MPI_Sendrecv_replace(&value, 1, MPI_INT, next, 1, before, 1, MPI_COMM_WORLD, &status));
    CHECK_EQUAL(value, before);
    value = own_rank;
    OK(MPI_Isendrecv_replace(&value, 1, MPI_INT, next, 1, before, 1, MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, &status));
    CHECK_EQUAL(value, before);
    CHECK_EQUAL(status.MPI_SOURCE, before);
    OK(MPI_Isendrecv(
        &own_rank, 1, MPI_INT, next, 2, &value, 1, MPI_INT, before, 2, MPI_COMM_WORLD, &request
    ));
    OK(MPI_Wait(&request, &status));
    CHECK_EQUAL(value, before);
    check_count(&status, MPI_INT, 1);
}

/* A synchronous send isn't complete before it is matched. */
static void synchronous_send(void) {
    int flag = 0, value = 0;
    MPI_Request request;
    if (own_rank == 0) {
        OK(MPI_Issend(&own_rank, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, &request));
        for (int i = 0; i < 100; ++i) OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
        CHECK(!flag);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (own_rank == 1) {
        OK(MPI_Recv(&value, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    if (own_rank == 0) OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static int general_queried, general_freed;
static int query_general(void* extra_state, MPI_Status* status) {
    ++general_queried;
    status->MPI_SOURCE = 123;
    MPI_Status_set_elements(status, MPI_INT, *(int*)extra_state);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}
static int free_general(void* extra_state) {
    (void)extra_state;
    ++general_freed;
    return MPI_SUCCESS;
}

static void generalised_request(void) {
    int count = 3, flag = 1;
    MPI_Request request;
    MPI_Status status;
    OK(MPI_Grequest_start(query_general, free_general, NULL, &count, &request));
    OK(MPI_Test(&request, &flag, &status));
    CHECK(!flag);
    OK(MPI_Grequest_complete(request));
    OK(MPI_Wait(&request, &status));
    CHECK_EQUAL(status.MPI_SOURCE, 123);
    check_count(&status, MPI_INT, 3);
    CHECK(general_queried == 1 && general_freed == 1 && request == MPI_REQUEST_NULL);
}

/* A send whose request is freed is delivered, even if the receiver comes after the sender's end. */
static void freed_send_before_the_end(void) {
    static int data[100000];
    MPI_Request request;
    if (own_rank == 0) {
        data[99999] = 17;
        OK(MPI_Isend(data, 100000, MPI_INT, 1, 8, MPI_COMM_WORLD, &request));
        OK(MPI_Request_free(&request));
    } else if (own_rank == 1) {
        OK(MPI_Recv(data, 100000, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_EQUAL(data[99999], 17);
    }
}

int main(void) {
    start_mpi();
    CHECK_EQUAL(world_size, 3);
    part(earlier_receive_is_first);
    part(order_across_protocols);
    part(wildcards_leave_collectives_alone);
    part(null_things);
    part(self_sends);
    part(truncation);
    part(cancelled_receive);
    part(buffered_sends);
    part(persistent_requests);
    part(exchanges);
    part(synchronous_send);
    part(generalised_request);
    freed_send_before_the_end();
    OK(MPI_Finalize());
    return 0;
}
