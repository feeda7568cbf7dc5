#include "analyzer/store/trace.h"

#include "analyzer/store/open.h"
#include "analyzer/store/words.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include <array>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

namespace lastref::store {
namespace {

event_kind kind_named(std::string_view name) {
    for (std::size_t i = 0; i < event_kinds.size(); ++i)
        if (event_kinds[i].name == name) return static_cast<event_kind>(i);
    return event_kind::count;
}

// Ids of small tables are dense in what we write. A file that names others is refused rather than given gigabytes.
constexpr std::int64_t greatest_table_id = 1 << 24;

template <class Row>
class table {
  public:
    void add(Row row, std::string const& file) {
        auto const id = row.id.value;
        if (id == 0 || id > greatest_table_id) throw damaged(file, "row id out of range");
        if (position_.size() <= id) position_.resize(id + 1, 0);
        rows_.push_back(std::move(row));
        position_[id] = static_cast<std::uint32_t>(rows_.size());
    }

    Row const* find(std::uint32_t id) const {
        return id < position_.size() && position_[id] != 0 ? &rows_[position_[id] - 1] : nullptr;
    }

    std::vector<Row> const& rows() const { return rows_; }

  private:
    std::vector<Row> rows_;
    std::vector<std::uint32_t> position_;  // by id, counted from 1
};

}  // namespace

struct trace::contents {
    std::string path;
    database db;
    table<process> processes;
    table<thread> threads;
    table<context> contexts;
    table<api> apis;
    table<module> modules;
    std::vector<phase> phases;
    std::vector<range> ranges;
    std::vector<context_change> context_changes;
    std::vector<loss> losses;
    std::vector<unhooked> unhooked_entries;
    std::vector<audited_call> audit;
    std::vector<note> notes;
    trace_state recording = trace_state::unfinished;
    std::string version;
    std::int64_t greatest_event = 0;
    std::optional<statement> stack_head, stack_rows;

    statement prepare(std::string_view sql) const { return {db, sql, path}; }

    template <class Id>
    Id id(statement const& row, int column) const {
        auto const value = row.integer_or(column, 0);
        if (value < 0 || value > std::numeric_limits<std::uint32_t>::max()) throw damaged(path, "row id out of range");
        return Id{static_cast<std::uint32_t>(value)};
    }

    template <class Row, class Id>
    Row const& at(table<Row> const& rows, Id id, char const* what) const {
        if (auto const* row = rows.find(id.value)) return *row;
        throw damaged(path, fmt::format("{} {} is named but not there", what, id.value));
    }

    bool is_strict(char const* table) const;
    bool has_table(char const* name) const;
    stack read_stack(stack_id which);
    std::string stack_rows_query();
    frame read_frame(statement& row);

    void load();
    void load_meta();
    void load_processes();
    void load_threads();
    void load_contexts();
    void load_apis();
    void load_modules();
    void load_phases();
    void load_ranges();
    void load_audit();
    void load_context_changes();
    void load_losses();
};

void trace::contents::load() {
    prepare("BEGIN").step();  // one snapshot for everything that follows
    load_meta();
    load_processes();
    load_threads();
    load_contexts();
    load_apis();
    load_modules();
    load_phases();
    load_ranges();
    load_audit();
    load_context_changes();
    load_losses();
}

void trace::contents::load_meta() {
    auto rows = prepare("SELECT key, value FROM meta");
    while (rows.step()) {
        auto const key = rows.text(0);
        if (key == "state") recording = named(state_names, rows.text(1), trace_state::unfinished);
        if (key == "lastref_version") version = rows.text(1);
    }
    auto greatest = prepare("SELECT max(id) FROM event");
    if (greatest.step()) greatest_event = greatest.integer_or(0, 0);
}

void trace::contents::load_processes() {
    auto rows = prepare(
        "SELECT id, pid, parent_pid, executable, command_line, stacks, driver_version, first_time, last_time, end, "
        "exit_status, exit_signal, spool IS NOT NULL FROM process ORDER BY id");
    while (rows.step()) {
        process row;
        row.id = id<process_id>(rows, 0);
        row.pid = rows.integer(1);
        row.parent_pid = rows.integer(2);
        row.executable = rows.text(3);
        row.command_line = rows.text(4);
        row.stacks = rows.text(5);
        row.driver_version = rows.optional_integer(6);
        row.first_time = rows.integer(7);
        row.last_time = rows.optional_integer(8);
        row.end = named(end_names, rows.text(9), process_end::abrupt);
        row.exit_status = rows.optional_integer(10);
        row.exit_signal = rows.optional_integer(11);
        row.spool_left = rows.integer(12) != 0;
        processes.add(std::move(row), path);
    }
}

void trace::contents::load_threads() {
    auto rows = prepare("SELECT id, process, tid, name, main FROM thread ORDER BY id");
    while (rows.step()) {
        thread row;
        row.id = id<thread_id>(rows, 0);
        row.process = id<process_id>(rows, 1);
        row.tid = rows.integer(2);
        row.name = rows.text(3);
        row.main = rows.integer(4) != 0;
        at(processes, row.process, "process");
        threads.add(std::move(row), path);
    }
}

void trace::contents::load_contexts() {
    auto rows = prepare("SELECT id, process, handle, device, kind FROM context ORDER BY id");
    while (rows.step()) {
        context row;
        row.id = id<context_id>(rows, 0);
        row.process = id<process_id>(rows, 1);
        row.handle = static_cast<store::handle>(rows.integer(2));
        row.device = rows.optional_integer(3);
        row.kind = named(context_names, rows.text(4), context_kind::unknown);
        contexts.add(row, path);
    }
}

void trace::contents::load_apis() {
    auto rows = prepare(
        "SELECT api.id, api.symbol, api.name, api.default_stream, kind.name, kind.verb "
        "FROM api JOIN kind ON kind.id = api.kind ORDER BY api.id");
    while (rows.step()) {
        api row;
        row.id = id<api_id>(rows, 0);
        row.symbol = rows.text(1);
        row.name = rows.text(2);
        row.default_stream = named(stream_names, rows.text(3), default_stream::none);
        row.kind = kind_named(rows.text(4));
        row.verb = named(verb_names, rows.text(5), verb::other);
        apis.add(std::move(row), path);
    }
}

void trace::contents::load_modules() {
    auto rows =
        prepare("SELECT id, process, path, build_id, load_bias, first_address, end_address FROM module ORDER BY id");
    while (rows.step()) {
        module row;
        row.id = id<module_id>(rows, 0);
        row.process = id<process_id>(rows, 1);
        row.path = rows.text(2);
        row.build_id = rows.text(3);
        row.load_bias = static_cast<std::uint64_t>(rows.integer(4));
        row.begin = static_cast<std::uint64_t>(rows.integer(5));
        row.end = static_cast<std::uint64_t>(rows.integer(6));
        modules.add(std::move(row), path);
    }
}

void trace::contents::load_phases() {
    auto rows = prepare("SELECT process, at, what, event FROM phase ORDER BY at, rowid");
    while (rows.step()) {
        phase row;
        row.process = id<process_id>(rows, 0);
        row.at = rows.integer(1);
        row.what = named(phase_names, rows.text(2), phase_step::other);
        row.event = event_id{rows.integer(3)};
        phases.push_back(row);
    }
}

bool trace::contents::has_table(char const* name) const {
    auto rows = prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?");
    rows.bind(1, std::string_view(name));
    return rows.step();
}

// Traces of older versions have no such table.
void trace::contents::load_ranges() {
    if (!has_table("range")) return;
    auto rows = prepare("SELECT process, name, begin, end, begin_event, end_event FROM range ORDER BY begin_event, id");
    while (rows.step()) {
        range row;
        row.process = id<process_id>(rows, 0);
        row.name = rows.text(1);
        row.begin = rows.integer(2);
        if (!rows.is_null(3)) row.end = rows.integer(3);
        row.before = event_id{rows.integer(4)};
        row.last = event_id{rows.integer_or(5, std::numeric_limits<std::int64_t>::max())};
        ranges.push_back(std::move(row));
    }
}

// Nor have they these columns.
void trace::contents::load_context_changes() {
    if (!has_table("range") || !has_table("nvtx_range")) return;
    auto rows = prepare(
        "SELECT process, thread, NULL, name, begin, end, begin_event, end_event, begin_context, end_context FROM range "
        "WHERE end_thread = thread AND begin_context IS NOT end_context UNION ALL "
        "SELECT process, thread, domain, message, begin, end, begin_event, end_event, begin_context, end_context "
        "FROM nvtx_range WHERE end_thread = thread AND begin_context IS NOT end_context ORDER BY 6, 5 DESC");
    while (rows.step())
        context_changes.push_back({id<process_id>(rows, 0), id<thread_id>(rows, 1), rows.text(2), rows.text(3),
                                   rows.integer(4), rows.integer(5), event_id{rows.integer(6)},
                                   event_id{rows.integer(7)}, id<context_id>(rows, 8), id<context_id>(rows, 9)});
}

void trace::contents::load_losses() {
    auto rows = prepare("SELECT process, name, text, count FROM loss");
    while (rows.step()) losses.push_back({id<process_id>(rows, 0), rows.text(1), rows.text(2), rows.integer(3)});
    auto names = prepare("SELECT process, name, obtained FROM unhooked ORDER BY name");
    while (names.step()) unhooked_entries.push_back({id<process_id>(names, 0), names.text(1), names.integer(2)});
    auto lines = prepare("SELECT process, text FROM note");
    while (lines.step()) notes.push_back({id<process_id>(lines, 0), lines.text(1)});
}

audited_call::verdict verdict_named(std::string const& name) {
    using verdict = audited_call::verdict;
    static constexpr std::pair<char const*, verdict> all[] = {{"same", verdict::same},
                                                              {"expected", verdict::expected},
                                                              {"missed", verdict::missed},
                                                              {"outside", verdict::outside}};
    for (auto const& [known, is] : all)
        if (name == known) return is;
    return verdict::extra;
}

void trace::contents::load_audit() {
    if (!has_table("cupti_call")) return;
    if (!prepare("SELECT 1 FROM cupti_call LIMIT 1").step()) return;
    auto rows = prepare("SELECT process, symbol, recorded, cupti, verdict FROM audit ORDER BY symbol, process");
    while (rows.step())
        audit.push_back(
            {id<process_id>(rows, 0), rows.text(1), rows.integer(2), rows.integer(3), verdict_named(rows.text(4))});
    if (!prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'cupti_stray'").step()) return;
    std::map<std::pair<process_id, std::string>, std::vector<std::string>> callers;
    auto strays = prepare("SELECT process, symbol, module FROM cupti_stray ORDER BY calls DESC, module");
    while (strays.step()) callers[{id<process_id>(strays, 0), strays.text(1)}].push_back(strays.text(2));
    for (auto& each : audit)
        if (auto const known = callers.find({each.process, each.symbol}); known != callers.end())
            each.callers = known->second;
}

void check_file(std::filesystem::path const& path) {
    check_file_of(open_for_reading(path), path.string());
}

trace trace::open(std::filesystem::path const& path) {
    auto opened = std::make_unique<contents>();
    opened->path = path.string();
    opened->db = open_for_reading(path);
    opened->load();
    return trace(std::move(opened));
}

trace::trace(std::unique_ptr<contents> s) : contents_(std::move(s)) {}
trace::~trace() = default;
trace::trace(trace&&) noexcept = default;
trace& trace::operator=(trace&&) noexcept = default;

std::string const& trace::path() const {
    return contents_->path;
}
trace_state trace::state() const {
    return contents_->recording;
}
std::string const& trace::version() const {
    return contents_->version;
}
std::vector<process> const& trace::processes() const {
    return contents_->processes.rows();
}
std::vector<thread> const& trace::threads() const {
    return contents_->threads.rows();
}
std::vector<context> const& trace::contexts() const {
    return contents_->contexts.rows();
}
std::vector<api> const& trace::apis() const {
    return contents_->apis.rows();
}
std::vector<module> const& trace::modules() const {
    return contents_->modules.rows();
}
std::vector<phase> const& trace::phases() const {
    return contents_->phases;
}
std::vector<range> const& trace::ranges() const {
    return contents_->ranges;
}
std::vector<context_change> const& trace::context_changes() const {
    return contents_->context_changes;
}
std::vector<loss> const& trace::losses() const {
    return contents_->losses;
}
std::vector<audited_call> const& trace::audit() const {
    return contents_->audit;
}
std::vector<unhooked> const& trace::unhooked_entries() const {
    return contents_->unhooked_entries;
}
std::vector<note> const& trace::notes() const {
    return contents_->notes;
}

process const& trace::at(process_id id) const {
    return contents_->at(contents_->processes, id, "process");
}
thread const& trace::at(thread_id id) const {
    return contents_->at(contents_->threads, id, "thread");
}
context const& trace::at(context_id id) const {
    return contents_->at(contents_->contexts, id, "context");
}
api const& trace::at(api_id id) const {
    return contents_->at(contents_->apis, id, "entry point");
}
module const& trace::at(module_id id) const {
    return contents_->at(contents_->modules, id, "module");
}

// Traces of an older lastref know no Python.
std::string trace::contents::stack_rows_query() {
    bool const has_python =
        prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'python_frame'").step();
    std::string const python =
        has_python ? "python_frame.function, python_frame.file, python_frame.line" : "NULL, NULL, NULL";
    std::string const join = has_python ? "LEFT JOIN python_frame USING (process, address) " : "";
    return "SELECT frame.id, frame.address, frame.module, " + python +
           " FROM stack_frame JOIN frame ON frame.id = stack_frame.frame " + join +
           "WHERE stack_frame.stack = ? ORDER BY stack_frame.depth";
}

frame trace::contents::read_frame(statement& row) {
    frame out;
    out.id = id<frame_id>(row, 0);
    out.address = static_cast<std::uint64_t>(row.integer(1));
    out.module = id<module_id>(row, 2);
    out.python = row.integer(1) < 0;
    if (!out.python) return out;
    out.function = row.text(3);
    out.file = row.text(4);
    out.line = static_cast<int>(row.integer_or(5, 0));
    return out;
}

stack trace::contents::read_stack(stack_id which) {
    // Asked for once a place, of which there may be many: to prepare a statement takes longer than to run it.
    if (!stack_head) stack_head.emplace(prepare("SELECT cut FROM stack WHERE id = ?"));
    if (!stack_rows) stack_rows.emplace(prepare(stack_rows_query()));
    stack out;
    stack_head->reset();
    stack_head->bind(1, which.value);
    if (!stack_head->step()) throw damaged(path, fmt::format("stack {} is named but not there", which.value));
    out.cut = stack_head->integer(0) != 0;
    stack_rows->reset();
    stack_rows->bind(1, which.value);
    while (stack_rows->step()) out.frames.push_back(read_frame(*stack_rows));
    return out;
}

stack trace::stack_of(stack_id id) const {
    return id ? contents_->read_stack(id) : stack{};
}

std::int64_t trace::event_count() const {
    return contents_->greatest_event;
}

namespace {

// As event_reader::state::read takes them.
constexpr std::string_view event_columns =
    "id, begin, duration, thread, api, result, context, stream, object, other, size, extra, stack, flags";

}  // namespace

struct event_reader::state {
    trace::contents const& owner;
    statement rows;

    event read() const;
};

event event_reader::state::read() const {
    event out;
    out.id = event_id{rows.integer(0)};
    out.begin = rows.integer(1);
    out.duration = rows.integer_or(2, not_returned);
    out.thread = owner.id<thread_id>(rows, 3);
    out.api = owner.id<api_id>(rows, 4);
    out.result = rows.integer_or(5, not_returned);
    out.context = owner.id<context_id>(rows, 6);
    out.stream = static_cast<handle>(rows.integer(7));
    out.object = static_cast<handle>(rows.integer(8));
    out.other = static_cast<handle>(rows.integer(9));
    out.size = static_cast<std::uint64_t>(rows.integer(10));
    out.extra = static_cast<std::uint64_t>(rows.integer(11));
    out.stack = owner.id<stack_id>(rows, 12);
    out.flags = static_cast<std::uint8_t>(rows.integer(13));
    return out;
}

event_reader::event_reader(std::unique_ptr<state> s) : state_(std::move(s)) {}
event_reader::~event_reader() = default;
event_reader::event_reader(event_reader&&) noexcept = default;

bool event_reader::next(std::vector<event>& batch) {
    batch.clear();
    while (batch.size() < batch_size && state_->rows.step()) batch.push_back(state_->read());
    return !batch.empty();
}

// A file of somebody else's making may have any table of that name.
bool trace::contents::is_strict(char const* table) const {
    auto rows =
        prepare("SELECT 1 FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict AND name = '" +
                std::string(table) + "'");
    return rows.step();
}

event_reader trace::events(event_id from) const {
    auto rows = contents_->prepare(fmt::format("SELECT {} FROM event WHERE id >= ? ORDER BY id", event_columns));
    if (contents_->is_strict("event")) rows.trust_types();
    rows.bind(1, from.value);
    return event_reader(std::unique_ptr<event_reader::state>(new event_reader::state{*contents_, std::move(rows)}));
}

// --- what was said through NVTX --------------------------------------------------------------------------------------

template <class Row>
struct row_reader<Row>::state {
    trace::contents const& owner;
    statement rows;

    void read(Row& out) const;
};

template <>
void nvtx_range_reader::state::read(nvtx_range& out) const {
    out.process = owner.id<process_id>(rows, 0);
    out.thread = owner.id<thread_id>(rows, 1);
    out.pushed = rows.integer(2) != 0;
    out.domain = rows.text(3);
    out.name = rows.text(4);
    out.begin = rows.integer(5);
    out.end = rows.optional_integer(6);
    out.before = event_id{rows.integer(7)};
    out.last = event_id{rows.integer_or(8, std::numeric_limits<std::int64_t>::max())};
}

template <>
void given_name_reader::state::read(given_name& out) const {
    out.process = owner.id<process_id>(rows, 0);
    out.what = named(resource_names, rows.text(1), named_resource::other);
    out.handle = static_cast<handle>(rows.integer(2));
    out.name = rows.text(3);
    out.event = event_id{rows.integer(4)};
}

template <class Row>
row_reader<Row>::row_reader(std::unique_ptr<state> s) : state_(std::move(s)) {}
template <class Row>
row_reader<Row>::~row_reader() = default;
template <class Row>
row_reader<Row>::row_reader(row_reader&&) noexcept = default;

template <class Row>
bool row_reader<Row>::next(Row& row) {
    if (!state_ || !state_->rows.step()) return false;
    state_->read(row);
    return true;
}

template class row_reader<nvtx_range>;
template class row_reader<given_name>;

nvtx_range_reader trace::nvtx_ranges(std::vector<std::string> const& names) const {
    if (!contents_->has_table("nvtx_range")) return nvtx_range_reader(nullptr);
    std::string wanted;
    for (std::size_t i = 0; i < names.size(); ++i) wanted += i == 0 ? "?" : ", ?";
    // Rows are written as ranges begin.
    auto rows = contents_->prepare(fmt::format(
        "SELECT process, thread, kind = 'push', domain, message, begin, end, begin_event, end_event FROM nvtx_range{} "
        "ORDER BY id",
        names.empty() ? "" : " WHERE message COLLATE NOCASE IN (" + wanted + ")"));
    for (std::size_t i = 0; i < names.size(); ++i) rows.bind(static_cast<int>(i) + 1, std::string_view(names[i]));
    return nvtx_range_reader(
        std::unique_ptr<nvtx_range_reader::state>(new nvtx_range_reader::state{*contents_, std::move(rows)}));
}

given_name_reader trace::given_names() const {
    if (!contents_->has_table("nvtx_name")) return given_name_reader(nullptr);
    auto rows = contents_->prepare(
        "SELECT process, resource, handle, name, event FROM nvtx_name "
        "WHERE resource IN ('thread', 'context', 'stream', 'event') ORDER BY event, rowid");
    return given_name_reader(
        std::unique_ptr<given_name_reader::state>(new given_name_reader::state{*contents_, std::move(rows)}));
}

std::vector<event> trace::events_at(std::vector<event_id> const& ids) const {
    event_reader::state reading{*contents_,
                                contents_->prepare(fmt::format("SELECT {} FROM event WHERE id = ?", event_columns))};
    std::vector<event> out;
    out.reserve(ids.size());
    for (auto const id : ids) {
        reading.rows.reset();
        reading.rows.bind(1, id.value);
        if (reading.rows.step()) out.push_back(reading.read());
    }
    return out;
}

}  // namespace lastref::store
