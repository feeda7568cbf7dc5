// The few colours that mean something, for light and for dark palettes; all else is the palette's.
#pragma once

#include "analyzer/findings/rules.h"

#include <QColor>
#include <QIcon>
#include <QPalette>

namespace lastref::gui {

bool is_dark(QPalette const& palette);
QColor severity_colour(findings::severity severity, QPalette const& palette);
QColor good_colour(QPalette const& palette);
QColor faint_text(QPalette const& palette);  // of less importance, still readable

// Shape and colour differ by severity, so that neither is needed alone: a filled circle, a triangle, a ring.
QIcon severity_icon(findings::severity severity, QPalette const& palette);

// lastref's own sign, painted: the Qt that is there may not read SVG.
QIcon program_icon();

}  // namespace lastref::gui
