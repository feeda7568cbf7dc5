#include "gui/widgets/picture.h"

#include <QImageWriter>
#include <QWidget>

namespace lastref::gui::widgets {

QImage picture_of(QWidget& widget, double scale) {
    QImage image(widget.size() * scale, QImage::Format_ARGB32_Premultiplied);
    image.setDevicePixelRatio(scale);
    image.fill(widget.palette().color(QPalette::Window));
    widget.render(&image);
    return image;
}

QString save_png(QWidget& widget, QString const& path, double scale) {
    QImageWriter writer(path, "png");
    return writer.write(picture_of(widget, scale)) ? QString() : writer.errorString();
}

}  // namespace lastref::gui::widgets
