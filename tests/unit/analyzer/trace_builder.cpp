#include "tests/unit/analyzer/trace_builder.h"

#include <fmt/core.h>
#include <sqlite3.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "collector/preload/hooks/api_table.h"

namespace lastref::test {
namespace {

constexpr std::uint64_t bias = 0x500000;
constexpr std::array stream_names{"none", "legacy", "per_thread"};

std::string sql_text(std::string_view text) {
    std::string out = "'";
    for (char const c : text) out += c == '\'' ? "''" : std::string(1, c);
    return out + "'";
}

std::string number_or_null(std::optional<std::int64_t> number) {
    return number ? fmt::format("{}", *number) : "NULL";
}

std::int64_t signed_value(std::uint64_t value) {
    return static_cast<std::int64_t>(value);
}

class fake_names : public symbols::source {
  public:
    explicit fake_names(std::map<std::uint64_t, std::string> functions) : functions_(std::move(functions)) {}

    std::vector<symbols::symbol> at(std::string const&, std::string const&, std::uint64_t address) override {
        auto const found = functions_.find(address + 1);
        if (found == functions_.end()) return {};
        return {{found->second, "/src/demo/" + found->second + ".cpp", 10, false}};
    }
    symbols::source_state state(std::string const&, std::string const&) override {
        return symbols::source_state::found;
    }

  private:
    std::map<std::uint64_t, std::string> functions_;
};

}  // namespace

// --- threads -------------------------------------------------------------------------------------------------------

std::int64_t thread_builder::call(std::string_view symbol, test::call const& what) {
    return owner_.add_event(*this, symbol, what);
}

std::int64_t thread_builder::destructor(std::uint64_t object, std::uint64_t payload, int flags) {
    return call("callback:user_object", {.object = object, .other = payload, .extra = 0xd0, .flags = flags});
}

thread_builder& thread_builder::use(std::int64_t context) {
    context_ = context;
    return *this;
}

thread_builder& thread_builder::in(std::vector<std::string> stack) {
    stack_ = std::move(stack);
    return *this;
}

// --- the file ------------------------------------------------------------------------------------------------------

trace_builder::trace_builder() {
    auto pattern = (std::filesystem::temp_directory_path() / "lastref-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    folder_ = pattern;
    path_ = folder_ / "trace.lastref";
    if (sqlite3_open(path_.c_str(), &db_) != SQLITE_OK) throw std::runtime_error("cannot make a trace");
    schema();
    tables();
    sql("INSERT INTO meta VALUES ('state', 'complete'), ('lastref_version', '0.1.0')");
    process("/build/demo", 4711);
}

trace_builder::~trace_builder() {
    sqlite3_close(db_);
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

void trace_builder::sql(std::string const& statement) {
    char* message = nullptr;
    if (sqlite3_exec(db_, statement.c_str(), nullptr, nullptr, &message) == SQLITE_OK) return;
    std::string const text = fmt::format("{}: {}", message ? message : "?", statement);
    sqlite3_free(message);
    throw std::runtime_error(text);
}

void trace_builder::schema() {
    std::ifstream file(LASTREF_SCHEMA);
    std::stringstream text;
    text << file.rdbuf();
    if (text.str().empty()) throw std::runtime_error("schema/trace.sql is not there");
    sql("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF");
    sql(text.str());
    sql("PRAGMA application_id = 0x4c524546; PRAGMA user_version = 1");
    sql("BEGIN");
}

void trace_builder::tables() {
    for (std::size_t i = 0; i < event_kinds.size(); ++i)
        sql(fmt::format("INSERT INTO kind VALUES ({}, {}, {}, {})", i + 1, sql_text(event_kinds[i].name),
                        sql_text(event_kinds[i].object), sql_text(event_kinds[i].verb)));
    for (std::size_t i = 0; i < hooks::abi_table.size(); ++i) {
        auto const& entry = hooks::abi_table[i];
        sql(fmt::format("INSERT INTO api (id, symbol, name, default_stream, kind) VALUES ({}, {}, {}, {}, {})", i + 1,
                        sql_text(entry.symbol), sql_text(entry.name),
                        sql_text(stream_names[static_cast<std::size_t>(entry.streams)]),
                        static_cast<std::size_t>(entry.kind) + 1));
    }
}

std::int64_t trace_builder::process(std::string const& executable, std::int64_t pid) {
    sql(
        fmt::format("INSERT INTO process (pid, parent_pid, start_ticks, executable, command_line, stacks, first_time, "
                    "last_time, end, "
                    "exit_status) VALUES ({}, 1, 1, {}, {}, 'create', 0, 0, 'clean', 0)",
                    pid, sql_text(executable), sql_text(executable)));
    process_ = sqlite3_last_insert_rowid(db_);
    executables_[process_] = executable;
    has_main_ = false;
    return process_;
}

thread_builder trace_builder::thread(std::string const& name) {
    sql(fmt::format(
        "INSERT INTO thread (process, tid, name, main) VALUES ({}, (SELECT 100 + count(*) FROM thread), {}, {})",
        process_, sql_text(name), has_main_ ? 0 : 1));
    has_main_ = true;
    return {*this, sqlite3_last_insert_rowid(db_), process_};
}

std::int64_t trace_builder::context(std::uint64_t handle, std::string const& kind, int device) {
    sql(fmt::format("INSERT INTO context (process, handle, device, kind) VALUES ({}, {}, {}, {})", process_,
                    signed_value(handle), device, sql_text(kind)));
    return sqlite3_last_insert_rowid(db_);
}

void trace_builder::ends(std::string const& how, std::optional<int> status, std::optional<int> signal) {
    sql(fmt::format("UPDATE process SET end = {}, exit_status = {}, exit_signal = {} WHERE id = {}", sql_text(how),
                    number_or_null(status), number_or_null(signal), process_));
}

void trace_builder::phase(std::string const& what) {
    sql(fmt::format(
        "INSERT INTO phase (process, at, what, event) VALUES ({}, {}, {}, (SELECT coalesce(max(id), 0) FROM event))",
        process_, clock_, sql_text(what)));
}

namespace {

// Calls end before the next one begins, a millisecond apart: half of that lies between them.
std::string time_behind(std::int64_t event) {
    return fmt::format("coalesce((SELECT begin + ifnull(duration, 0) + 500000 FROM event WHERE id = {}), 0)", event);
}

}  // namespace

void trace_builder::range(std::string const& name, std::int64_t before, std::optional<std::int64_t> last) {
    sql(
        fmt::format("INSERT INTO range (process, number, name, begin, begin_event, end, end_event) VALUES ({}, "
                    "(SELECT count(*) + 1 FROM range), {}, {}, {}, {}, {})",
                    process_, sql_text(name), time_behind(before), before, last ? time_behind(*last) : "NULL",
                    number_or_null(last)));
}

void trace_builder::nvtx_range(thread_builder const& thread, std::string const& name, std::int64_t before,
                               std::optional<std::int64_t> last, said const& more) {
    auto const domain = more.domain.empty() ? std::string("NULL") : sql_text(more.domain);
    sql(fmt::format(
        "INSERT INTO nvtx_range (process, thread, kind, domain, message, begin, begin_event, end, end_event, "
        "end_thread) VALUES ({}, {}, {}, {}, {}, {}, {}, {}, {}, {})",
        thread.process_, thread.id_, sql_text(more.kind), domain, sql_text(name), time_behind(before), before,
        last ? time_behind(*last) : "NULL", number_or_null(last), last ? std::to_string(thread.id_) : "NULL"));
}

void trace_builder::nvtx_name(std::string const& resource, std::uint64_t handle, std::string const& name) {
    sql(fmt::format("INSERT INTO nvtx_name VALUES ({}, {}, {}, {}, {}, (SELECT coalesce(max(id), 0) FROM event))",
                    process_, sql_text(resource), signed_value(handle), sql_text(name), clock_));
}

void trace_builder::loss(std::string const& name, std::int64_t count) {
    sql(fmt::format("INSERT INTO loss VALUES ({}, {}, 'told by the trace', {})", process_, sql_text(name), count));
}

void trace_builder::note(std::string const& text) {
    sql(fmt::format("INSERT INTO note VALUES ({}, {})", process_, sql_text(text)));
}

void trace_builder::state(std::string const& text) {
    sql(fmt::format("UPDATE meta SET value = {} WHERE key = 'state'", sql_text(text)));
}

std::filesystem::path trace_builder::finish() {
    sql(fmt::format("UPDATE process SET last_time = {}", clock_));
    sql("COMMIT");
    sqlite3_close(db_);
    db_ = nullptr;
    return path_;
}

// --- stacks --------------------------------------------------------------------------------------------------------

std::int64_t trace_builder::module(std::int64_t process, std::string const& path) {
    auto& known = modules_[{process, path}];
    if (known != 0) return known;
    // Loaded elsewhere in each process, as address-space randomization does.
    auto const base = signed_value(bias * (modules_.size() + 1));
    sql(
        fmt::format("INSERT INTO module (process, path, build_id, load_bias, first_address, end_address) VALUES "
                    "({}, {}, 'abcd', {}, {}, {})",
                    process, sql_text(path), base, base, base + 0x100000));
    return known = sqlite3_last_insert_rowid(db_);
}

std::int64_t trace_builder::python_frame(std::int64_t process, std::string const& place) {
    auto const file = place.find(".py:") + 3;
    auto const line = place.find(':', file + 1);
    auto const address = signed_value(0x8000'0000'0000'0000 + frames_.size());
    sql(fmt::format("INSERT INTO python_frame VALUES ({}, {}, {}, {}, {})", process, address,
                    sql_text(place.substr(line + 1)), sql_text(place.substr(0, file)),
                    place.substr(file + 1, line - file - 1)));
    sql(fmt::format("INSERT INTO frame (process, address) VALUES ({}, {})", process, address));
    return sqlite3_last_insert_rowid(db_);
}

std::int64_t trace_builder::frame(std::int64_t process, std::string const& function) {
    auto& known = frames_[{process, function}];
    if (known != 0) return known;
    if (function.find(".py:") != std::string::npos) return known = python_frame(process, function);
    auto const mark = function.find('!');
    auto const path = mark == std::string::npos ? executables_[process] : "/usr/lib/" + function.substr(0, mark);
    auto const [offset, fresh] = offsets_.try_emplace(function, 0x1000 + 0x10 * offsets_.size());
    if (fresh) functions_[offset->second] = mark == std::string::npos ? function : function.substr(mark + 1);
    auto const in = module(process, path);
    sql(fmt::format(
        "INSERT INTO frame (process, address, module) SELECT {}, load_bias + {}, id FROM module WHERE id = {}", process,
        offset->second, in));
    return known = sqlite3_last_insert_rowid(db_);
}

std::int64_t trace_builder::stack(std::int64_t process, std::vector<std::string> const& functions) {
    auto& known = stacks_[{process, functions}];
    if (known != 0) return known;
    sql(fmt::format("INSERT INTO stack (process, cut) VALUES ({}, 0)", process));
    known = sqlite3_last_insert_rowid(db_);
    for (std::size_t depth = 0; depth < functions.size(); ++depth)
        sql(fmt::format("INSERT INTO stack_frame VALUES ({}, {}, {})", known, depth, frame(process, functions[depth])));
    return known;
}

std::int64_t trace_builder::add_event(thread_builder const& thread, std::string_view symbol, call const& what) {
    auto const& functions = what.stack.empty() ? thread.stack_ : what.stack;
    auto const stack_id = functions.empty() ? std::optional<std::int64_t>{} : stack(thread.process_, functions);
    auto context = what.context.value_or(thread.context_);
    auto const length = what.lasts_ms * 1'000'000 + 2000;
    sql(
        fmt::format("INSERT INTO event (begin, duration, thread, api, result, context, stream, object, other, size, "
                    "extra, stack, flags) "
                    "VALUES ({}, {}, {}, (SELECT id FROM api WHERE symbol = {}), {}, {}, {}, {}, {}, {}, {}, {}, {})",
                    clock_ - what.lasts_ms * 1'000'000, what.result ? fmt::format("{}", length) : "NULL", thread.id_,
                    sql_text(symbol), number_or_null(what.result), context ? fmt::format("{}", context) : "NULL",
                    signed_value(what.stream), signed_value(what.object), signed_value(what.other),
                    signed_value(what.size), signed_value(what.extra), number_or_null(stack_id), what.flags));
    clock_ += 1'000'000;
    return sqlite3_last_insert_rowid(db_);
}

std::unique_ptr<symbols::source> trace_builder::names() const {
    return std::make_unique<fake_names>(functions_);
}

}  // namespace lastref::test
