#include "gui/views/colours.h"

#include "gui/widgets/colours.h"

#include <QHash>
#include <QPainter>
#include <QPainterPath>
#include <QPixmap>

namespace lastref::gui {
namespace {

using findings::severity;

void paint_shape(QPainter& painter, severity of, QColor const& colour, qreal size) {
    auto const edge = size / 8;
    QRectF const box(edge, edge, size - 2 * edge, size - 2 * edge);
    painter.setBrush(colour);
    painter.setPen(Qt::NoPen);
    if (of == severity::error) {
        painter.drawEllipse(box);
    } else if (of == severity::warning) {
        painter.drawPolygon(QPolygonF({{box.center().x(), box.top()}, box.bottomRight(), box.bottomLeft()}));
    } else {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(colour, size / 8));
        painter.drawEllipse(box.adjusted(edge, edge, -edge, -edge));
    }
}

// On the colour of what is selected, a sign is hard to see.
void paint_halo(QPainter& painter, qreal size) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(QColor(0xff, 0xff, 0xff, 0xe6));
    painter.drawEllipse(QRectF(0, 0, size, size));
    painter.translate(size * 0.14, size * 0.14);
    painter.scale(0.72, 0.72);
}

// A payload, a chain of two links, the second open: the last reference.
void paint_sign(QPainter& painter, qreal size) {
    painter.scale(size / 64, size / 64);
    painter.setPen(Qt::NoPen);
    painter.setBrush(QColor(0x24, 0x3b, 0x53));
    painter.drawRoundedRect(QRectF(2, 2, 60, 60), 14, 14);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(QColor(0x9f, 0xd3, 0xc7), 6, Qt::SolidLine, Qt::RoundCap));
    painter.drawEllipse(QPointF(24, 24), 11, 11);
    painter.setPen(QPen(QColor(0xf6, 0xad, 0x55), 6, Qt::SolidLine, Qt::RoundCap));
    painter.drawArc(QRectF(27, 27, 24, 24), 150 * 16, 270 * 16);
}

QPixmap blank(int size) {
    QPixmap out(size, size);
    out.fill(Qt::transparent);
    return out;
}

}  // namespace

bool is_dark(QPalette const& palette) {
    return widgets::is_dark(palette);
}

QColor severity_colour(severity of, QPalette const& palette) {
    switch (of) {
        case severity::error:
            return widgets::shades_of(palette).error;
        case severity::warning:
            return widgets::shades_of(palette).warning;
        case severity::note:
            break;
    }
    return is_dark(palette) ? QColor(0x7a, 0xb8, 0xf5) : QColor(0x15, 0x65, 0xc0);
}

QColor good_colour(QPalette const& palette) {
    return widgets::shades_of(palette).good;
}

QColor faint_text(QPalette const& palette) {
    auto out = palette.color(QPalette::Text);
    out.setAlphaF(0.68F);
    return out;
}

QIcon severity_icon(severity of, QPalette const& palette) {
    static QHash<int, QIcon> known;  // painting them for every cell would be most of the work of scrolling
    auto& out = known[static_cast<int>(of) * 2 + (is_dark(palette) ? 1 : 0)];
    if (!out.isNull()) return out;
    for (int const size : {16, 32, 48})
        for (auto const mode : {QIcon::Normal, QIcon::Selected}) {
            auto pixmap = blank(size);
            QPainter painter(&pixmap);
            painter.setRenderHint(QPainter::Antialiasing);
            if (mode == QIcon::Selected) paint_halo(painter, size);
            paint_shape(painter, of, severity_colour(of, palette), size);
            painter.end();
            out.addPixmap(pixmap, mode);
        }
    return out;
}

QIcon program_icon() {
    QIcon out;
    for (int const size : {16, 24, 32, 48, 64, 128, 256}) {
        auto pixmap = blank(size);
        QPainter painter(&pixmap);
        painter.setRenderHint(QPainter::Antialiasing);
        paint_sign(painter, size);
        painter.end();
        out.addPixmap(pixmap);
    }
    return out;
}

}  // namespace lastref::gui
