// The exported symbols of the simulated driver, made from the tables: each passes the gate that is common to all calls
// and goes on to its behaviour in api/.
#include "tests/simdriver/abi/exports.h"
#include "tests/simdriver/abi/api.h"
#include "tests/simdriver/core/gate.h"
#include "tests/simdriver/core/tools.h"

namespace lastref::simdriver {
namespace {

template <class... Parameters>
CUresult pass_gate(symbol_id id, CUresult (*behaviour)(call const&, Parameters...), Parameters... arguments) {
    gate entry(id);
    if (!entry.open()) return entry.answer();
    if (!behaviour) return CUDA_ERROR_NOT_SUPPORTED;
    return behaviour(entry.context(), arguments...);
}

template <class... Parameters>
CUresult enter(symbol_id id, CUresult (*behaviour)(call const&, Parameters...),
               std::type_identity_t<Parameters>... arguments) {
    tools::watched_call const watched(id);
    if (id == symbol_id::cuInit) tools::load_injected();
    return watched.returned(pass_gate<Parameters...>(id, behaviour, arguments...));
}

}  // namespace
}  // namespace lastref::simdriver

#define SIMDRIVER_BEHAVIOUR(name, parameters) \
    static_cast<lastref::simdriver::with_call<CUresult parameters>::type*>(&lastref::simdriver::api::name)
#define SIMDRIVER_COMMA_ARGUMENTS(...) __VA_OPT__(, ) __VA_ARGS__

#define SIMDRIVER_ABI(name, symbol, streams, parameters, arguments)                                                  \
    extern "C" __attribute__((visibility("default"))) CUresult symbol parameters {                                   \
        return lastref::simdriver::enter(lastref::simdriver::symbol_id::symbol,                                      \
                                         SIMDRIVER_BEHAVIOUR(name, parameters) SIMDRIVER_COMMA_ARGUMENTS arguments); \
    }
#include "tests/simdriver/abi/every_abi.h"

namespace lastref::simdriver {

void* exported_address(symbol_id id) {
    static void* const addresses[] = {
#define SIMDRIVER_ABI(name, symbol, streams, parameters, arguments) reinterpret_cast<void*>(&::symbol),
#include "tests/simdriver/abi/every_abi.h"
    };
    return addresses[static_cast<std::size_t>(id)];
}

bool has_behaviour(symbol_id id) {
    static bool const known[] = {
#define SIMDRIVER_ABI(name, symbol, streams, parameters, arguments) SIMDRIVER_BEHAVIOUR(name, parameters) != nullptr,
#include "tests/simdriver/abi/every_abi.h"
    };
    return known[static_cast<std::size_t>(id)];
}

}  // namespace lastref::simdriver
