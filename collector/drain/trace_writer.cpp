#include "collector/drain/trace_writer.h"

#include <array>
#include <utility>

namespace lastref::drain {
namespace {

struct loss_description {
    std::string_view name, text;
};

constexpr std::array losses{
#define LASTREF_LOSS(name, text) loss_description{#name, text},
#include "schema/loss.def"
#undef LASTREF_LOSS
};

// One statement for so many events costs a third less than one for each: most of what SQLite does for a row, it does
// for the statement.
constexpr std::size_t events_a_statement = 16;
constexpr int event_columns = 13;  // after the id

std::string insert_events(std::size_t count) {
    std::string sql = "INSERT INTO event VALUES ";
    for (std::size_t i = 0; i < count; ++i)
        sql += std::string(i ? "," : "") + "(NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    return sql;
}

template <class Id>
std::optional<std::int64_t> number_of(std::optional<Id> id) {
    if (!id) return std::nullopt;
    return static_cast<std::int64_t>(*id);
}

}  // namespace

std::string_view loss_name(spool::loss which) {
    return losses[static_cast<std::size_t>(which)].name;
}
std::string_view loss_text(spool::loss which) {
    return losses[static_cast<std::size_t>(which)].text;
}

trace_writer::trace_writer(database& db)
    : db_(db),
      begin_(db, "BEGIN IMMEDIATE"),
      last_(db, "SELECT coalesce(max(id), 0) FROM event"),
      commit_(db, "COMMIT"),
      event_(db, insert_events(1)),
      events_(db, insert_events(events_a_statement)),
      event_end_(db,
                 "UPDATE event SET duration = ?2, result = ?3, context = ?4, stream = ?5, object = ?6, other = ?7,"
                 " size = ?8, extra = ?9, stack = coalesce(?10, stack), flags = ?11 WHERE id = ?1"),
      thread_(db, "INSERT INTO thread (process, tid, main) VALUES (?, ?, ?)"),
      thread_name_(db, "UPDATE thread SET name = ?2 WHERE id = ?1"),
      context_(db, "INSERT INTO context (process, handle, device, kind) VALUES (?, ?, ?, ?)"),
      context_update_(db, "UPDATE context SET handle = ?2, device = ?3, kind = ?4 WHERE id = ?1"),
      module_(db,
              "INSERT INTO module (process, path, build_id, load_bias, first_address, end_address)"
              " VALUES (?, ?, ?, ?, ?, ?)"),
      frame_(db, "INSERT INTO frame (process, address, module) VALUES (?, ?, ?)"),
      frame_module_(
          db, "UPDATE frame SET module = ?2 WHERE process = ?1 AND module IS NULL AND address > ?3 AND address <= ?4"),
      stack_(db, "INSERT INTO stack (process, cut) VALUES (?, ?)"),
      stack_frame_(db, "INSERT INTO stack_frame VALUES (?, ?, ?)"),
      phase_(db, "INSERT INTO phase VALUES (?, ?, ?, ?, ?)"),
      environment_(db, "INSERT INTO environment VALUES (?, ?, ?)"),
      note_(db, "INSERT INTO note VALUES (?, ?)"),
      loss_add_(db, "UPDATE loss SET count = count + ?3 WHERE process IS ?1 AND name = ?2"),
      loss_new_(db, "INSERT INTO loss VALUES (?, ?, ?, ?)"),
      loss_remove_(db, "DELETE FROM loss WHERE process IS ?1 AND name = ?2"),
      unhooked_remove_(db, "DELETE FROM unhooked WHERE process = ?1 AND name = ?2"),
      unhooked_(db, "INSERT INTO unhooked VALUES (?, ?, ?)"),
      progress_(db, "INSERT OR REPLACE INTO spool_progress VALUES (?, ?, ?, ?, ?, ?, ?, ?)"),
      progress_forget_(db, "DELETE FROM spool_progress WHERE process = ?") {
    unwritten_.reserve(events_a_statement);
    read_last_event();
}

void trace_writer::read_last_event() {
    while (last_.next()) last_event_ = last_.integer(0);
}

// Leaves the connection as it found it, whatever happened.
trace_writer::~trace_writer() {
    if (writing_) sqlite3_exec(db_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void trace_writer::begin() {
    if (writing_) return;
    begin_.run();
    writing_ = true;
    read_last_event();  // another drain may have written since
}

void trace_writer::commit() {
    if (!writing_) return;
    write_events();
    commit_.run();
    writing_ = false;
}

template <class Id, class... Values>
Id trace_writer::insert(statement& into, Values const&... values) {
    begin();
    into(values...);
    return Id{db_.last_row()};
}

namespace {

// Binds the columns behind the id to the parameters from `position` on.
void bind(statement& into, int position, event_row const& row) {
    auto const each = [&](auto const&... values) { (into.set(position++, values), ...); };
    each(row.begin, row.duration, trace_writer::number(row.thread), row.api, row.result, number_of(row.context),
         row.stream, row.object, row.other, row.size, row.extra, number_of(row.stack), row.flags);
}

}  // namespace

event_id trace_writer::add_event(event_row const& row) {
    begin();
    unwritten_.push_back(row);
    ++last_event_;
    if (unwritten_.size() == events_a_statement) write_events();
    return event_id{last_event_};
}

void trace_writer::write_events() {
    if (unwritten_.size() == events_a_statement) {
        int position = 1;
        for (event_row const& row : unwritten_) bind(events_, std::exchange(position, position + event_columns), row);
        events_.run();
    } else {
        for (event_row const& row : unwritten_) {
            bind(event_, 1, row);
            event_.run();
        }
    }
    unwritten_.clear();
}

event_row* trace_writer::unwritten(event_id id) {
    auto const behind = static_cast<std::size_t>(last_event_ - number(id));
    return behind < unwritten_.size() ? &unwritten_[unwritten_.size() - 1 - behind] : nullptr;
}

void trace_writer::finish_event(event_id id, event_row const& row) {
    begin();
    if (event_row* const open = unwritten(id)) {
        event_row const was = std::exchange(*open, row);
        open->begin = was.begin;
        open->thread = was.thread;
        open->api = was.api;
        if (!open->stack) open->stack = was.stack;
        return;
    }
    event_end_(number(id), row.duration, row.result, number_of(row.context), row.stream, row.object, row.other,
               row.size, row.extra, number_of(row.stack), row.flags);
}

thread_id trace_writer::add_thread(process_id process, std::uint32_t tid, bool main) {
    return insert<thread_id>(thread_, number(process), tid, main ? 1 : 0);
}

void trace_writer::name_thread(thread_id thread, std::string_view name) {
    begin();
    thread_name_(number(thread), name);
}

context_id trace_writer::add_context(process_id process, std::uint64_t handle, std::optional<std::int64_t> device,
                                     std::string_view kind) {
    return insert<context_id>(context_, number(process), handle, device, kind);
}

void trace_writer::update_context(context_id context, std::uint64_t handle, std::optional<std::int64_t> device,
                                  std::string_view kind) {
    begin();
    context_update_(number(context), handle, device, kind);
}

module_id trace_writer::add_module(process_id process, std::string_view path,
                                   std::optional<std::string> const& build_id, spool::module_record const& module) {
    return insert<module_id>(module_, number(process), path, build_id, module.load_bias, module.begin, module.end);
}

frame_id trace_writer::add_frame(process_id process, std::uint64_t address, std::optional<module_id> module) {
    return insert<frame_id>(frame_, number(process), address, number_of(module));
}

void trace_writer::add_python_frame(process_id process, std::uint64_t address, std::string_view function,
                                    std::string_view file, std::int64_t line) {
    std::optional<std::int64_t> const known = line != 0 ? std::optional(line) : std::nullopt;
    made(python_frame_, "INSERT OR IGNORE INTO python_frame VALUES (?, ?, ?, ?, ?)")(number(process), address, function,
                                                                                     file, known);
}

void trace_writer::set_module_of_frames(process_id process, module_id module, std::uint64_t begin, std::uint64_t end) {
    this->begin();
    frame_module_(number(process), number(module), begin, end);
}

stack_id trace_writer::add_stack(process_id process, bool cut) {
    return insert<stack_id>(stack_, number(process), cut ? 1 : 0);
}

void trace_writer::add_stack_frame(stack_id stack, std::int64_t depth, frame_id frame) {
    begin();
    stack_frame_(number(stack), depth, number(frame));
}

void trace_writer::add_phase(process_id process, std::int64_t at, std::string_view what,
                             std::optional<thread_id> thread) {
    begin();
    phase_(number(process), at, what, number_of(thread), last_event_);
}

statement& trace_writer::made(std::optional<statement>& once, char const* sql) {
    begin();
    if (!once) once.emplace(db_, sql);
    return *once;
}

void trace_writer::begin_range(process_id process, std::uint64_t number, said_at const& where, std::string_view name) {
    made(range_,
         "INSERT OR IGNORE INTO range (process, number, name, begin, begin_event, thread, begin_context)"
         " VALUES (?, ?, ?, ?, ?, ?, ?)")(trace_writer::number(process), number, name, where.at, last_event_,
                                          trace_writer::number(where.thread), number_of(where.context));
}

void trace_writer::end_range(process_id process, std::uint64_t number, said_at const& where) {
    made(range_end_,
         "UPDATE range SET end = ?3, end_event = ?4, end_thread = ?5, end_context = ?6"
         " WHERE process = ?1 AND number = ?2")(trace_writer::number(process), number, where.at, last_event_,
                                                trace_writer::number(where.thread), number_of(where.context));
}

namespace {

std::optional<std::string_view> domain_of(std::string_view domain) {
    return domain.empty() ? std::nullopt : std::optional(domain);
}

constexpr char const* end_of_nvtx =
    "UPDATE nvtx_range SET end = ?3, end_event = ?4, end_thread = ?5, end_context = ?6"
    " WHERE id = (SELECT max(id) FROM nvtx_range WHERE process = ?1 AND end IS NULL";

}  // namespace

void trace_writer::begin_nvtx(nvtx_row const& row) {
    made(nvtx_,
         "INSERT INTO nvtx_range (process, thread, kind, number, domain, category, message, payload, begin,"
         " begin_event, begin_context) VALUES (?1, ?2, iif(?3 IS NULL, 'push', 'start'), ?3, ?4, ?5, ?6,"
         " coalesce(?7, ?8), ?9, ?10, ?11)")(number(row.process), number(row.where.thread), row.number,
                                             domain_of(row.domain), row.category, row.message, row.whole_payload,
                                             row.real_payload, row.where.at, last_event_, number_of(row.where.context));
}

void trace_writer::pop_nvtx(process_id process, said_at const& where, std::string_view domain) {
    static std::string const sql = std::string(end_of_nvtx) + " AND thread = ?5 AND kind = 'push' AND domain IS ?2)";
    made(nvtx_pop_, sql.c_str())(number(process), domain_of(domain), where.at, last_event_, number(where.thread),
                                 number_of(where.context));
}

void trace_writer::end_nvtx(process_id process, said_at const& where, std::uint64_t number) {
    static std::string const sql = std::string(end_of_nvtx) + " AND kind = 'start' AND number = ?2)";
    made(nvtx_end_, sql.c_str())(trace_writer::number(process), number, where.at, last_event_,
                                 trace_writer::number(where.thread), number_of(where.context));
}

void trace_writer::add_nvtx_mark(nvtx_row const& row) {
    made(nvtx_mark_, "INSERT INTO nvtx_mark VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, coalesce(?8, ?9))")(
        number(row.process), number(row.where.thread), row.where.at, last_event_, domain_of(row.domain), row.category,
        row.message, row.whole_payload, row.real_payload);
}

void trace_writer::add_nvtx_name(process_id process, std::string_view resource, std::uint64_t handle,
                                 std::string_view name, std::int64_t at) {
    made(nvtx_name_, "INSERT INTO nvtx_name VALUES (?, ?, ?, ?, ?, ?)")(number(process), resource, handle, name, at,
                                                                        last_event_);
}

void trace_writer::add_environment(process_id process, std::string_view name, std::string_view value) {
    begin();
    environment_(number(process), name, value);
}

void trace_writer::add_note(std::optional<process_id> process, std::string_view text) {
    begin();
    note_(number_of(process), text);
}

void trace_writer::set_unhooked(process_id process, std::string_view name, std::int64_t obtained) {
    begin();
    unhooked_remove_(number(process), name);
    unhooked_(number(process), name, obtained);
}

void trace_writer::add_loss(std::optional<process_id> process, spool::loss which, std::uint64_t count) {
    if (count == 0) return;
    begin();
    loss_add_(number_of(process), loss_name(which), count);
    if (sqlite3_changes(db_.handle()) == 0) loss_new_(number_of(process), loss_name(which), loss_text(which), count);
}

void trace_writer::set_loss(process_id process, spool::loss which, std::uint64_t count) {
    begin();
    loss_remove_(number(process), loss_name(which));
    if (count) loss_new_(number(process), loss_name(which), loss_text(which), count);
}

void trace_writer::save(progress_row const& row) {
    begin();
    progress_(number(row.process), row.thread_serial, number(row.thread), row.segment_serial, row.slot,
              row.read_segment_serial, row.read_slot, row.watermark);
}

void trace_writer::forget_progress(process_id process) {
    begin();
    progress_forget_(number(process));
}

}  // namespace lastref::drain
