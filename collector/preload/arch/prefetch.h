// Asking for a cache line ahead of a store to it.
#pragma once

#if defined(__x86_64__)
#include "collector/preload/arch/x86_64/prefetch.h"
#else
#error "collector/preload/arch: add a folder for this processor"
#endif
