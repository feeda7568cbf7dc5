// Scenes as text, for goldens and for failing tests.
#pragma once

#include "gui/scenes/curves.h"
#include "gui/scenes/flame.h"
#include "gui/scenes/hazard.h"
#include "gui/scenes/holders.h"
#include "gui/scenes/shutdown.h"
#include "gui/scenes/timeline.h"

#include <string>

namespace lastref::test {

std::string text_of(gui::scenes::call_timeline const& scene);
std::string text_of(gui::scenes::chart const& scene);
std::string text_of(gui::scenes::histogram const& scene);
std::string text_of(gui::scenes::curves const& scene);
std::string text_of(gui::scenes::flame const& scene);
std::string text_of(gui::scenes::hazard const& scene);
std::string text_of(gui::scenes::payload_story const& scene);
std::string text_of(gui::scenes::payload_stories const& scene);
std::string text_of(gui::scenes::shutdown const& scene);

}  // namespace lastref::test
