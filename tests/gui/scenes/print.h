// Scenes as text, for goldens and for failing tests.
#pragma once

#include "gui/scenes/timeline.h"

#include <string>

namespace lastref::test {

std::string text_of(gui::scenes::call_timeline const& scene);

}  // namespace lastref::test
