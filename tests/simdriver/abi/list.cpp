// What `simdriver-list` asks for: the completeness of the simulated driver, from inside it.
#include "tests/simdriver/abi/exports.h"

extern "C" __attribute__((visibility("default"))) char const* lastref_simdriver_symbol(unsigned index,
                                                                                       int* has_behaviour);

// The symbol with this number and whether it has behaviour; null past the last one.
char const* lastref_simdriver_symbol(unsigned index, int* has_behaviour) {
    using namespace lastref::simdriver;
    if (index >= symbol_count) return nullptr;
    *has_behaviour = lastref::simdriver::has_behaviour(static_cast<symbol_id>(index));
    return symbol_table[index].symbol;
}
