// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/error_text.hpp"

#include <array>
#include <cstring>

namespace dlrt {
namespace {

struct Entry {
    std::string_view name;
    std::string_view description;
};

constexpr std::array<Entry, 29> entries = {{
    {"OK", "success"},
    {"ERR_ARG", "an argument is not valid"},
    {"ERR_COMM", "the communicator is null, freed or unknown"},
    {"ERR_GROUP", "the group is null, freed or unknown"},
    {"ERR_TYPE", "the type is null, freed or not valid here"},
    {"ERR_OP", "the reduction is unknown or not defined for this element type"},
    {"ERR_RANK", "the rank is not in the communicator or group"},
    {"ERR_TAG", "the tag is out of range"},
    {"ERR_COUNT", "the count is negative or too large"},
    {"ERR_BUFFER", "the buffer is null or overlaps another one"},
    {"ERR_REQUEST", "the request is null, freed or in the wrong state"},
    {"ERR_ROOT", "the root is not in the communicator"},
    {"ERR_MESSAGE", "the matched message is null or already received"},
    {"ERR_TRUNCATE", "the message is longer than the receive buffer"},
    {"ERR_NOT_INITIALIZED", "called before init or after finalize"},
    {"ERR_ALREADY_INITIALIZED", "dlrt is already initialised"},
    {"ERR_THREAD", "the thread level granted by init does not allow this"},
    {"ERR_FORKED", "called in a child process forked after init"},
    {"ERR_IN_STATUS", "some of the requests failed; each status has its own error"},
    {"ERR_PEER_LOST", "a peer died or left while this operation needed it"},
    {"ERR_ABORTED", "the job was aborted"},
    {"ERR_WIREUP", "the job could not be joined"},
    {"ERR_NO_MEMORY", "out of memory"},
    {"ERR_LIMIT", "a limit of the system or of dlrt is reached"},
    {"ERR_UNSUPPORTED", "not supported"},
    {"ERR_SYSTEM", "a system call failed"},
    {"ERR_INTERNAL", "dlrt broke one of its own invariants"},
    {"ERR_MISMATCH", "ranks disagree about a collective call"},
    {"ERR_TIMEOUT", "the time limit passed"},
}};

/// A thread's text. The main thread's is destroyed before exit handlers run, which may still call
/// us: those get one that is never destroyed.
struct Holder {
    std::string text;
    ~Holder();
};
thread_local bool is_holder_gone = false;
Holder::~Holder() {
    is_holder_gone = true;
}

std::string& text_of_thread() {
    if (is_holder_gone) {
        thread_local std::string* late_text = new std::string;
        return *late_text;
    }
    thread_local Holder holder;
    return holder.text;
}

const Entry* find(Errc code) {
    const auto number = static_cast<std::int32_t>(code);
    if (number < 0 || static_cast<std::size_t>(number) >= entries.size()) return nullptr;
    return &entries[static_cast<std::size_t>(number)];
}

}  // namespace

std::string_view errc_name(Errc code) {
    const Entry* entry = find(code);
    return entry != nullptr ? entry->name : "ERR_UNKNOWN";
}

std::string_view errc_description(Errc code) {
    const Entry* entry = find(code);
    return entry != nullptr ? entry->description : "not a code of dlrt";
}

const std::string& last_error_text() {
    return text_of_thread();
}

Status store_failure(Errc code, int os_error, std::string text) {
    if (os_error != 0) text += fmt::format(": {}", std::strerror(os_error));
    text_of_thread() = std::move(text);
    return {code, os_error};
}

}  // namespace dlrt
