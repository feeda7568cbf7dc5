// Which lastref this is, and what was built into it.
#pragma once

#include <string>

namespace lastref::cli {

// "lastref 0.1.0" alone on the first line, then a line a part.
std::string version_text();

}  // namespace lastref::cli
