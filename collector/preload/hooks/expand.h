// Turns each line of driver_api.def into one LASTREF_ABI per exported symbol. Define
//
//   LASTREF_ABI(name, symbol, streams, kind, style, (parameters), (arguments), captures...)
//
// (the captures last and variadic: their macros may expand to commas) with `streams` = none | legacy | per_thread, then
// include this file. It undefines everything that it uses.
#ifndef LASTREF_ABI
#error "define LASTREF_ABI before including expand.h"
#endif

#define LASTREF_API(name, version, streams, ...) LASTREF_API_##streams(name, name##version, __VA_ARGS__)
#define LASTREF_API_NONE(name, symbol, ...) LASTREF_ABI(name, symbol, none, __VA_ARGS__)
#define LASTREF_API_LEGACY(name, symbol, ...) LASTREF_ABI(name, symbol, legacy, __VA_ARGS__)
#define LASTREF_API_PTSZ(name, symbol, ...)        \
    LASTREF_ABI(name, symbol, legacy, __VA_ARGS__) \
    LASTREF_ABI(name, symbol##_ptsz, per_thread, __VA_ARGS__)
#define LASTREF_API_PTDS(name, symbol, ...)        \
    LASTREF_ABI(name, symbol, legacy, __VA_ARGS__) \
    LASTREF_ABI(name, symbol##_ptds, per_thread, __VA_ARGS__)

#include "driver_api.def"

#undef LASTREF_API
#undef LASTREF_API_NONE
#undef LASTREF_API_LEGACY
#undef LASTREF_API_PTSZ
#undef LASTREF_API_PTDS
#undef LASTREF_ABI
