// SPDX-License-Identifier: Apache-2.0
/// Marks what the surfaces (libdlrt.so, later others) may use of libdlrt_core.so. Everything else
/// in that library is hidden. There is no stable ABI between them: they are of exactly one version.
#pragma once

#define DLRT_CORE __attribute__((visibility("default")))
