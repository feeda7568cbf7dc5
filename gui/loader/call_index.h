// Which event stands in which row of the list of calls, without keeping the events: a mark every few thousand rows,
// from where the rest is read.
#pragma once

#include "analyzer/model/observer.h"

#include <cstdint>
#include <vector>

namespace lastref::gui::scenes {
struct kept_access;
}

namespace lastref::gui {

class call_index {
  public:
    static constexpr std::int64_t page_size = 1024;

    void add(store::event_id id) {
        if (rows_++ % page_size == 0) firsts_.push_back(id);
    }

    std::int64_t rows() const { return rows_; }
    store::event_id first_of_page(std::int64_t page) const { return firsts_[static_cast<std::size_t>(page)]; }

    // The row of an event, as far as marks tell: that of the first row of its page.
    std::int64_t page_of(store::event_id id) const;

  private:
    friend struct scenes::kept_access;
    std::int64_t rows_ = 0;
    std::vector<store::event_id> firsts_;  // of each page
};

// Fills an index in the pass over the events; `index` must outlive it.
class call_indexer : public model::observer {
  public:
    explicit call_indexer(call_index& index) : index_(index) {}
    void on_event(model::process_state const&, model::event const& e) override { index_.add(e.row.id); }

  private:
    call_index& index_;
};

}  // namespace lastref::gui
