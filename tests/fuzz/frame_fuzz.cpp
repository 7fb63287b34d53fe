// SPDX-License-Identifier: Apache-2.0
/// Any bytes as a frame of the launcher: refused, or the only encoding of what was read.
#include "launcher/frame.hpp"

#include <algorithm>
#include <cstdlib>

using namespace dlrt;
using namespace dlrt::launcher;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const Bytes bytes = std::as_bytes(std::span(data, size));
    const auto frame = decode_frame(bytes);
    if (frame.has_value()) {
        const auto encoded = encode_frame(*frame);
        const auto body = std::span(encoded).subspan(frame_header_bytes);
        if (!std::ranges::equal(body, bytes)) std::abort();
        const auto body_bytes = decode_frame_size(std::span(encoded).first(frame_header_bytes));
        if (!body_bytes.has_value() || *body_bytes != bytes.size()) std::abort();
    }
    return 0;
}
