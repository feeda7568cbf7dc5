// Quantities over time are the analyzer's: reports draw them, too.
#pragma once

#include "analyzer/curves/series.h"

namespace lastref::gui::scenes {

using lastref::curves::series;
using lastref::curves::step;
using store::time_ns;

}  // namespace lastref::gui::scenes
