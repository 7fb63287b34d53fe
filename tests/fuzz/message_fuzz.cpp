// SPDX-License-Identifier: Apache-2.0
/// Any bytes as a control message: refused, or the only encoding of what was read.
#include "runtime/wireup/message.hpp"

#include <algorithm>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const dlrt::Bytes bytes = std::as_bytes(std::span(data, size));
    const auto message = dlrt::decode_message(bytes);
    if (message.has_value() && !std::ranges::equal(dlrt::encode_message(*message), bytes))
        std::abort();
    return 0;
}
