// Opens a source file where a stack points into it.
#pragma once

#include "gui/views/html.h"

namespace lastref::gui {

// With the editor of the settings ("editor": a program and arguments with %f and %l), else with the desktop's program
// for text. The path comes from a trace: what is no text file is never opened. An empty string, or why it could not be.
QString open_source(source_place const& place);

// The editor's program and arguments; empty where none is set.
QStringList editor_command(QString const& setting, source_place const& place);

}  // namespace lastref::gui
