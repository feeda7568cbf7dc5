// A recorded trace, opened for reading. The file is never written: it may be a user's only copy, and it may be growing.
#pragma once

#include "analyzer/store/error.h"
#include "analyzer/store/rows.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lastref::store {

inline constexpr std::int64_t application_id = 0x4c524546;  // "LREF"
inline constexpr std::int64_t newest_schema = 1;            // PRAGMA user_version that this build reads

// Reads the whole file for damage, which opening a trace does not; throws `error` where there is some.
void check_file(std::filesystem::path const& path);

// All events in the order of their ids, a batch at a time. Must not outlive its trace.
class event_reader {
  public:
    static constexpr std::size_t batch_size = 4096;

    ~event_reader();
    event_reader(event_reader&&) noexcept;

    // Replaces what `batch` holds; false (and an empty batch) at the end. Throws `error` on damage.
    bool next(std::vector<event>& batch);

  private:
    friend class trace;
    struct state;
    explicit event_reader(std::unique_ptr<state> s);
    std::unique_ptr<state> state_;
};

// Rows of a table that may be long, one at a time. Must not outlive its trace.
template <class Row>
class row_reader {
  public:
    ~row_reader();
    row_reader(row_reader&&) noexcept;

    // Replaces `row`; false at the end. Throws `error` on damage.
    bool next(Row& row);

  private:
    friend class trace;
    struct state;
    explicit row_reader(std::unique_ptr<state> s);
    std::unique_ptr<state> state_;  // none: there are no rows
};
using nvtx_range_reader = row_reader<nvtx_range>;
using given_name_reader = row_reader<given_name>;

// Opening reads everything but events, stacks, frames and what was said through NVTX into memory and keeps one
// snapshot: a trace that is still being recorded does not change under the reader. One thread at a time. All functions
// throw `error`.
class trace {
  public:
    static trace open(std::filesystem::path const& path);

    ~trace();
    trace(trace&&) noexcept;
    trace& operator=(trace&&) noexcept;

    std::string const& path() const;
    trace_state state() const;
    std::string const& version() const;  // of the lastref that recorded it

    // In the order of their ids.
    std::vector<process> const& processes() const;
    std::vector<thread> const& threads() const;
    std::vector<context> const& contexts() const;
    std::vector<api> const& apis() const;
    std::vector<module> const& modules() const;
    std::vector<phase> const& phases() const;
    std::vector<range> const& ranges() const;  // in the order in which they began
    // Ranges that left another current context than they found, in the order of their ends.
    std::vector<context_change> const& context_changes() const;
    std::vector<loss> const& losses() const;
    std::vector<unhooked> const& unhooked_entries() const;
    std::vector<audited_call> const& audit() const;  // empty where CUPTI did not count
    std::vector<note> const& notes() const;

    // By id; throws `error` (damaged) for an id that has no row.
    process const& at(process_id id) const;
    thread const& at(thread_id id) const;
    context const& at(context_id id) const;
    api const& at(api_id id) const;
    module const& at(module_id id) const;

    // In the order in which they began; with names, those called one of them, whatever the case of ASCII letters. Empty
    // in traces of older versions, as the next one is.
    nvtx_range_reader nvtx_ranges(std::vector<std::string> const& names = {}) const;
    given_name_reader given_names() const;  // in the order of `event`

    stack stack_of(stack_id id) const;  // empty for none
    std::int64_t event_count() const;   // greatest id: an upper bound, for progress
    event_reader events() const { return events(event_id{}); }
    event_reader events(event_id from) const;  // those before `from` left out: costs no more than what is read
    std::vector<event> events_at(std::vector<event_id> const& ids) const;  // in this order; ids without a row left out

  private:
    friend class event_reader;
    template <class Row>
    friend class row_reader;
    struct contents;
    explicit trace(std::unique_ptr<contents> c);
    std::unique_ptr<contents> contents_;
};

}  // namespace lastref::store
