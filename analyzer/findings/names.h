// Names for the stacks of findings, for those who render them.
#pragma once

#include "analyzer/symbols/stacks.h"

#include <string_view>

namespace lastref::findings {

using symbols::named_frame;
using symbols::named_stack;
using symbols::stacks;
using symbols::symbol;

// What to say of a frame whose file cannot name it; empty where nothing is the matter.
inline std::string_view trouble_with(named_frame const& frame) {
    switch (frame.state) {
        case symbols::source_state::other_build:
            return "rebuilt since: other build id";
        case symbols::source_state::missing:
            return "file not there";
        case symbols::source_state::unreadable:
            return "no ELF file";
        case symbols::source_state::found:
            break;
    }
    return {};
}

}  // namespace lastref::findings
