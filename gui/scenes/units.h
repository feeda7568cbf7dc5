// Ticks of axes are the analyzer's: reports draw them, too.
#pragma once

#include "analyzer/curves/units.h"

namespace lastref::gui::scenes {

using lastref::curves::length_text;
using lastref::curves::time_axis;
using lastref::curves::time_tick;
using lastref::curves::time_ticks;
using lastref::curves::unit;
using lastref::curves::value_text;
using lastref::curves::value_tick;
using lastref::curves::value_ticks;

}  // namespace lastref::gui::scenes
