// SPDX-License-Identifier: Apache-2.0
/// Python's lock, given back while this thread waits for another that may need it.
#pragma once

namespace dlrt_torch {

/// Also where this thread doesn't hold the lock, and where Python has ended.
class WithoutPython {
  public:
    WithoutPython();
    ~WithoutPython();
    WithoutPython(const WithoutPython&) = delete;
    WithoutPython& operator=(const WithoutPython&) = delete;

  private:
    void* state_ = nullptr;
};

}  // namespace dlrt_torch
