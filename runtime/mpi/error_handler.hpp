// SPDX-License-Identifier: Apache-2.0
/// Error handlers, and what becomes of an error: the class, or a code of the caller's, goes to the
/// handler of the object that the call was about. Immutable values, shared by their users.
#pragma once

#include "runtime/base/status.hpp"

#include <memory>
#include <mpi.h>
#include <string>

namespace dlrt::mpi {

struct ErrorHandler {
    enum class Kind : std::uint8_t { fatal, abort, returns, comm, file, session, window };
    Kind kind = Kind::fatal;
    MPI_Comm_errhandler_function* function = nullptr;  ///< Of Kind::comm.
    [[nodiscard]] bool is_for_comm() const { return kind <= Kind::comm; }
};
using ErrorHandlerRef = std::shared_ptr<const ErrorHandler>;

/// The predefined ones; null for another handle.
[[nodiscard]] const ErrorHandlerRef& predefined_handler(MPI_Errhandler handle);

/// The class of MPI for an error of the core.
[[nodiscard]] int class_of(Errc code);
[[nodiscard]] inline int class_of(Status status) {
    return status.ok() ? MPI_SUCCESS : class_of(status.code);
}

/// "MPI_ERR_RANK: ..." of a class, or the caller's text of a code; empty for no such one.
[[nodiscard]] std::string text_of_error(int code);

/// Classes, codes and texts that the caller adds. Any thread.
class ErrorCodes {
  public:
    static constexpr int first_own = MPI_ERR_LASTCODE + 1;
    [[nodiscard]] int add_class();
    [[nodiscard]] int add_code(int error_class);
    /// False for no code of the caller's.
    [[nodiscard]] bool set_text(int code, std::string text);
    [[nodiscard]] bool remove_class(int error_class);
    [[nodiscard]] bool remove_code(int code);
    [[nodiscard]] bool remove_text(int code);
    /// Also of the standard's; -1 for none.
    [[nodiscard]] int class_of_code(int code) const;
    [[nodiscard]] std::string text(int code) const;
    /// The value of the attribute MPI_LASTUSEDCODE.
    [[nodiscard]] int* last_used() const;
    [[nodiscard]] static ErrorCodes& get();

  private:
    ErrorCodes();
    struct Inside;
    Inside* inside_;  ///< Never destroyed: errors may come at any time.
};

}  // namespace dlrt::mpi
