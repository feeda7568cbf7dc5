#include "tests/simdriver/control.h"

#include <string>

#include "tests/simdriver/abi/exports.h"
#include "tests/simdriver/core/driver.h"

using namespace lastref::simdriver;

int lastref_simdriver_set(char const* name, char const* value) {
    driver_state& state = driver();
    std::lock_guard const held(state.lock);
    if (!change_setting(state.set, name ? name : "", value)) return 1;
    state.work.configure(state.set.callback, state.set.seed);
    state.calls.clear();
    return 0;
}

char const* lastref_simdriver_symbol(unsigned index, int* known) {
    if (index >= symbol_count) return nullptr;
    *known = has_behaviour(static_cast<symbol_id>(index));
    return symbol_table[index].symbol;
}
