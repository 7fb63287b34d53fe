// SPDX-License-Identifier: Apache-2.0
/// Copying to memory that another core will read and this one will not: past the caches where the
/// machine can, so that no line has to be fetched from its last reader first. Any thread.
#pragma once

#include <cstddef>

namespace dlrt {

/// Copies like memcpy. A release store by this thread after it publishes the bytes: the copy ends
/// with the fence that non-temporal stores need and release stores on x86 lack.
void stream_copy(std::byte* target, const std::byte* source, std::size_t size_bytes);

/// Copies like memcpy by ordinary vector stores. For memory that another core has read or will
/// read: the string instructions that memcpy turns to at some KiB are several times slower there.
void plain_copy(std::byte* target, const std::byte* source, std::size_t size_bytes);

}  // namespace dlrt
