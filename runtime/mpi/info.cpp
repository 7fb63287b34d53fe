// SPDX-License-Identifier: Apache-2.0
/// Chapter: info objects. All may be called at any time.
#include "runtime/mpi/info.hpp"

#include "runtime/mpi/surface.hpp"
#include "runtime/mpi/text_result.hpp"

#include <algorithm>
#include <mpi_functions.hpp>

namespace dlrt::mpi {

void Info::set(std::string_view key, std::string_view value) {
    for (Entry& entry : entries_) {
        if (entry.first != key) continue;
        entry.second = value;
        return;
    }
    entries_.emplace_back(key, value);
}

bool Info::erase(std::string_view key) {
    return std::erase_if(entries_, [key](const Entry& entry) { return entry.first == key; }) != 0;
}

const std::string* Info::find(std::string_view key) const {
    for (const Entry& entry : entries_) {
        if (entry.first == key) return &entry.second;
    }
    return nullptr;
}

namespace {

int check_key(const Site& site, const char* key) {
    if (const int wrong = site.require(key, "key", MPI_ERR_INFO_KEY)) return wrong;
    const std::size_t length = std::string_view(key).size();
    if (length > 0 && length < MPI_MAX_INFO_KEY) return MPI_SUCCESS;
    return site.bad(
        MPI_ERR_INFO_KEY, "key has {} characters; 1 to {} are valid", length, MPI_MAX_INFO_KEY - 1
    );
}

/// An info object and a key of it.
int open(const Site& site, MPI_Info handle, const char* key, InfoRef& info) {
    if (const int wrong = site.use(handle, info)) return wrong;
    return check_key(site, key);
}

}  // namespace

int MPI_Info_create(MPI_Info* info) {
    const Site site("MPI_Info_create", Site::Time::any);
    if (const int wrong = site.require(info, "info")) return site.raise(wrong);
    const int wrong = site.give(std::make_shared<Info>(), info);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

int MPI_Info_create_env(int argc, char** argv, MPI_Info* info) {
    const Site site("MPI_Info_create_env", Site::Time::any);
    if (const int wrong = site.require(info, "info")) return site.raise(wrong);
    auto made = std::make_shared<Info>();
    if (argc > 0 && argv != nullptr && argv[0] != nullptr) {
        made->set("command", argv[0]);
        std::string arguments;
        for (int i = 1; i < argc && argv[i] != nullptr; ++i) {
            if (i > 1) arguments += ' ';
            arguments += argv[i];
        }
        if (!arguments.empty()) made->set("argv", arguments.substr(0, MPI_MAX_INFO_VAL - 1));
    }
    const int wrong = site.give(std::move(made), info);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

int MPI_Info_dup(MPI_Info handle, MPI_Info* result) {
    const Site site("MPI_Info_dup", Site::Time::any);
    InfoRef info;
    if (const int wrong = site.use(handle, info)) return site.raise(wrong);
    if (const int wrong = site.require(result, "newinfo")) return site.raise(wrong);
    const int wrong = site.give(std::make_shared<Info>(*info), result);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

int MPI_Info_free(MPI_Info* handle) {
    const Site site("MPI_Info_free", Site::Time::any);
    if (const int wrong = site.require(handle, "info")) return site.raise(wrong);
    InfoRef info;
    if (const int wrong = site.use(*handle, info)) return site.raise(wrong);
    if (is_always_there(*handle)) return site.raise(MPI_ERR_INFO, "MPI_INFO_ENV can't be freed");
    static_cast<void>(site.surface().infos.remove(to_handle(*handle)));
    *handle = MPI_INFO_NULL;
    return MPI_SUCCESS;
}

int MPI_Info_set(MPI_Info handle, const char* key, const char* value) {
    const Site site("MPI_Info_set", Site::Time::any);
    InfoRef info;
    if (const int wrong = open(site, handle, key, info)) return site.raise(wrong);
    if (is_always_there(handle)) return site.raise(MPI_ERR_INFO, "MPI_INFO_ENV can't be changed");
    if (const int wrong = site.require(value, "value", MPI_ERR_INFO_VALUE)) {
        return site.raise(wrong);
    }
    const std::size_t length = std::string_view(value).size();
    if (length >= MPI_MAX_INFO_VAL) {
        return site.raise(
            MPI_ERR_INFO_VALUE, "value has {} characters; at most {}", length, MPI_MAX_INFO_VAL - 1
        );
    }
    info->set(key, value);
    return MPI_SUCCESS;
}

int MPI_Info_delete(MPI_Info handle, const char* key) {
    const Site site("MPI_Info_delete", Site::Time::any);
    InfoRef info;
    if (const int wrong = open(site, handle, key, info)) return site.raise(wrong);
    if (is_always_there(handle)) return site.raise(MPI_ERR_INFO, "MPI_INFO_ENV can't be changed");
    if (info->erase(key)) return MPI_SUCCESS;
    return site.raise(MPI_ERR_INFO_NOKEY, "there is no key '{}'", key);
}

int MPI_Info_get(MPI_Info handle, const char* key, int valuelen, char* value, int* flag) {
    const Site site("MPI_Info_get", Site::Time::any);
    InfoRef info;
    if (const int wrong = open(site, handle, key, info)) return site.raise(wrong);
    if (const int wrong = site.require(flag, "flag")) return site.raise(wrong);
    if (const int wrong = site.require_not_negative(valuelen, "valuelen", MPI_ERR_ARG)) {
        return site.raise(wrong);
    }
    const std::string* const found = info->find(key);
    *flag = found != nullptr ? 1 : 0;
    if (found == nullptr) return MPI_SUCCESS;
    if (const int wrong = site.require(value, "value", MPI_ERR_INFO_VALUE)) {
        return site.raise(wrong);
    }
    int length = 0;
    // The caller's array is one longer than it says.
    write_text(*found, static_cast<std::size_t>(valuelen) + 1, value, &length);
    return MPI_SUCCESS;
}

int MPI_Info_get_string(MPI_Info handle, const char* key, int* buflen, char* value, int* flag) {
    const Site site("MPI_Info_get_string", Site::Time::any);
    InfoRef info;
    if (const int wrong = open(site, handle, key, info)) return site.raise(wrong);
    if (const int wrong = site.require(buflen, "buflen")) return site.raise(wrong);
    if (const int wrong = site.require(flag, "flag")) return site.raise(wrong);
    const std::string* const found = info->find(key);
    *flag = found != nullptr ? 1 : 0;
    if (found == nullptr) return MPI_SUCCESS;
    if (*buflen > 0) {
        if (const int wrong = site.require(value, "value", MPI_ERR_INFO_VALUE)) {
            return site.raise(wrong);
        }
        int length = 0;
        write_text(*found, static_cast<std::size_t>(*buflen), value, &length);
    }
    *buflen = static_cast<int>(found->size()) + 1;
    return MPI_SUCCESS;
}

int MPI_Info_get_valuelen(MPI_Info handle, const char* key, int* valuelen, int* flag) {
    const Site site("MPI_Info_get_valuelen", Site::Time::any);
    InfoRef info;
    if (const int wrong = open(site, handle, key, info)) return site.raise(wrong);
    if (const int wrong = site.require(valuelen, "valuelen")) return site.raise(wrong);
    if (const int wrong = site.require(flag, "flag")) return site.raise(wrong);
    const std::string* const found = info->find(key);
    *flag = found != nullptr ? 1 : 0;
    if (found != nullptr) *valuelen = static_cast<int>(found->size());
    return MPI_SUCCESS;
}

int MPI_Info_get_nkeys(MPI_Info handle, int* nkeys) {
    const Site site("MPI_Info_get_nkeys", Site::Time::any);
    InfoRef info;
    if (const int wrong = site.use(handle, info)) return site.raise(wrong);
    if (const int wrong = site.require(nkeys, "nkeys")) return site.raise(wrong);
    *nkeys = static_cast<int>(info->entries().size());
    return MPI_SUCCESS;
}

int MPI_Info_get_nthkey(MPI_Info handle, int n, char* key) {
    const Site site("MPI_Info_get_nthkey", Site::Time::any);
    InfoRef info;
    if (const int wrong = site.use(handle, info)) return site.raise(wrong);
    if (const int wrong = site.require(key, "key", MPI_ERR_INFO_KEY)) return site.raise(wrong);
    const auto count = static_cast<int>(info->entries().size());
    if (n < 0 || n >= count) {
        return site.raise(MPI_ERR_ARG, "key {} is asked for, of {} keys from 0", n, count);
    }
    int length = 0;
    write_text(info->entries()[static_cast<std::size_t>(n)].first, MPI_MAX_INFO_KEY, key, &length);
    return MPI_SUCCESS;
}

}  // namespace dlrt::mpi
