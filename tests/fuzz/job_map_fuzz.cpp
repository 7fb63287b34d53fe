// SPDX-License-Identifier: Apache-2.0
/// Any bytes as a job map: refused, or the only encoding of what was read.
#include "runtime/wireup/job_map.hpp"

#include <algorithm>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const dlrt::Bytes bytes = std::as_bytes(std::span(data, size));
    const auto map = dlrt::decode_job_map(bytes);
    if (map.has_value() && !std::ranges::equal(dlrt::encode_job_map(*map), bytes)) std::abort();
    return 0;
}
