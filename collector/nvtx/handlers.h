// The functions that programs call through NVTX's tables. Each records what was said, then hands on to another tool's
// if there is one; its handles are then the program's.
#pragma once

#include "collector/nvtx/abi.h"

namespace lastref::nvtx::handlers {

// The places of one object's NVTX that have a handler, looked up before another tool fills them.
class places {
  public:
    explicit places(abi::callbacks_table const& callbacks);
    // Puts the handlers in. What was put there since is handed on to.
    void take();

  private:
    abi::function* at_[abi::modules][abi::most_functions];  // null: not there
    abi::function before_[abi::modules][abi::most_functions];
};

}  // namespace lastref::nvtx::handlers
