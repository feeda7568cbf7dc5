// Rich text for what is read rather than compared: findings and stacks. Names come from the program and are escaped.
#pragma once

#include "gui/loader/rows.h"

#include <QPalette>
#include <QString>

namespace lastref::gui {

// Links, as rich_text follows them: "event:12", "finding:3", "object:PROCESS:HANDLE", "source:LINE:FILE".
QString finding_html(finding_row const& finding, QPalette const& palette);
QString stack_html(std::vector<stack_row> const& stack, QPalette const& palette);

QString call_html(call_details_row const& call, QPalette const& palette);

QString escaped(std::string const& text);
QString object_link(store::process_id process, store::handle handle);  // "0x7f…"; empty for none
QString event_link(store::event_id event, std::string const& text);

// The pair of a "source:" link; empty file where it is none.
struct source_place {
    QString file;
    int line = 0;
};
source_place source_of_link(QString const& link);

}  // namespace lastref::gui
