// SPDX-License-Identifier: Apache-2.0
#include "runtime/mpi/error_handler.hpp"

#include <array>
#include <map>
#include <mutex>
#include <string_view>

namespace dlrt::mpi {

const ErrorHandlerRef& predefined_handler(MPI_Errhandler handle) {
    using Kind = ErrorHandler::Kind;
    static const ErrorHandlerRef fatal = std::make_shared<ErrorHandler>(ErrorHandler{Kind::fatal});
    static const ErrorHandlerRef abort = std::make_shared<ErrorHandler>(ErrorHandler{Kind::abort});
    static const ErrorHandlerRef back = std::make_shared<ErrorHandler>(ErrorHandler{Kind::returns});
    static const ErrorHandlerRef none;
    if (handle == MPI_ERRORS_ARE_FATAL) return fatal;
    if (handle == MPI_ERRORS_ABORT) return abort;
    if (handle == MPI_ERRORS_RETURN) return back;
    return none;
}

int class_of(Errc code) {
    switch (code) {
        case Errc::ok:
            return MPI_SUCCESS;
        case Errc::argument:
            return MPI_ERR_ARG;
        case Errc::communicator:
            return MPI_ERR_COMM;
        case Errc::group:
            return MPI_ERR_GROUP;
        case Errc::type:
            return MPI_ERR_TYPE;
        case Errc::op:
            return MPI_ERR_OP;
        case Errc::rank:
            return MPI_ERR_RANK;
        case Errc::tag:
            return MPI_ERR_TAG;
        case Errc::count:
            return MPI_ERR_COUNT;
        case Errc::buffer:
            return MPI_ERR_BUFFER;
        case Errc::request:
            return MPI_ERR_REQUEST;
        case Errc::root:
            return MPI_ERR_ROOT;
        case Errc::message:
            return MPI_ERR_REQUEST;
        case Errc::truncate:
            return MPI_ERR_TRUNCATE;
        case Errc::in_status:
            return MPI_ERR_IN_STATUS;
        case Errc::peer_lost:
            return MPI_ERR_PROC_ABORTED;
        case Errc::no_memory:
            return MPI_ERR_NO_MEM;
        case Errc::unsupported:
            return MPI_ERR_UNSUPPORTED_OPERATION;
        case Errc::internal:
            return MPI_ERR_INTERN;
        case Errc::not_initialized:
        case Errc::already_initialized:
        case Errc::thread:
        case Errc::forked:
        case Errc::aborted:
        case Errc::wireup:
        case Errc::limit:
        case Errc::system:
        case Errc::mismatch:
        case Errc::timeout:
            break;
    }
    return MPI_ERR_OTHER;
}

namespace {

struct ClassText {
    int number;
    std::string_view text;
};
constexpr ClassText class_texts[] = {
    {MPI_SUCCESS, "MPI_SUCCESS: no error"},
    {MPI_ERR_BUFFER, "MPI_ERR_BUFFER: invalid buffer"},
    {MPI_ERR_COUNT, "MPI_ERR_COUNT: invalid count"},
    {MPI_ERR_TYPE, "MPI_ERR_TYPE: invalid datatype"},
    {MPI_ERR_TAG, "MPI_ERR_TAG: invalid tag"},
    {MPI_ERR_COMM, "MPI_ERR_COMM: invalid communicator"},
    {MPI_ERR_RANK, "MPI_ERR_RANK: invalid rank"},
    {MPI_ERR_REQUEST, "MPI_ERR_REQUEST: invalid request"},
    {MPI_ERR_ROOT, "MPI_ERR_ROOT: invalid root"},
    {MPI_ERR_GROUP, "MPI_ERR_GROUP: invalid group"},
    {MPI_ERR_OP, "MPI_ERR_OP: invalid operation"},
    {MPI_ERR_TOPOLOGY, "MPI_ERR_TOPOLOGY: invalid topology"},
    {MPI_ERR_DIMS, "MPI_ERR_DIMS: invalid dimensions"},
    {MPI_ERR_ARG, "MPI_ERR_ARG: invalid argument"},
    {MPI_ERR_UNKNOWN, "MPI_ERR_UNKNOWN: unknown error"},
    {MPI_ERR_TRUNCATE, "MPI_ERR_TRUNCATE: the message is longer than the buffer"},
    {MPI_ERR_OTHER, "MPI_ERR_OTHER: an error that has no class of its own"},
    {MPI_ERR_INTERN, "MPI_ERR_INTERN: an error inside dlrt"},
    {MPI_ERR_PENDING, "MPI_ERR_PENDING: the request is not complete"},
    {MPI_ERR_IN_STATUS, "MPI_ERR_IN_STATUS: see the errors in the statuses"},
    {MPI_ERR_ACCESS, "MPI_ERR_ACCESS: permission denied"},
    {MPI_ERR_AMODE, "MPI_ERR_AMODE: invalid mode of a file"},
    {MPI_ERR_ASSERT, "MPI_ERR_ASSERT: invalid assertion"},
    {MPI_ERR_BAD_FILE, "MPI_ERR_BAD_FILE: invalid name of a file"},
    {MPI_ERR_BASE, "MPI_ERR_BASE: invalid base"},
    {MPI_ERR_CONVERSION, "MPI_ERR_CONVERSION: a function that converts data failed"},
    {MPI_ERR_DISP, "MPI_ERR_DISP: invalid displacement"},
    {MPI_ERR_DUP_DATAREP, "MPI_ERR_DUP_DATAREP: the data representation is there already"},
    {MPI_ERR_FILE_EXISTS, "MPI_ERR_FILE_EXISTS: the file exists"},
    {MPI_ERR_FILE_IN_USE, "MPI_ERR_FILE_IN_USE: the file is in use"},
    {MPI_ERR_FILE, "MPI_ERR_FILE: invalid file handle"},
    {MPI_ERR_INFO_KEY, "MPI_ERR_INFO_KEY: invalid key of an info object"},
    {MPI_ERR_INFO_NOKEY, "MPI_ERR_INFO_NOKEY: the info object has no such key"},
    {MPI_ERR_INFO_VALUE, "MPI_ERR_INFO_VALUE: invalid value in an info object"},
    {MPI_ERR_INFO, "MPI_ERR_INFO: invalid info object"},
    {MPI_ERR_IO, "MPI_ERR_IO: an input or output operation failed"},
    {MPI_ERR_KEYVAL, "MPI_ERR_KEYVAL: invalid key of an attribute"},
    {MPI_ERR_LOCKTYPE, "MPI_ERR_LOCKTYPE: invalid kind of lock"},
    {MPI_ERR_NAME, "MPI_ERR_NAME: no service of that name"},
    {MPI_ERR_NO_MEM, "MPI_ERR_NO_MEM: no memory"},
    {MPI_ERR_NOT_SAME, "MPI_ERR_NOT_SAME: ranks gave different arguments"},
    {MPI_ERR_NO_SPACE, "MPI_ERR_NO_SPACE: no space"},
    {MPI_ERR_NO_SUCH_FILE, "MPI_ERR_NO_SUCH_FILE: no such file"},
    {MPI_ERR_PORT, "MPI_ERR_PORT: invalid port"},
    {MPI_ERR_QUOTA, "MPI_ERR_QUOTA: quota exceeded"},
    {MPI_ERR_READ_ONLY, "MPI_ERR_READ_ONLY: read-only file or file system"},
    {MPI_ERR_RMA_ATTACH, "MPI_ERR_RMA_ATTACH: the memory can't be attached"},
    {MPI_ERR_RMA_CONFLICT, "MPI_ERR_RMA_CONFLICT: conflicting accesses to a window"},
    {MPI_ERR_RMA_RANGE, "MPI_ERR_RMA_RANGE: the target's memory is not in the window"},
    {MPI_ERR_RMA_SHARED, "MPI_ERR_RMA_SHARED: the memory can't be shared"},
    {MPI_ERR_RMA_SYNC, "MPI_ERR_RMA_SYNC: wrong synchronisation of a window"},
    {MPI_ERR_SERVICE, "MPI_ERR_SERVICE: the name is not published"},
    {MPI_ERR_SIZE, "MPI_ERR_SIZE: invalid size"},
    {MPI_ERR_SPAWN, "MPI_ERR_SPAWN: processes could not be started"},
    {MPI_ERR_UNSUPPORTED_DATAREP, "MPI_ERR_UNSUPPORTED_DATAREP: unknown data representation"},
    {MPI_ERR_UNSUPPORTED_OPERATION, "MPI_ERR_UNSUPPORTED_OPERATION: not supported"},
    {MPI_ERR_WIN, "MPI_ERR_WIN: invalid window"},
    {MPI_ERR_RMA_FLAVOR, "MPI_ERR_RMA_FLAVOR: wrong kind of window"},
    {MPI_ERR_PROC_ABORTED, "MPI_ERR_PROC_ABORTED: a rank that is needed has ended"},
    {MPI_ERR_VALUE_TOO_LARGE, "MPI_ERR_VALUE_TOO_LARGE: the value doesn't fit the parameter"},
    {MPI_ERR_SESSION, "MPI_ERR_SESSION: invalid session"},
    {MPI_ERR_ERRHANDLER, "MPI_ERR_ERRHANDLER: invalid error handler"},
    {MPI_ERR_ABI, "MPI_ERR_ABI: not in this ABI"},
};
static_assert(std::size(class_texts) == MPI_ERR_ABI + 1);

constexpr bool is_of_tools(int code) {
    return code >= MPI_T_ERR_CANNOT_INIT && code <= MPI_T_ERR_PVAR_NO_ATOMIC;
}

}  // namespace

struct ErrorCodes::Inside {
    struct Entry {
        int error_class;
        bool is_class;
        std::string text;
    };
    std::mutex mutex;
    std::map<int, Entry> entries;
    int next = first_own;
    int last_used = MPI_ERR_LASTCODE;
};

ErrorCodes::ErrorCodes() : inside_(new Inside) {
}

ErrorCodes& ErrorCodes::get() {
    static ErrorCodes* const codes = new ErrorCodes;
    return *codes;
}

int ErrorCodes::add_class() {
    const std::scoped_lock guard(inside_->mutex);
    const int number = inside_->next++;
    inside_->entries[number] = {number, true, {}};
    inside_->last_used = number;
    return number;
}

int ErrorCodes::add_code(int error_class) {
    const std::scoped_lock guard(inside_->mutex);
    const int number = inside_->next++;
    inside_->entries[number] = {error_class, false, {}};
    inside_->last_used = number;
    return number;
}

bool ErrorCodes::set_text(int code, std::string text) {
    const std::scoped_lock guard(inside_->mutex);
    const auto found = inside_->entries.find(code);
    if (found == inside_->entries.end()) return false;
    found->second.text = std::move(text);
    return true;
}

bool ErrorCodes::remove_class(int error_class) {
    const std::scoped_lock guard(inside_->mutex);
    const auto found = inside_->entries.find(error_class);
    if (found == inside_->entries.end() || !found->second.is_class) return false;
    if (!found->second.text.empty()) return false;
    for (const auto& [number, entry] : inside_->entries) {
        if (!entry.is_class && entry.error_class == error_class) return false;
    }
    inside_->entries.erase(found);
    return true;
}

bool ErrorCodes::remove_code(int code) {
    const std::scoped_lock guard(inside_->mutex);
    const auto found = inside_->entries.find(code);
    if (found == inside_->entries.end() || found->second.is_class) return false;
    if (!found->second.text.empty()) return false;
    inside_->entries.erase(found);
    return true;
}

bool ErrorCodes::remove_text(int code) {
    const std::scoped_lock guard(inside_->mutex);
    const auto found = inside_->entries.find(code);
    if (found == inside_->entries.end() || found->second.text.empty()) return false;
    found->second.text.clear();
    return true;
}

int ErrorCodes::class_of_code(int code) const {
    if (code >= 0 && code <= MPI_ERR_ABI) return code;
    if (is_of_tools(code)) return code;
    const std::scoped_lock guard(inside_->mutex);
    const auto found = inside_->entries.find(code);
    return found != inside_->entries.end() ? found->second.error_class : -1;
}

std::string ErrorCodes::text(int code) const {
    if (code >= 0 && code <= MPI_ERR_ABI) return std::string(class_texts[code].text);
    if (is_of_tools(code)) return "an error of the MPI_T interface";
    const std::scoped_lock guard(inside_->mutex);
    const auto found = inside_->entries.find(code);
    return found != inside_->entries.end() ? found->second.text : std::string();
}

int* ErrorCodes::last_used() const {
    return &inside_->last_used;
}

std::string text_of_error(int code) {
    const std::string text = ErrorCodes::get().text(code);
    return text.empty() ? "error code " + std::to_string(code) : text;
}

}  // namespace dlrt::mpi
