// Pictures of every page, for documentation and for looking at: made without a screen too (QT_QPA_PLATFORM=offscreen).
#pragma once

#include <QImage>
#include <QString>
#include <QStringList>

namespace lastref::gui {

class main_window;

// Writes NUMBER-PAGE.png of each page into `folder`, which is made; the window must have a trace open. Returns how many
// were written.
struct picture_wishes {
    QString rule;       // what belongs to its first finding is chosen on each page; empty: the first thing there is
    QStringList pages;  // only these, as the files are called: "timeline"; empty: all
};
int write_screenshots(main_window& window, QString const& folder, picture_wishes const& wishes = {});

// With at most 256 colours, as pictures of windows hardly have more: a third of the size.
QImage few_colours(QImage const& image);

}  // namespace lastref::gui
