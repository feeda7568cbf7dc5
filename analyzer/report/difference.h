// Two recordings side by side, for people and for programs.
#pragma once

#include "analyzer/gate/difference.h"
#include "analyzer/report/render.h"

#include <string>

namespace lastref::report {

std::string render_difference_text(gate::difference const& d, style const& how);
std::string render_difference_json(gate::difference const& d);

}  // namespace lastref::report
