#include "collector/drain/process_rows.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace lastref::drain {
namespace {

using spool::loss;

constexpr char const same_process[] = " FROM process WHERE pid = ? AND start_ticks = ? AND first_time = ?";

std::int64_t first_time_of(trace_file& trace, spool::spool_file const& file) {
    return static_cast<std::int64_t>(file.identity().first_monotonic_ns) - trace.start_monotonic_ns();
}

// A damaged header may hold any number; the trace's integers are signed.
std::uint64_t bounded(std::uint64_t count) {
    return std::min<std::uint64_t>(count, std::numeric_limits<std::int64_t>::max());
}

std::string_view stacks_name(std::uint32_t setting) {
    constexpr std::string_view names[] = {"off", "create", "all"};
    return names[setting];
}

std::string_view context_kind_name(std::uint64_t kind) {
    switch (static_cast<spool::context_kind>(kind)) {
        case spool::context_kind::created:
            return "created";
        case spool::context_kind::primary:
            return "primary";
        case spool::context_kind::green:
            return "green";
        case spool::context_kind::unknown:
            break;
    }
    return "unknown";
}

std::string_view end_name(process_end end) {
    switch (end) {
        case process_end::clean:
            return "clean";
        case process_end::abrupt:
            return "abrupt";
        case process_end::exec:
            return "exec";
    }
    return "abrupt";
}

struct context_facts {
    std::uint64_t handle;
    std::optional<std::int64_t> device;
    std::string_view kind;
};

context_facts read_context(spool::spool_header const& header, std::size_t index) {
    auto const& entry = header.contexts[index];
    std::uint64_t const packed = entry.device_and_kind.load(std::memory_order_acquire);
    auto const device = static_cast<std::uint32_t>(packed);
    context_facts facts{entry.handle.load(std::memory_order_acquire), std::nullopt, context_kind_name(packed >> 32)};
    if (device) facts.device = std::int64_t{device} - 1;
    return facts;
}

bool needs_no_quotes(std::string_view argument) {
    auto const plain = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || std::strchr("_-./=:,+@%", c);
    };
    return !argument.empty() && std::ranges::all_of(argument, plain);
}

std::string shell_argument(std::string_view argument) {
    if (needs_no_quotes(argument)) return std::string(argument);
    std::string quoted = "'";
    for (char const c : argument) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

}  // namespace

std::string shell_command(std::string_view arguments) {
    if (arguments.ends_with('\0')) arguments.remove_suffix(1);
    std::string command;
    while (true) {
        std::size_t const end = arguments.find('\0');
        command += shell_argument(arguments.substr(0, end));
        if (end == std::string_view::npos) return command;
        command += ' ';
        arguments.remove_prefix(end + 1);
    }
}

bool process_rows::complete_in(trace_file& trace, spool::spool_file const& file) {
    statement query(trace.db(), std::string("SELECT 1") + same_process + " AND spool IS NULL");
    query.bind(file.identity().pid, file.identity().process_start, first_time_of(trace, file));
    return query.next();
}

process_rows::process_rows(spool::spool_file& file, trace_file& trace, trace_writer& writer)
    : file_(file), writer_(writer) {
    std::int64_t const first_time = first_time_of(trace, file);
    find(first_time);
    if (!found_) insert(first_time);
    stacks_.emplace(writer, id_);
    load_contexts();
}

void process_rows::find(std::int64_t first_time) {
    statement query(writer_.db(), std::string("SELECT id") + same_process);
    query.bind(file_.identity().pid, file_.identity().process_start, first_time);
    found_ = query.next();
    if (found_) id_ = process_id{query.integer(0)};
}

void process_rows::insert(std::int64_t first_time) {
    writer_.begin();
    auto const& who = file_.identity();
    std::string const spool = std::filesystem::absolute(file_.path()).string();
    statement(writer_.db(),
              "INSERT INTO process (pid, parent_pid, start_ticks, stacks, first_time, end, spool)"
              " VALUES (?, ?, ?, ?, ?, 'running', ?)")(who.pid, who.parent_pid, who.process_start,
                                                       stacks_name(who.stacks), first_time, std::string_view(spool));
    id_ = process_id{writer_.db().last_row()};
}

// Rows are written in the order of the table of contexts, so the n-th row is the n-th entry.
void process_rows::load_contexts() {
    statement query(writer_.db(), "SELECT id FROM context WHERE process = ? ORDER BY id");
    query.bind(trace_writer::number(id_));
    while (query.next()) contexts_.push_back(context_id{query.integer(0)});
}

std::optional<context_id> process_rows::context(std::uint16_t index) {
    if (index == 0) return std::nullopt;
    if (index > contexts_.size()) {
        if (index >= file_.header().contexts_used.load(std::memory_order_acquire) || index >= spool::max_contexts) {
            writer_.add_loss(id_, loss::damaged_records, 1);
            return std::nullopt;
        }
        while (contexts_.size() < index) {
            context_facts const facts = read_context(file_.header(), contexts_.size() + 1);
            contexts_.push_back(writer_.add_context(id_, facts.handle, facts.device, facts.kind));
        }
    }
    if (named_.size() <= index) named_.resize(index + std::size_t{1});
    named_[index] = true;
    return contexts_[index - 1u];
}

// The device of a context may become known after the first call that names the context.
void process_rows::refresh_contexts() {
    for (std::size_t i = 0; i < std::min<std::size_t>(contexts_.size(), spool::max_contexts - 1); ++i) {
        context_facts const facts = read_context(file_.header(), i + 1);
        writer_.update_context(contexts_[i], facts.handle, facts.device, facts.kind);
    }
}

stack_id process_rows::stack(spool::record_view definition) {
    return stacks_->find_or_add(definition.frames(), (definition.stack().flags & spool::flag_stack_cut) != 0);
}

void process_rows::python_frame(spool::record_view record) {
    auto const& frame = record.python();
    writer_.add_python_frame(id_, spool::python_frame(frame.number), record.python_function(), record.python_file(),
                             frame.line);
}

void process_rows::text(spool::text_kind kind, std::string const& text) {
    std::string_view const value = text;
    switch (kind) {
        case spool::text_kind::executable:
            set("executable", value);
            break;
        case spool::text_kind::command_line:
            set("command_line", std::string_view(shell_command(text)));
            break;
        case spool::text_kind::environment:
            environment(text);
            break;
        case spool::text_kind::driver:
            set("driver_path", value);
            break;
        case spool::text_kind::setting_error:
        case spool::text_kind::note:
            writer_.add_note(id_, value);
            break;
        case spool::text_kind::working_directory:
            set("working_directory", value);
            break;
        case spool::text_kind::thread_name:
            break;  // of a thread
    }
}

// The collector sends no other variables; a spool that holds some must not make a trace that does.
void process_rows::environment(std::string const& setting) {
    std::string_view const text = setting;
    if (!text.starts_with("CUDA_") && !text.starts_with("LASTREF_")) return;
    auto const equals = text.find('=');
    if (equals != std::string_view::npos) writer_.add_environment(id_, text.substr(0, equals), text.substr(equals + 1));
}

void process_rows::write_losses() {
    auto& header = file_.header();
    std::uint64_t dropped = 0;  // those of threads whose slot is in use; of others they are in the header
    for (std::uint32_t i = 0; i < file_.thread_slots_used(); ++i) {
        auto const& owner = file_.thread(i);
        if (owner.state.load(std::memory_order_acquire) != static_cast<std::uint32_t>(spool::thread_state::unused))
            dropped += owner.dropped.load(std::memory_order_relaxed);
    }
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(loss::late_records); ++i) {
        std::uint64_t count = header.losses[i].load(std::memory_order_relaxed);
        if (static_cast<loss>(i) == loss::records_dropped) count += dropped;
        writer_.set_loss(id_, static_cast<loss>(i), bounded(count));
    }
}

void process_rows::write_unhooked() {
    for (auto const& entry : file_.header().unhooked) {
        if (entry.state.load(std::memory_order_acquire) != 2) continue;
        std::string_view const name(entry.name, strnlen(entry.name, sizeof entry.name));
        writer_.set_unhooked(id_, name, entry.obtained.load(std::memory_order_relaxed));
    }
}

void process_rows::write_state(std::int64_t last_time) {
    refresh_contexts();
    write_losses();
    write_unhooked();
    set("last_time", last_time);
    if (std::uint64_t const version = file_.header().driver_version) driver_version(bounded(version));
}

// A context that calls name has a handle, unless that page of the spool was lost.
std::uint64_t process_rows::contexts_lost() const {
    std::uint64_t lost = 0;
    for (std::size_t i = 1; i < named_.size() && i < spool::max_contexts; ++i)
        lost += named_[i] && file_.header().contexts[i].handle.load(std::memory_order_acquire) == 0;
    return lost;
}

void process_rows::finish(process_end end, std::int64_t last_time, exit_result const& exit) {
    write_state(last_time);
    writer_.set_loss(id_, loss::processes_unfinished, 0);
    writer_.add_loss(id_, loss::unreadable_segments, file_.segments_missing());
    writer_.add_loss(id_, loss::damaged_records, contexts_lost());
    set("end", end_name(end));
    if (exit.status) set("exit_status", *exit.status);
    if (exit.signal) set("exit_signal", *exit.signal);
    set("spool", std::nullopt);
    writer_.forget_progress(id_);
}

void process_rows::leave_unfinished(std::int64_t last_time) {
    write_state(last_time);
    writer_.set_loss(id_, loss::processes_unfinished, 1);
}

void process_rows::foreign() {
    writer_.set_loss(id_, loss::foreign_table, 1);
}

}  // namespace lastref::drain
