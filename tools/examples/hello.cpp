// SPDX-License-Identifier: Apache-2.0
/// Every rank says hello; then a token goes once around the ring of ranks and counts them.
#include <dlrt.hpp>

#include <iostream>

int main() {
    dlrt::Session session;
    const dlrt::Communicator& world = session.world;
    const int rank = world.rank(), size = world.size();
    const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    std::cout << "hello from rank " << rank << " of " << size << '\n';

    int token = 0;
    if (rank != 0) world.recv(token, {.from = previous});
    ++token;
    dlrt::Request sending = world.isend(token, {.to = next});
    if (rank == 0) {
        const int counted = world.recv<int>({.from = previous});
        std::cout << "the token counted " << counted << " ranks\n";
    }
    sending.wait();
}
