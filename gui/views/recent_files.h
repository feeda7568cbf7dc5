// Traces that were open lately, newest first.
#pragma once

#include <QStringList>

namespace lastref::gui {

QStringList recent_files();  // those that are still there
void remember_file(QString const& path);
void forget_files();

}  // namespace lastref::gui
