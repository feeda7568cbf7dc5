// What the unwinder must know of the processor.
#pragma once

#if defined(__x86_64__)
#include "collector/preload/arch/x86_64/frame.h"
#else
#error "collector/preload/arch: add a folder for this processor"
#endif
