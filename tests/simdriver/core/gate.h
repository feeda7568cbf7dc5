// What every call passes before its behaviour runs: teardown, forked child, callback, initialisation, injected failure,
// lock; and after it: the destructors of user objects whose last reference the call has released.
#pragma once

#include <mutex>
#include <optional>

#include "tests/simdriver/abi/cuda_abi.h"
#include "tests/simdriver/abi/symbols.h"
#include "tests/simdriver/core/call.h"

namespace lastref::simdriver {

class gate {
  public:
    explicit gate(symbol_id id);
    gate(gate const&) = delete;
    gate& operator=(gate const&) = delete;
    ~gate();

    // Whether the behaviour may run; otherwise answer() is what the call returns.
    bool open() const { return !answer_; }
    CUresult answer() const { return *answer_; }
    call const& context() const { return *context_; }

  private:
    std::optional<CUresult> answer_;
    std::unique_lock<std::mutex> lock_;
    std::optional<call> context_;
};

}  // namespace lastref::simdriver
