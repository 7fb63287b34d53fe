// SPDX-License-Identifier: Apache-2.0
/// Chapter: error handlers, classes and codes.
#include "runtime/mpi/surface.hpp"
#include "runtime/mpi/text_result.hpp"

#include <mpi_functions.hpp>

namespace dlrt::mpi {
namespace {

int create_handler(const char* function, ErrorHandler handler, MPI_Errhandler* result) {
    const Site site(function, Site::Time::any);
    if (const int wrong = site.require(result, "errhandler")) return site.raise(wrong);
    const int wrong = site.give(std::make_shared<const ErrorHandler>(handler), result);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

int create_unused_handler(
    const char* function, ErrorHandler::Kind kind, bool has_function, MPI_Errhandler* result
) {
    const Site site(function, Site::Time::any);
    if (!has_function) return site.raise(MPI_ERR_ARG, "the function is null");
    return create_handler(function, {kind, nullptr}, result);
}

}  // namespace

int MPI_Comm_create_errhandler(MPI_Comm_errhandler_function* function, MPI_Errhandler* result) {
    constexpr const char* name = "MPI_Comm_create_errhandler";
    const Site site(name, Site::Time::any);
    if (function == nullptr) return site.raise(MPI_ERR_ARG, "the function is null");
    return create_handler(name, {ErrorHandler::Kind::comm, function}, result);
}

int MPI_File_create_errhandler(MPI_File_errhandler_function* function, MPI_Errhandler* result) {
    return create_unused_handler(
        "MPI_File_create_errhandler", ErrorHandler::Kind::file, function != nullptr, result
    );
}

int MPI_Session_create_errhandler(
    MPI_Session_errhandler_function* function, MPI_Errhandler* result
) {
    return create_unused_handler(
        "MPI_Session_create_errhandler", ErrorHandler::Kind::session, function != nullptr, result
    );
}

int MPI_Win_create_errhandler(MPI_Win_errhandler_function* function, MPI_Errhandler* result) {
    return create_unused_handler(
        "MPI_Win_create_errhandler", ErrorHandler::Kind::window, function != nullptr, result
    );
}

int MPI_Errhandler_free(MPI_Errhandler* errhandler) {
    const Site site("MPI_Errhandler_free", Site::Time::any);
    if (const int wrong = site.require(errhandler, "errhandler")) return site.raise(wrong);
    ErrorHandlerRef found;
    if (const int wrong = site.use(*errhandler, found)) return site.raise(wrong);
    // MPI_Comm_get_errhandler gives predefined ones too, and whoever got one has to free it.
    if (!is_always_there(*errhandler)) {
        static_cast<void>(site.surface().error_handlers.remove(to_handle(*errhandler)));
    }
    *errhandler = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
}

namespace {

/// Also one whose MPI_Comm_idup isn't complete.
CommRef find_comm(const Site& site, MPI_Comm comm) {
    CommRef found = site.surface().share(comm);
    if (found == nullptr) {
        static_cast<void>(site.bad(MPI_ERR_COMM, "comm is null, freed or never was a communicator")
        );
    }
    return found;
}

}  // namespace

int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
    const Site site("MPI_Comm_set_errhandler");
    if (!site.ok()) return site.error();
    const CommRef found = find_comm(site, comm);
    if (found == nullptr) return site.raise(MPI_ERR_COMM);
    ErrorHandlerRef handler;
    if (const int wrong = site.use(errhandler, handler)) return site.raise(wrong);
    if (!handler->is_for_comm()) {
        return site.raise(MPI_ERR_ERRHANDLER, "errhandler is for objects other than communicators");
    }
    found->error_handler = std::move(handler);
    return MPI_SUCCESS;
}

int MPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* errhandler) {
    const Site site("MPI_Comm_get_errhandler");
    if (!site.ok()) return site.error();
    if (const int wrong = site.require(errhandler, "errhandler")) return site.raise(wrong);
    const CommRef found = find_comm(site, comm);
    if (found == nullptr) return site.raise(MPI_ERR_COMM);
    const ErrorHandlerRef& handler = found->error_handler;
    for (MPI_Errhandler known : {MPI_ERRORS_ARE_FATAL, MPI_ERRORS_ABORT, MPI_ERRORS_RETURN}) {
        if (predefined_handler(known) != handler) continue;
        *errhandler = known;
        return MPI_SUCCESS;
    }
    const int wrong = site.give(handler, errhandler);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

int MPI_Comm_call_errhandler(MPI_Comm comm, int errorcode) {
    const Site site("MPI_Comm_call_errhandler", comm);
    if (!site.ok()) return site.error();
    if (ErrorCodes::get().class_of_code(errorcode) < 0) {
        return site.raise(MPI_ERR_ARG, "{} is no error code", errorcode);
    }
    static_cast<void>(site.raise(errorcode, "the program calls the handler"));
    return MPI_SUCCESS;
}

int MPI_Error_class(int errorcode, int* errorclass) {
    const Site site("MPI_Error_class", Site::Time::any);
    if (const int wrong = site.require(errorclass, "errorclass")) return site.raise(wrong);
    const int found = ErrorCodes::get().class_of_code(errorcode);
    if (found < 0) return site.raise(MPI_ERR_ARG, "{} is no error code", errorcode);
    *errorclass = found;
    return MPI_SUCCESS;
}

int MPI_Error_string(int errorcode, char* string, int* resultlen) {
    const Site site("MPI_Error_string", Site::Time::any);
    if (const int wrong = site.require(string, "string")) return site.raise(wrong);
    if (const int wrong = site.require(resultlen, "resultlen")) return site.raise(wrong);
    if (ErrorCodes::get().class_of_code(errorcode) < 0) {
        return site.raise(MPI_ERR_ARG, "{} is no error code", errorcode);
    }
    write_text(ErrorCodes::get().text(errorcode), MPI_MAX_ERROR_STRING, string, resultlen);
    return MPI_SUCCESS;
}

int MPI_Add_error_class(int* errorclass) {
    const Site site("MPI_Add_error_class", Site::Time::any);
    if (const int wrong = site.require(errorclass, "errorclass")) return site.raise(wrong);
    *errorclass = ErrorCodes::get().add_class();
    return MPI_SUCCESS;
}

int MPI_Add_error_code(int errorclass, int* errorcode) {
    const Site site("MPI_Add_error_code", Site::Time::any);
    if (const int wrong = site.require(errorcode, "errorcode")) return site.raise(wrong);
    if (ErrorCodes::get().class_of_code(errorclass) != errorclass) {
        return site.raise(MPI_ERR_ARG, "{} is no error class", errorclass);
    }
    *errorcode = ErrorCodes::get().add_code(errorclass);
    return MPI_SUCCESS;
}

int MPI_Add_error_string(int errorcode, const char* string) {
    const Site site("MPI_Add_error_string", Site::Time::any);
    if (const int wrong = site.require(string, "string")) return site.raise(wrong);
    const std::string text(string);
    if (text.size() >= MPI_MAX_ERROR_STRING) {
        return site.raise(
            MPI_ERR_ARG, "string has {} characters; at most {}", text.size(),
            MPI_MAX_ERROR_STRING - 1
        );
    }
    if (ErrorCodes::get().set_text(errorcode, text)) return MPI_SUCCESS;
    return site.raise(MPI_ERR_ARG, "{} is no error code of the program's", errorcode);
}

int MPI_Remove_error_class(int errorclass) {
    const Site site("MPI_Remove_error_class", Site::Time::any);
    if (ErrorCodes::get().remove_class(errorclass)) return MPI_SUCCESS;
    return site.raise(
        MPI_ERR_ARG, "{} is no error class of the program's, or has a text or codes left",
        errorclass
    );
}

int MPI_Remove_error_code(int errorcode) {
    const Site site("MPI_Remove_error_code", Site::Time::any);
    if (ErrorCodes::get().remove_code(errorcode)) return MPI_SUCCESS;
    return site.raise(
        MPI_ERR_ARG, "{} is no error code of the program's, or has a text left", errorcode
    );
}

int MPI_Remove_error_string(int errorcode) {
    const Site site("MPI_Remove_error_string", Site::Time::any);
    if (ErrorCodes::get().remove_text(errorcode)) return MPI_SUCCESS;
    return site.raise(MPI_ERR_ARG, "{} has no text of the program's", errorcode);
}

}  // namespace dlrt::mpi
