// What a program's deferred clean-ups did beside what the reference queue would have done, for people and for programs.
#pragma once

#include "analyzer/replay/replay.h"

#include <string>

namespace lastref::report {

std::string render_replay_text(store::trace const& trace, replay::outcome const& what, replay::consumer who);
std::string render_replay_json(store::trace const& trace, replay::outcome const& what, replay::consumer who);

}  // namespace lastref::report
