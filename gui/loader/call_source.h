// The calls of a trace, a page at a time, straight from the file: however many there are, only pages that were looked
// at are kept.
#pragma once

#include "analyzer/store/trace.h"
#include "gui/loader/loaded_trace.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace lastref::gui {

// Rows in the order of the trace, or those of a list of events (a filter's or a sort's result). One thread at a time.
class call_source {
  public:
    using event_list = std::shared_ptr<std::vector<store::event_id> const>;

    // Opens the file again, since a loaded trace's reader may be busy. Throws store::error.
    explicit call_source(trace_pointer loaded, event_list only = {});

    std::int64_t rows() const;
    store::event const* at(std::int64_t row);  // null where the file no longer has it; valid until the next call
    store::api const& api_of(store::event const& e) const { return trace_.at(e.api); }
    store::context const* context_of(store::event const& e) const;
    loaded_trace const& loaded() const { return *loaded_; }

    // The row of the event, if it is listed.
    std::optional<std::int64_t> row_of(store::event_id id);

    static constexpr std::size_t pages_kept = 64;
    std::size_t pages_read() const { return pages_read_; }

  private:
    using event_page = std::vector<store::event>;
    event_page const& page_at(std::int64_t number);
    event_page read_page(std::int64_t number) const;

    trace_pointer loaded_;
    store::trace trace_;
    event_list only_;
    std::unordered_map<std::int64_t, event_page> pages_;
    std::size_t pages_read_ = 0;
};

}  // namespace lastref::gui
