// Every colour that widgets paint with, by the palette in use: readable on light and on dark, and told apart by people
// who see few hues (they differ in lightness as well).
#pragma once

#include "gui/scenes/timeline.h"

#include <QColor>
#include <QPalette>

namespace lastref::gui::widgets {

bool is_dark(QPalette const& palette);

QColor colour_of(scenes::style style, QPalette const& palette);
QColor series_colour(int number, QPalette const& palette);           // lines of a chart; repeats after eight
QColor name_colour(std::string_view name, QPalette const& palette);  // the same for the same name: flame graphs

struct shades {
    QColor grid;    // lines that carry no meaning
    QColor faint;   // text that matters less
    QColor stripe;  // background of headings
    QColor mark;    // phases
    QColor error;
    QColor warning;
    QColor good;
    QColor selection;
};
shades shades_of(QPalette const& palette);

// As WCAG 2 defines it, 1 to 21; texts want 4.5, lines and areas 3.
double contrast(QColor const& a, QColor const& b);

QColor text_on(QColor const& fill);                            // black or white
QColor mixed(QColor const& a, QColor const& b, double share);  // `share` of b

}  // namespace lastref::gui::widgets
