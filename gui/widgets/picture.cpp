#include "gui/widgets/picture.h"

#include <QFile>
#include <QImageWriter>
#include <QPainter>
#include <QWidget>

#ifdef LASTREF_HAVE_SVG
#include <QSvgGenerator>
#endif

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

bool can_save_svg() {
#ifdef LASTREF_HAVE_SVG
    return true;
#else
    return false;
#endif
}

QString save_svg([[maybe_unused]] QWidget& widget, [[maybe_unused]] QString const& path) {
#ifdef LASTREF_HAVE_SVG
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly)) return file.errorString();
    QSvgGenerator to;
    to.setOutputDevice(&file);
    to.setSize(widget.size());
    to.setViewBox(QRect(QPoint(0, 0), widget.size()));
    to.setTitle(widget.accessibleName());
    QPainter painter(&to);
    painter.fillRect(widget.rect(), widget.palette().color(QPalette::Window));
    widget.render(&painter, {}, {}, QWidget::DrawWindowBackground | QWidget::DrawChildren);
    painter.end();
    return file.error() == QFileDevice::NoError ? QString() : file.errorString();
#else
    return QWidget::tr("This program was built without SVG.");
#endif
}

QString save_picture(QWidget& widget, QString const& path) {
    return path.endsWith(QStringLiteral(".svg"), Qt::CaseInsensitive) ? save_svg(widget, path) : save_png(widget, path);
}

}  // namespace lastref::gui::widgets
