// What the driver does for tools: it loads the library that CUDA_INJECTION64_PATH names inside the first cuInit, and
// tells whoever watches (the simulated CUPTI beside it) of every call.
#pragma once

#include "tests/simdriver/abi/cuda_abi.h"
#include "tests/simdriver/abi/symbols.h"

namespace lastref::simdriver::tools {

// Calls InitializeInjection of the named library, once in a process; without any harm where there is none.
void load_injected();

// Around a call: from its construction to `returned`, whether or not anybody watches.
class watched_call {
  public:
    explicit watched_call(symbol_id id);
    CUresult returned(CUresult result) const;

  private:
    symbol_id id_;
};

}  // namespace lastref::simdriver::tools
