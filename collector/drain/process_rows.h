// The rows that describe one recorded process: itself, its contexts, modules, stacks, settings and losses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/drain/stack_table.h"
#include "collector/drain/trace_file.h"
#include "collector/drain/trace_writer.h"
#include "collector/spool/record_check.h"
#include "collector/spool/spool_file.h"

namespace lastref::drain {

struct exit_result {
    std::optional<int> status;  // exit code
    std::optional<int> signal;  // that ended it
};

enum class process_end { clean, abrupt, exec };

// Threads: one. `file` and `writer` must outlive it; `trace` must have its start time.
class process_rows {
  public:
    // Finds the process's row, or writes it.
    process_rows(spool::spool_file& file, trace_file& trace, trace_writer& writer);

    // Has the trace all of this spool already? Then only the file is left to remove.
    static bool complete_in(trace_file& trace, spool::spool_file const& file);

    process_id id() const { return id_; }
    // What an earlier drain left of it.
    bool found() const { return found_; }

    std::optional<context_id> context(std::uint16_t index);
    void module(spool::record_view record) { stacks_->add_module(record.module(), record.module_path()); }
    void python_frame(spool::record_view record);
    stack_id stack(spool::record_view definition);
    void text(spool::text_kind kind, std::string const& text);
    void driver_version(std::uint64_t version) { set("driver_version", version); }

    // Times in ns since the trace's start.
    void finish(process_end end, std::int64_t last_time, exit_result const& exit);
    void leave_unfinished(std::int64_t last_time);
    // A spool that this build cannot interpret: says so, and nothing else.
    void foreign();

  private:
    void find(std::int64_t first_time);
    void insert(std::int64_t first_time);
    void load_contexts();
    void refresh_contexts();
    void environment(std::string const& setting);
    std::uint64_t contexts_lost() const;
    void write_losses();
    void write_unhooked();
    void write_state(std::int64_t last_time);
    template <class Value>
    void set(char const* column, Value const& value) {
        writer_.set_process(id_, column, value);
    }

    spool::spool_file& file_;
    trace_writer& writer_;
    process_id id_{};
    bool found_ = false;
    std::optional<stack_table> stacks_;
    std::vector<context_id> contexts_;  // of table index 1, 2 …
    std::vector<bool> named_;           // by table index: a call is in this context
};

// Arguments separated by NUL, as one would type them into a shell.
std::string shell_command(std::string_view arguments);

}  // namespace lastref::drain
