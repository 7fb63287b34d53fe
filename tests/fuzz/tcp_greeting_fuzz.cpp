// SPDX-License-Identifier: Apache-2.0
/// Any bytes as what a stranger may say at a rank's port and as the addresses of a rank: refused,
/// or the only encoding of what was read.
#include "runtime/connect/address.hpp"
#include "runtime/connect/handshake.hpp"

#include <algorithm>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const dlrt::Bytes bytes = std::as_bytes(std::span(data, size));
    const auto addresses = dlrt::tcp::decode_addresses(bytes);
    if (addresses.has_value()) {
        if (!std::ranges::equal(dlrt::tcp::encode_addresses(*addresses), bytes)) std::abort();
        for (const dlrt::tcp::SocketAddress& address : *addresses) {
            if (address.text().empty()) std::abort();
        }
    }
    if (size < dlrt::tcp::hello_bytes) return 0;
    const auto greeting = bytes.first<dlrt::tcp::hello_bytes>();
    const auto hello = dlrt::tcp::decode_hello(greeting);
    if (hello.has_value() && !std::ranges::equal(dlrt::tcp::encode(*hello), greeting)) std::abort();
    return 0;
}
