// The rows of a trace, each with its prepared statement. A transaction begins with the first row and ends with
// commit(): rows and the progress of the spools that they came from become visible together or not at all.
//
// Every function may throw database_error. After that the rows since the last commit are gone, and so is the meaning of
// every row id handed out since: who keeps ids must load them anew.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/drain/sqlite.h"
#include "schema/spool.h"

namespace lastref::drain {

// Row ids of the trace's tables.
enum class process_id : std::int64_t {};
enum class thread_id : std::int64_t {};
enum class context_id : std::int64_t {};
enum class module_id : std::int64_t {};
enum class frame_id : std::int64_t {};
enum class stack_id : std::int64_t {};
enum class event_id : std::int64_t {};

struct event_row {
    std::int64_t begin;                    // ns since the trace's start
    std::optional<std::int64_t> duration;  // ns; empty while it has not returned
    thread_id thread;
    std::int64_t api;
    std::optional<std::int64_t> result;
    std::optional<context_id> context;
    std::uint64_t stream, object, other, size, extra;
    std::optional<stack_id> stack;
    std::int64_t flags;
};

struct progress_row {
    process_id process;
    std::uint64_t thread_serial;
    thread_id thread;
    std::uint64_t segment_serial;
    std::uint32_t slot;
    std::uint64_t read_segment_serial;
    std::uint32_t read_slot;
    std::uint64_t watermark;
};

// When and where the program said something.
struct said_at {
    std::int64_t at;
    thread_id thread;
    std::optional<context_id> context;  // current on the thread
};

struct nvtx_row {
    process_id process;
    said_at where;
    std::string_view domain;                   // empty: the default one
    std::optional<std::uint64_t> number = {};  // of a range that is started, not pushed
    std::optional<std::string> category = {}, message = {};
    std::optional<std::int64_t> whole_payload = {};
    std::optional<double> real_payload = {};
};

class trace_writer {
  public:
    explicit trace_writer(database& db);
    ~trace_writer();
    trace_writer(trace_writer const&) = delete;
    trace_writer& operator=(trace_writer const&) = delete;

    void commit();
    // Is there anything to commit?
    bool writing() const { return writing_; }
    database& db() { return db_; }

    event_id add_event(event_row const& row);
    // Completes a row that was written without duration; its begin and its place stay.
    void finish_event(event_id id, event_row const& row);
    std::int64_t last_event() const { return last_event_; }

    thread_id add_thread(process_id process, std::uint32_t tid, bool main);
    void name_thread(thread_id thread, std::string_view name);
    context_id add_context(process_id process, std::uint64_t handle, std::optional<std::int64_t> device,
                           std::string_view kind);
    void update_context(context_id context, std::uint64_t handle, std::optional<std::int64_t> device,
                        std::string_view kind);
    // `address` as stacks have it. A frame that is there already stays as it is.
    void add_python_frame(process_id process, std::uint64_t address, std::string_view function, std::string_view file,
                          std::int64_t line);
    module_id add_module(process_id process, std::string_view path, std::optional<std::string> const& build_id,
                         spool::module_record const& module);
    frame_id add_frame(process_id process, std::uint64_t address, std::optional<module_id> module);
    // Frames that were written before their module was known.
    void set_module_of_frames(process_id process, module_id module, std::uint64_t begin, std::uint64_t end);
    stack_id add_stack(process_id process, bool cut);
    void add_stack_frame(stack_id stack, std::int64_t depth, frame_id frame);
    void add_phase(process_id process, std::int64_t at, std::string_view what, std::optional<thread_id> thread);
    // Tests and other named parts of the run; `number` names a range within its process.
    void begin_range(process_id process, std::uint64_t number, said_at const& where, std::string_view name);
    void end_range(process_id process, std::uint64_t number, said_at const& where);
    // What the program said through NVTX. An end that has no begin does nothing.
    void begin_nvtx(nvtx_row const& row);
    void pop_nvtx(process_id process, said_at const& where, std::string_view domain);
    void end_nvtx(process_id process, said_at const& where, std::uint64_t number);
    void add_nvtx_mark(nvtx_row const& row);
    void add_nvtx_name(process_id process, std::string_view resource, std::uint64_t handle, std::string_view name,
                       std::int64_t at);
    void add_environment(process_id process, std::string_view name, std::string_view value);
    void add_note(std::optional<process_id> process, std::string_view text);
    void set_unhooked(process_id process, std::string_view name, std::int64_t obtained);
    // `add_loss` adds to what is there, `set_loss` replaces it; zero leaves no row.
    void add_loss(std::optional<process_id> process, spool::loss which, std::uint64_t count);
    void set_loss(process_id process, spool::loss which, std::uint64_t count);
    void save(progress_row const& row);
    void forget_progress(process_id process);
    // One column of table `process`; `column` comes from this program only.
    template <class Value>
    void set_process(process_id process, std::string const& column, Value const& value) {
        begin();
        statement(db_, "UPDATE process SET " + column + " = ? WHERE id = ?")(value, number(process));
    }
    void begin();

    template <class Id>
    static std::int64_t number(Id id) {
        return static_cast<std::int64_t>(id);
    }

  private:
    statement& made(std::optional<statement>& once, char const* sql);
    template <class Id, class... Values>
    Id insert(statement& into, Values const&... values);
    event_row* unwritten(event_id id);
    void write_events();
    void read_last_event();

    database& db_;
    bool writing_ = false;
    std::int64_t last_event_ = 0;
    std::vector<event_row>
        unwritten_;  // the last ones: so many are written by one statement, at the latest by commit()
    statement begin_, last_, commit_;
    std::optional<statement> range_, range_end_;  // traces begun by an older lastref have no such table
    std::optional<statement> python_frame_;
    std::optional<statement> nvtx_, nvtx_pop_, nvtx_end_, nvtx_mark_, nvtx_name_;
    statement event_, events_, event_end_, thread_, thread_name_, context_, context_update_, module_, frame_,
        frame_module_, stack_, stack_frame_, phase_, environment_, note_, loss_add_, loss_new_, loss_remove_,
        unhooked_remove_, unhooked_, progress_, progress_forget_;
};

std::string_view loss_name(spool::loss which);
std::string_view loss_text(spool::loss which);

}  // namespace lastref::drain
