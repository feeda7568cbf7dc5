// A light and a dark palette, as desktops have them.
#pragma once

#include <QPalette>

namespace lastref::test {

inline QPalette light_palette() {
    QPalette out(QColor(0xef, 0xf0, 0xf1));
    out.setColor(QPalette::Base, Qt::white);
    out.setColor(QPalette::Text, QColor(0x20, 0x22, 0x24));
    return out;
}

inline QPalette dark_palette() {
    QPalette out(QColor(0x2b, 0x2d, 0x30), QColor(0x2b, 0x2d, 0x30));
    out.setColor(QPalette::Base, QColor(0x1e, 0x1f, 0x22));
    out.setColor(QPalette::Text, QColor(0xdf, 0xe1, 0xe5));
    out.setColor(QPalette::WindowText, QColor(0xdf, 0xe1, 0xe5));
    out.setColor(QPalette::Highlight, QColor(0x35, 0x74, 0xf0));
    return out;
}

}  // namespace lastref::test
