// Marks of the NVTX domain `lastref`: the annotation protocol of docs/annotations.md.
#pragma once

#include "collector/nvtx/abi.h"
#include "collector/nvtx/names.h"

namespace lastref::nvtx {

// `message` is the mark's, resolved. What cannot be understood is counted. `frame` and `caller` are those of the
// function that the program called, for the call stack.
void annotate(abi::event_attributes const& attributes, text const& message, void* frame, void* caller);

}  // namespace lastref::nvtx
