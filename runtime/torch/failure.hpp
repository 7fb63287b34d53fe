// SPDX-License-Identifier: Apache-2.0
/// Errors of dlrt as exceptions, which is how torch reports. A value; any thread.
#pragma once

#include "dlrt.h"

#include <stdexcept>
#include <string>

namespace dlrt_torch {

class Failure : public std::runtime_error {
  public:
    Failure(dlrt_err code, const std::string& text) : std::runtime_error(text), code_(code) {}
    [[nodiscard]] dlrt_err code() const { return code_; }

  private:
    dlrt_err code_;
};

/// Throws what dlrt says of the calling thread's last call, with what was being done before it.
inline void require(dlrt_err outcome, const std::string& doing) {
    if (outcome != DLRT_OK) throw Failure(outcome, doing + ": " + dlrt_last_error());
}

}  // namespace dlrt_torch
