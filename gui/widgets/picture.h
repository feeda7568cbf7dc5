// Pictures of widgets, as files.
#pragma once

#include <QImage>
#include <QString>

class QWidget;

namespace lastref::gui::widgets {

// As the widget looks now, at `scale` times its pixels.
QImage picture_of(QWidget& widget, double scale = 2);

// Empty if it worked, else what went wrong, for people.
QString save_png(QWidget& widget, QString const& path, double scale = 2);

}  // namespace lastref::gui::widgets
