// The current context of the calling thread, known without asking the driver: a thread begins with none, and every
// entry point that changes it is hooked. (cuCtxGetCurrent would cost 14 ns a call.)
#pragma once

#include "collector/preload/driver/cuda_abi.h"
#include "collector/preload/record/ring.h"

namespace lastref::preload {

// The thread's current context is `context` from now on.
void context_is(CUcontext context);
// It changed to something that the call does not tell: the driver is asked.
void context_changed();
void context_created(CUcontext context, CUdevice device);
void context_retained(CUcontext context, CUdevice device);
void context_from_green(CUcontext context);
void context_destroyed(CUcontext context);

// LASTREF_VERIFY=1: compares what the hooks know with what the driver says.
void verify_context();

}  // namespace lastref::preload
