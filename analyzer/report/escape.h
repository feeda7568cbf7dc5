// Names in a trace come from programs: what could steer a terminal or mislead the eye is shown, not obeyed.
#pragma once

#include <string>
#include <string_view>

namespace lastref::report {

// Control characters (C0, DEL, C1), bidirectional overrides, line separators and bytes that are no UTF-8 as \n, \x1b,
// \u202e; all else unchanged.
std::string escaped(std::string_view text);

}  // namespace lastref::report
