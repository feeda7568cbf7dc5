// Pictures of widgets, as files.
#pragma once

#include <QImage>
#include <QString>

class QWidget;

namespace lastref::gui::widgets {

// As the widget looks now, at `scale` times its pixels.
QImage picture_of(QWidget& widget, double scale = 2);

// Empty if it worked, else what went wrong, for people.
// SVG where the Qt that is there can write it.
bool can_save_svg();
QString save_svg(QWidget& widget, QString const& path);

// By the file's ending: SVG, else PNG.
QString save_picture(QWidget& widget, QString const& path);

QString save_png(QWidget& widget, QString const& path, double scale = 2);

}  // namespace lastref::gui::widgets
