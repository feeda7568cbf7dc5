// From a file to a loaded trace: the work of a background job, without Qt.
#pragma once

#include "gui/loader/loaded_trace.h"

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace lastref::gui {

enum class load_stage : std::uint8_t { reading, looking_up_symbols };

struct load_request {
    std::string path;
    std::vector<std::string> suppressions;  // files
};

class load_cancelled : public std::exception {
  public:
    char const* what() const noexcept override { return "cancelled"; }
};

// Told of the progress, 0 to 1 in each stage, every few thousand events; returns whether to go on.
using load_watch = std::function<bool(load_stage, double share)>;

// Reads the trace and everything that is shown of it. Never writes into it. Throws store::error (missing, foreign,
// damaged, too new), gate::input_error (a file of suppressions) and load_cancelled.
trace_pointer load(load_request const& request, load_watch const& watch);

}  // namespace lastref::gui
