// SPDX-License-Identifier: Apache-2.0
#include "runtime/connect/sodium.hpp"

#include "runtime/base/check.hpp"
#include "runtime/base/error_text.hpp"

#include <array>
#include <dlfcn.h>
#include <string>
#include <string_view>

namespace dlrt::tcp {
namespace {

/// All names of versions that have these functions.
constexpr std::array file_names = {"libsodium.so.23", "libsodium.so.26", "libsodium.so"};

struct Loaded {
    Sodium functions;
    std::string reason;  ///< Why there are none.
};

template<typename Function>
bool find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    return function != nullptr;
}

bool find_stream(void* library, Sodium& functions) {
    constexpr std::string_view prefix = "crypto_secretstream_xchacha20poly1305_";
    const auto find_one = [&](std::string_view name, auto& function) {
        return find(library, (std::string(prefix) + std::string(name)).c_str(), function);
    };
    return find_one("init_push", functions.stream_init_push) &&
           find_one("push", functions.stream_push) &&
           find_one("init_pull", functions.stream_init_pull) &&
           find_one("pull", functions.stream_pull);
}

Loaded load() {
    Loaded loaded;
    void* library = nullptr;
    for (const char* name : file_names) {
        // Stays for good: its functions are kept.
        library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (library != nullptr) break;
        const char* error = ::dlerror();
        if (loaded.reason.empty() && error != nullptr) loaded.reason = error;
    }
    if (library == nullptr) return loaded;
    Sodium& functions = loaded.functions;
    const bool has_all = find(library, "sodium_init", functions.init) &&
                         find(library, "randombytes_buf", functions.randombytes_buf) &&
                         find(library, "crypto_auth", functions.auth) &&
                         find(library, "crypto_auth_verify", functions.auth_verify) &&
                         find(library, "crypto_generichash", functions.generichash) &&
                         find_stream(library, functions);
    loaded.reason.clear();
    if (!has_all) {
        loaded.reason = "it lacks functions";
    } else if (functions.init() < 0) {
        loaded.reason = "it can't be initialised";
    }
    return loaded;
}

const Loaded& loaded() {
    static const Loaded once = load();
    return once;
}

}  // namespace

Status load_sodium() {
    if (loaded().reason.empty()) return {};
    return fail(
        Errc::system,
        "processes on other hosts can't be told from strangers without libsodium ({}); install it",
        loaded().reason
    );
}

const Sodium& sodium() {
    DLRT_ASSERT(loaded().reason.empty());
    return loaded().functions;
}

}  // namespace dlrt::tcp
