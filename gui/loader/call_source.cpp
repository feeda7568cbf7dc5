#include "gui/loader/call_source.h"

#include <algorithm>

namespace lastref::gui {

call_source::call_source(trace_pointer loaded, event_list only)
    : loaded_(std::move(loaded)), trace_(store::trace::open(loaded_->path)), only_(std::move(only)) {}

std::int64_t call_source::rows() const {
    return only_ ? static_cast<std::int64_t>(only_->size()) : loaded_->calls.rows();
}

store::context const* call_source::context_of(store::event const& e) const {
    return e.context ? &trace_.at(e.context) : nullptr;
}

call_source::event_page call_source::read_page(std::int64_t number) const {
    constexpr auto size = call_index::page_size;
    if (only_) {
        auto const first = only_->begin() + number * size;
        auto const last = only_->begin() + std::min((number + 1) * size, rows());
        return trace_.events_at({first, last});
    }
    event_page out;
    auto reader = trace_.events(loaded_->calls.first_of_page(number));
    reader.next(out);
    out.resize(static_cast<std::size_t>(std::min<std::int64_t>(static_cast<std::int64_t>(out.size()), size)));
    out.shrink_to_fit();
    return out;
}

call_source::event_page const& call_source::page_at(std::int64_t number) {
    if (auto const known = pages_.find(number); known != pages_.end()) return known->second;
    // Whoever scrolls needs neighbours next: which page goes matters little, that memory stays bounded does.
    if (pages_.size() >= pages_kept) pages_.clear();
    ++pages_read_;
    return pages_.emplace(number, read_page(number)).first->second;
}

store::event const* call_source::at(std::int64_t row) {
    if (row < 0 || row >= rows()) return nullptr;
    auto const& page = page_at(row / call_index::page_size);
    auto const place = static_cast<std::size_t>(row % call_index::page_size);
    return place < page.size() ? &page[place] : nullptr;
}

std::optional<std::int64_t> call_source::row_of(store::event_id id) {
    if (only_) {
        auto const place = std::find(only_->begin(), only_->end(), id);
        return place == only_->end() ? std::nullopt : std::optional<std::int64_t>(place - only_->begin());
    }
    if (rows() == 0) return std::nullopt;
    auto const number = loaded_->calls.page_of(id);
    auto const& page = page_at(number);
    auto const place = std::find_if(page.begin(), page.end(), [id](auto const& e) { return e.id == id; });
    if (place == page.end()) return std::nullopt;
    return number * call_index::page_size + (place - page.begin());
}

}  // namespace lastref::gui
