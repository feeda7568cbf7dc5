// Call stacks as people want to read them: the program's own frames, and of all else only what leads there.
#pragma once

#include "analyzer/findings/code_owner.h"
#include "analyzer/report/render.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lastref::report {

// Names are as they were; renderers escape them.
struct stack_line {
    std::string function;
    std::string place;
    std::string module;
    std::string path;  // of the module, empty where there is none
    std::string file;  // of the source
    findings::code_owner owner = findings::code_owner::unknown;
    bool python = false;
};

struct stack_entry {
    std::optional<stack_line> line;
    std::string instead;  // where there is no line: what stands for the frames left out
};

std::string_view base_name(std::string_view path);

// Innermost first. Runs of frames of libraries are folded, but for the one that the program called; the program's own
// are all there, up to a limit. What analyzer/findings/noise.txt lists is always folded: it says how a library does
// what it was called for. With `in.all_frames` all are there.
std::vector<stack_entry> stack_entries(input const& in, findings::site const& site);

}  // namespace lastref::report
