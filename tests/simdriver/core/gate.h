// What every call passes before its behaviour runs: teardown, forked child, callback, initialisation, injected failure,
// lock.
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

    // CUDA_SUCCESS when the behaviour may run.
    CUresult refusal() const { return refusal_; }
    call const& context() const { return *context_; }

  private:
    CUresult refusal_;
    std::unique_lock<std::mutex> lock_;
    std::optional<call> context_;
};

}  // namespace lastref::simdriver
