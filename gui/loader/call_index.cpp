#include "gui/loader/call_index.h"

#include <algorithm>

namespace lastref::gui {

std::int64_t call_index::page_of(store::event_id id) const {
    auto const after = std::upper_bound(firsts_.begin(), firsts_.end(), id);
    return std::max<std::int64_t>(after - firsts_.begin() - 1, 0);
}

}  // namespace lastref::gui
