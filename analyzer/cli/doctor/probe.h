// What the hidden command `lastref probe` does: the part of `doctor` that may crash or hang, since it loads what it
// finds. It prints lines "name=value".
#pragma once

#include <string>

namespace lastref::cli::doctor {

// "driver", "cupti", "collector"; returns the exit status.
int probe(std::string const& subject);

}  // namespace lastref::cli::doctor
