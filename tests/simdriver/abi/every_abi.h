// Makes one SIMDRIVER_ABI(name, symbol, streams, (parameters), (arguments)) per exported symbol, hooked or not, with
// `streams` = none | legacy | per_thread. Define it before including this file, which undefines it.
#ifndef SIMDRIVER_ABI
#error "define SIMDRIVER_ABI before including every_abi.h"
#endif

#define LASTREF_ABI(name, symbol, streams, kind, style, parameters, arguments, ...) \
    SIMDRIVER_ABI(name, symbol, streams, parameters, arguments)
#include "collector/preload/hooks/expand.h"

#define SIMDRIVER_OTHER_ABI(name, symbol, streams, parameters, arguments) \
    SIMDRIVER_ABI(name, symbol, streams, parameters, arguments)
#include "other_abi.h"

#undef SIMDRIVER_ABI
