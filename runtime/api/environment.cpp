// SPDX-License-Identifier: Apache-2.0
/// Life of a process in a job: init, finalize, abort; versions and the texts of errors.
#include "runtime/api/handle_report.hpp"
#include "runtime/api/surface.hpp"

#include <vector>

namespace dlrt::api {
namespace {

Status check_level(const char* function, dlrt_thread_level level) {
    const auto number = static_cast<long>(level);
    const long without_flag = number & ~static_cast<long>(DLRT_THREAD_PROGRESS);
    if (without_flag >= DLRT_THREAD_SINGLE && without_flag <= DLRT_THREAD_MULTIPLE) return {};
    return fail(
        Errc::argument, "{}: thread level {} is not in 0..3, or that | DLRT_THREAD_PROGRESS",
        function, number
    );
}

ThreadLevel level_of(dlrt_thread_level level) {
    return static_cast<ThreadLevel>(static_cast<unsigned>(level) & 3U);
}

ProgressBy progress_of(dlrt_thread_level level) {
    const unsigned flag = static_cast<unsigned>(level) & unsigned{DLRT_THREAD_PROGRESS};
    return flag != 0 ? ProgressBy::thread : ProgressBy::callers;
}

/// The words of the core with the function's name before them.
Status name_function(const char* function, Status status) {
    const std::string text = fmt::format("{}: {}", function, last_error_text());
    return store_failure(status.code, status.os_error, text);
}

/// What every init ends with.
dlrt_err finish_init(const char* function, Status joined, dlrt_thread_level* provided) {
    if (!joined.ok()) return to_c(name_function(function, joined));
    Core& core = *Core::get();
    Surface::get().attach(core);
    if (provided != nullptr) *provided = static_cast<dlrt_thread_level>(core.thread_level());
    return DLRT_OK;
}

dlrt_err init_plainly(
    const char* function, dlrt_thread_level required, dlrt_thread_level* provided
) {
    if (const Status bad = check_level(function, required); !bad.ok()) return to_c(bad);
    const Status joined = Core::init(level_of(required), progress_of(required));
    return finish_init(function, joined, provided);
}

Status check_store(const dlrt_store* store) {
    constexpr const char* function = "dlrt_init_store";
    if (store == nullptr) return fail(Errc::argument, "{}: store is null", function);
    if (store->size < sizeof(dlrt_store)) {
        return fail(
            Errc::argument, "{}: store->size is {}, not sizeof(dlrt_store) = {}", function,
            store->size, sizeof(dlrt_store)
        );
    }
    if (store->put == nullptr || store->get == nullptr) {
        return fail(Errc::argument, "{}: store->put or store->get is null", function);
    }
    if (store->world_size == 0 || store->world_size > INT32_MAX) {
        return fail(
            Errc::argument, "{}: store->world_size {} is not in 1..{}", function, store->world_size,
            INT32_MAX
        );
    }
    if (store->rank >= store->world_size) {
        return fail(
            Errc::rank, "{}: store->rank {} is not in 0..{}", function, store->rank,
            store->world_size - 1
        );
    }
    return {};
}

Status put_to(const dlrt_store& store, const std::string& key, const std::string& value) {
    const int outcome = store.put(store.user, key.c_str(), value.data(), value.size());
    if (outcome == 0) return {};
    return fail(Errc::wireup, "the store's put of '{}' returned {}", key, outcome);
}

Result<std::string> get_from(const dlrt_store& store, const std::string& key) {
    std::string value(1024, '\0');
    // A value can't shrink below what the second call asks for, so two calls are enough.
    for (int attempt = 0; attempt < 2; ++attempt) {
        std::size_t length = 0;
        const int outcome = store.get(store.user, key.c_str(), value.data(), value.size(), &length);
        if (outcome != 0) {
            return fail(Errc::timeout, "the store's get of '{}' returned {}", key, outcome);
        }
        const bool is_whole = length <= value.size();
        value.resize(length);
        if (is_whole) return value;
    }
    return fail(Errc::wireup, "the store's value of '{}' changes its length", key);
}

}  // namespace
}  // namespace dlrt::api

using namespace dlrt;
using namespace dlrt::api;

dlrt_err dlrt_init(void) {
    return init_plainly("dlrt_init", DLRT_THREAD_SINGLE, nullptr);
}

dlrt_err dlrt_init_thread(dlrt_thread_level required, dlrt_thread_level* provided) {
    return init_plainly("dlrt_init_thread", required, provided);
}

dlrt_err dlrt_init_store(
    const dlrt_store* store, dlrt_thread_level required, dlrt_thread_level* provided
) {
    constexpr const char* function = "dlrt_init_store";
    if (const Status bad = check_level(function, required); !bad.ok()) return to_c(bad);
    if (const Status bad = check_store(store); !bad.ok()) return to_c(bad);
    const dlrt_store copy = *store;
    KeyValueStore callbacks;
    callbacks.rank = copy.rank;
    callbacks.size = copy.world_size;
    callbacks.put = [copy](const std::string& key, const std::string& value) {
        return put_to(copy, key, value);
    };
    callbacks.get = [copy](const std::string& key) { return get_from(copy, key); };
    const Status joined = Core::init_with_store(
        level_of(required), std::move(callbacks), progress_of(required)
    );
    return finish_init(function, joined, provided);
}

namespace dlrt::api {
namespace {

/// What finalize and leave have in common: `end` is Core's part.
template<typename End>
dlrt_err end_with(const Site& site, const End& end) {
    if (site.surface().open_call_groups() != 0) {
        return to_c(site.fail(
            Errc::unsupported, "a group of calls is open; dlrt_group_end must close it first"
        ));
    }
    const std::vector<std::string> leftovers = describe_leftovers(site.surface());
    const Status outcome = end();
    if (Core::get() == nullptr) {
        site.surface().detach();
        for (const std::string& line : leftovers) std::fputs(line.c_str(), stderr);
    }
    return outcome.ok() ? DLRT_OK : to_c(site.pass(outcome));
}

}  // namespace
}  // namespace dlrt::api

dlrt_err dlrt_finalize(void) {
    const Site site("dlrt_finalize");
    if (!site.is_ready()) return site.error();
    return end_with(site, [] { return Core::finalize(); });
}

dlrt_err dlrt_leave(int64_t timeout_ms) {
    const Site site("dlrt_leave");
    if (!site.is_ready()) return site.error();
    if (timeout_ms < 0) {
        return to_c(site.fail(Errc::argument, "timeout_ms is {}, less than 0", timeout_ms));
    }
    return end_with(site, [timeout_ms] { return Core::leave(timeout_ms); });
}

int dlrt_initialized(void) {
    return Core::get() != nullptr ? 1 : 0;
}

int dlrt_finalized(void) {
    return Core::is_finalized() ? 1 : 0;
}

dlrt_err dlrt_query_thread(dlrt_thread_level* provided) {
    const Site site("dlrt_query_thread");
    if (!site.is_ready()) return site.error();
    if (const Status bad = site.require(provided, "provided"); !bad.ok()) return to_c(bad);
    *provided = static_cast<dlrt_thread_level>(Core::get()->thread_level());
    return DLRT_OK;
}

void dlrt_abort(int code, const char* text) {
    Core::abort(code, text != nullptr ? text : "");
}

int dlrt_version(void) {
    return DLRT_VERSION_MAJOR * 10000 + DLRT_VERSION_MINOR * 100 + DLRT_VERSION_PATCH;
}

const char* dlrt_error_name(dlrt_err error) {
    return errc_name(static_cast<Errc>(error)).data();
}

const char* dlrt_error_text(dlrt_err error) {
    return errc_description(static_cast<Errc>(error)).data();
}

const char* dlrt_last_error(void) {
    return last_error_text().c_str();
}
