// SPDX-License-Identifier: Apache-2.0
/// The two directions between head and daemon: one socket for both, or two pipes, as ssh and its
/// like give to what they start.
#pragma once

#include "runtime/base/fd.hpp"

namespace dlrt::launcher {

struct Stream {
    Fd input;
    Fd output;  ///< Not open: `input` is a socket that carries both.

    [[nodiscard]] int output_descriptor() const {
        return output.is_open() ? output.get() : input.get();
    }
};

}  // namespace dlrt::launcher
