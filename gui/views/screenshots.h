// Pictures of every page, for documentation and for looking at: made without a screen too (QT_QPA_PLATFORM=offscreen).
#pragma once

#include <QSize>
#include <QString>

namespace lastref::gui {

class main_window;

// Writes NUMBER-PAGE.png of each page into `folder`, which is made; the window must have a trace open. Returns how many
// were written.
int write_screenshots(main_window& window, QString const& folder);

}  // namespace lastref::gui
