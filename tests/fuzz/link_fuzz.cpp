// SPDX-License-Identifier: Apache-2.0
/// Any bytes as what comes over a link of the tree of daemons, cut as their first byte says:
/// refused, or what somebody has sealed who knows the secret; and never more of it kept than a
/// record.
#include "launcher/link_cipher.hpp"
#include "runtime/connect/sodium.hpp"

#include <algorithm>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    if (size == 0 || !dlrt::tcp::load_sodium().ok()) return 0;
    dlrt::Bytes left = std::as_bytes(std::span(data, size)).subspan(1);
    const std::size_t step = data[0] + std::size_t{1};
    dlrt::launcher::LinkCipher cipher(
        dlrt::tcp::derive_secret("fuzz", "session"), dlrt::tcp::Side::owner
    );
    std::vector<std::byte> plain;
    while (!left.empty()) {
        const dlrt::Bytes part = left.first(std::min(step, left.size()));
        left = left.subspan(part.size());
        const bool is_sound = cipher.open(part, plain).ok();
        if (cipher.kept_bytes() > size || plain.size() > size) std::abort();
        if (!is_sound) return 0;
    }
    return 0;
}
