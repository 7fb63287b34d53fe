// SPDX-License-Identifier: Apache-2.0
// Stands for a user's program: built outside the tree with what pkg-config says, nothing else.
#include <dlrt.hpp>

#include <cstdio>

int main() {
    dlrt::Session session;
    const int rank = session.world.rank();
    std::printf("rank %d of %d, sum %d\n", rank, session.world.size(), session.world.sum(rank));
}
