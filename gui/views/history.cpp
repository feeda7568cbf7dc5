#include "gui/views/history.h"

namespace lastref::gui {

void history::visit(visited const& place) {
    if (!places_.empty() && places_[at_] == place) return;
    if (!places_.empty()) places_.resize(at_ + 1);
    places_.push_back(place);
    if (places_.size() > most) places_.erase(places_.begin());
    at_ = places_.size() - 1;
}

visited const& history::back() {
    if (can_go_back()) --at_;
    return places_[at_];
}

visited const& history::forward() {
    if (can_go_forward()) ++at_;
    return places_[at_];
}

void history::clear() {
    places_.clear();
    at_ = 0;
}

}  // namespace lastref::gui
