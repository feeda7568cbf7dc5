// liblastref.so as a tool of NVTX 3, and the other tool that may be there already.
//
// Three ways in. Where no tool is named, the environment names this library (NVTX_INJECTION64_PATH). Where another one
// is named, its initialization function, which NVTX asks dlsym for, is found to be ours, which hands on to it. And
// NVTX's weak pointer to a tool that is linked in (InitializeInjectionNvtx2_fnptr) is ours in libraries.
#pragma once

#include "collector/nvtx/abi.h"

namespace lastref::nvtx {

// Names this library as the tool if none is named. Once, when it is loaded, where it may record at all.
void prepare();

// Is this the name by which NVTX asks a tool for its initialization function?
bool is_initialization(char const* name);

// What the program gets instead of `real`, another tool's initialization function: ours, which calls it first; or
// `real` itself where a third tool turns up.
void* chained(void* real);

}  // namespace lastref::nvtx

extern "C" {
// What NVTX calls, once for each object that was compiled with its headers. 0 is a refusal.
int InitializeInjectionNvtx2(lastref::nvtx::abi::get_export_table get_table);
extern lastref::nvtx::abi::initialize InitializeInjectionNvtx2_fnptr;
}
