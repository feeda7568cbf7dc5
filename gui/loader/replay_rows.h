// What the program's own clean-ups did, beside what the reference queue would have made of the same callbacks: rows of
// the command line's `lastref replay`, for a page.
#pragma once

#include "gui/loader/loaded_trace.h"

#include <string>
#include <vector>

namespace lastref::gui {

struct replay_row {
    std::string process;  // empty where there is only one
    std::string what;     // "waiting at one time, most"
    std::string observed, reference;
};

// Reads the trace once more: for background jobs. None where no payload's destructor ran. Throws store::error, and
// scenes::cancelled where `go_on` says so.
std::vector<replay_row> replay_rows(loaded_trace const& trace, scenes::watch const& go_on);

}  // namespace lastref::gui
