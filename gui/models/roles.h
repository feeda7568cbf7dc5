// What models say of an item beside its text.
#pragma once

#include <qnamespace.h>

namespace lastref::gui {

enum role {
    sort_role = Qt::UserRole,  // the value that a column is sorted by
    severity_role,             // findings::severity as int, where the row has one
    sum_role,                  // in headers: the column is added up in groups, `bytes` or `count`
    row_role,                  // index of the row in the loaded trace's vector
    event_role,                // id of the event that the row is about, where there is one
};

}  // namespace lastref::gui
