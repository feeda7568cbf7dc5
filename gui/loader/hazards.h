// Findings about order: which there are, and the lanes of one.
#pragma once

#include "gui/loader/loaded_trace.h"
#include "gui/scenes/hazard.h"

#include <vector>

namespace lastref::gui {

std::vector<std::size_t> findings_about_order(loaded_trace const& trace);

// Reads the events between the finding's sites, from a file that is opened anew: for background jobs. Null where
// there is nothing to draw. Throws store::error, and scenes::cancelled where `go_on` says so.
std::shared_ptr<scenes::hazard const> lanes_of(loaded_trace const& trace, std::size_t finding,
                                               scenes::watch const& go_on);

}  // namespace lastref::gui
