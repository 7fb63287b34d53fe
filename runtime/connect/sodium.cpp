// SPDX-License-Identifier: Apache-2.0
#include "runtime/connect/sodium.hpp"

#include "runtime/base/check.hpp"
#include "runtime/base/error_text.hpp"

#include <array>
#include <dlfcn.h>
#include <string>

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
                         find(library, "crypto_generichash", functions.generichash);
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
