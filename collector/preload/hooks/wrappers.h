// The wrappers made from driver_api.def.
#pragma once

#include "collector/preload/hooks/api_table.h"

namespace lastref::preload::hooks {
using namespace lastref::hooks;

// The exported wrapper of an ABI symbol.
void* wrapper(abi id);

}  // namespace lastref::preload::hooks
