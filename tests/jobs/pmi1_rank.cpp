// SPDX-License-Identifier: Apache-2.0
/// A rank for pmi1_test.py. usage: pmi1_rank ring SIZE | abort | die | alone
/// ring: passes numbers around; ends with 0 when it was rank r of SIZE and all were right.
#include "runtime/base/error_text.hpp"
#include "runtime/core.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace dlrt {
namespace {

constexpr std::int32_t bytes = 100'000;

int pass_around(std::int32_t size) {
    Core& core = *Core::get();
    const std::int32_t rank = core.world()->rank();
    if (core.world()->size() != size) return 2;
    const ContextId context = core.world()->user_context();
    const LayoutRef& layout = Layout::of(ElementType::byte);
    std::vector<char> sent(bytes, static_cast<char>(rank + 1));
    std::vector<char> received(bytes);
    MessageStatus status;
    const Status outcome = core.engine().sendrecv(
        {context, (rank + 1) % size, 7}, {sent.data(), bytes, &layout},
        {context, (rank + size - 1) % size, 7}, {received.data(), bytes, &layout}, status
    );
    if (!outcome.ok() || status.source != (rank + size - 1) % size) return 3;
    for (const char value : received) {
        if (value != static_cast<char>((rank + size - 1) % size + 1)) return 4;
    }
    if (!Core::finalize().ok()) return 5;
    // PMI-1 lets nobody in twice; that must be said, not hang.
    if (Core::init(ThreadLevel::single).code != Errc::wireup) return 6;
    std::printf("rank %d of %d is right\n", rank, size);
    return 0;
}

int run(std::string_view what, std::int32_t size) {
    if (!Core::init(ThreadLevel::single).ok()) {
        std::fprintf(stderr, "init: %s\n", last_error_text().c_str());
        return 1;
    }
    if (what == "ring") return pass_around(size);
    const std::int32_t rank = Core::get()->world()->rank();
    if (what == "alone") return Core::get()->world()->size() == 1 ? 0 : 2;
    if (what == "abort" && rank == 1) Core::abort(9, "rank 1 gives up");
    if (what == "die" && rank == 1) std::abort();
    // The others wait for a message that never comes.
    char byte = 0;
    MessageStatus status;
    static_cast<void>(Core::get()->engine().recv(
        {Core::get()->world()->user_context(), 1, 1}, {&byte, 1, &Layout::of(ElementType::byte)},
        status
    ));
    return 3;
}

}  // namespace
}  // namespace dlrt

int main(int count, char** arguments) {
    if (count < 2) return 64;
    return dlrt::run(arguments[1], count > 2 ? std::atoi(arguments[2]) : 1);
}
