// What is looked at: a stack of conditions, a value that can be compared, copied and kept in the history.
#pragma once

#include "analyzer/findings/rules.h"
#include "analyzer/store/rows.h"

#include <QString>

#include <cstdint>
#include <optional>
#include <vector>

namespace lastref::gui {

enum class filter_kind : std::uint8_t { time, process, thread, stream, object, rule };

struct filter {
    filter_kind kind = filter_kind::time;
    std::int64_t value = 0;  // an id, a handle, a rule, or the begin of a time range
    std::int64_t last = 0;   // of a time range
    QString label;           // for people: "thread worker (4712)"

    friend bool operator==(filter const& a, filter const& b) {
        return a.kind == b.kind && a.value == b.value && a.last == b.last;
    }
};

// What a row can be filtered by.
struct facets {
    store::process_id process;
    std::vector<store::thread_id> threads;
    std::vector<store::handle> streams;
    std::vector<store::handle> objects;
    std::optional<findings::rule> rule;
    store::time_ns begin = 0;
    store::time_ns end = 0;
};

class filter_stack {
  public:
    void add(filter const& f);  // in the place of another of its kind
    void remove(filter_kind kind);
    void clear() { all_.clear(); }

    std::vector<filter> const& all() const { return all_; }
    bool empty() const { return all_.empty(); }
    std::optional<filter> of(filter_kind kind) const;

    // Kinds that are not in `known` are left out of account: a list without streams is not emptied by one of a stream.
    bool accepts(facets const& row, std::vector<filter_kind> const& known) const;

    friend bool operator==(filter_stack const&, filter_stack const&) = default;

  private:
    std::vector<filter> all_;
};

bool accepts(filter const& f, facets const& row);

}  // namespace lastref::gui
