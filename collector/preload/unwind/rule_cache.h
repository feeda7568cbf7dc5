// The rules found so far, by program counter, for all threads of the process. No lock, no heap; a reader sees a whole
// entry or none, a writer that meets another one gives up.
#pragma once

#include <cstdint>

#include "collector/preload/unwind/eh_frame.h"

namespace lastref::unwind::rule_cache {

// The entry of `pc`, if there is one: whoever uses it must see that it is still proved.
bool find(std::uintptr_t pc, proved_rule& found);

// Takes the place of an older entry if it must. A rule without proof is not kept.
void keep(std::uintptr_t pc, proved_rule const& made);

// For tests and measurements.
void clear();

}  // namespace lastref::unwind::rule_cache
