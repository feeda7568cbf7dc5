// Where the user has been: back and forward.
#pragma once

#include "gui/models/filter.h"
#include "gui/models/overview.h"

#include <vector>

namespace lastref::gui {

struct visited {
    page_id page = page_id::overview;
    filter_stack filters;
    store::process_id process{};  // of the object's page: which
    store::handle object = 0;

    friend bool operator==(visited const&, visited const&) = default;
};

class history {
  public:
    void visit(visited const& place);  // forgets what lay ahead; the same place again counts once
    bool can_go_back() const { return at_ > 0; }
    bool can_go_forward() const { return at_ + 1 < places_.size(); }
    visited const& back();
    visited const& forward();
    void clear();

  private:
    static constexpr std::size_t most = 200;
    std::vector<visited> places_;
    std::size_t at_ = 0;
};

}  // namespace lastref::gui
