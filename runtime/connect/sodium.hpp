// SPDX-License-Identifier: Apache-2.0
/// libsodium, loaded when it is first needed: a process that speaks to nobody on another host
/// doesn't pay for it. Any thread.
#pragma once

#include "runtime/base/status.hpp"

#include <sodium.h>

namespace dlrt::tcp {

struct Sodium {
    decltype(&::sodium_init) init = nullptr;
    decltype(&::randombytes_buf) randombytes_buf = nullptr;
    decltype(&::crypto_auth) auth = nullptr;
    decltype(&::crypto_auth_verify) auth_verify = nullptr;
    decltype(&::crypto_generichash) generichash = nullptr;
    decltype(&::crypto_secretstream_xchacha20poly1305_init_push) stream_init_push = nullptr;
    decltype(&::crypto_secretstream_xchacha20poly1305_push) stream_push = nullptr;
    decltype(&::crypto_secretstream_xchacha20poly1305_init_pull) stream_init_pull = nullptr;
    decltype(&::crypto_secretstream_xchacha20poly1305_pull) stream_pull = nullptr;
};

/// Errors: Errc::system when it isn't installed or is unusable.
[[nodiscard]] Status load_sodium();
/// Ends the process where load_sodium() fails.
[[nodiscard]] const Sodium& sodium();

}  // namespace dlrt::tcp
