// Quantities over time are the analyzer's: reports draw them, too. Here is the pass that makes them alone.
#pragma once

#include "analyzer/curves/curves.h"
#include "gui/scenes/pass.h"
#include "gui/scenes/series.h"
#include "gui/scenes/timeline.h"
#include "gui/scenes/units.h"

#include <memory>

namespace lastref::gui::scenes {

using lastref::curves::chart;
using lastref::curves::curves_builder;
using lastref::curves::histogram;
using lastref::curves::histogram_of;
using lastref::curves::queue_marks;
using curves = lastref::curves::all_curves;

std::shared_ptr<curves const> build_curves(store::trace const& trace, watch const& tell = {});

}  // namespace lastref::gui::scenes
