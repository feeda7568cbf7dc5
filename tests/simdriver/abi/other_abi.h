// Makes one SIMDRIVER_OTHER_ABI(name, symbol, streams, (parameters), (arguments)) per exported symbol that lastref does
// not hook. Define it before including this file, which undefines it.
#ifndef SIMDRIVER_OTHER_ABI
#error "define SIMDRIVER_OTHER_ABI before including other_abi.h"
#endif

// clang-format off
#define LASTREF_API(name, version, streams, kind, style, parameters, arguments) SIMDRIVER_API_##streams(name, name##version, parameters, arguments)
#define SIMDRIVER_API_NONE(name, symbol, parameters, arguments) SIMDRIVER_OTHER_ABI(name, symbol, none, parameters, arguments)
#define SIMDRIVER_API_PTSZ(name, symbol, parameters, arguments) \
    SIMDRIVER_OTHER_ABI(name, symbol, legacy, parameters, arguments) \
    SIMDRIVER_OTHER_ABI(name, symbol##_ptsz, per_thread, parameters, arguments)
// clang-format on
#include "other_api.def"

#undef LASTREF_API
#undef SIMDRIVER_API_NONE
#undef SIMDRIVER_API_PTSZ
#undef SIMDRIVER_OTHER_ABI
