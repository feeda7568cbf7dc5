// `lastref query`: a user's own SQL over a trace, read-only.
#include "analyzer/store/query.h"
#include "analyzer/cli/commands.h"
#include "analyzer/report/escape.h"

#include <fmt/core.h>
#include <unistd.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

namespace lastref::cli {
namespace {

using row = std::vector<store::value>;

std::string bytes_text(store::blob const& blob) {
    std::string out;
    for (unsigned char const byte : blob.bytes) out += fmt::format("{:02x}", byte);
    return out;
}

std::string cell(store::value const& v) {
    struct visitor {
        std::string operator()(std::monostate) const { return ""; }
        std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
        std::string operator()(double number) const { return fmt::format("{}", number); }
        std::string operator()(std::string const& text) const { return report::escaped(text); }
        std::string operator()(store::blob const& blob) const { return bytes_text(blob); }
    };
    return std::visit(visitor{}, v);
}

bool is_number(store::value const& v) {
    return std::holds_alternative<std::int64_t>(v) || std::holds_alternative<double>(v);
}

// Characters, not bytes: what is printed is UTF-8 by then.
std::size_t width_of(std::string const& text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

// Columns are as wide as the first rows need; what comes later and is wider pushes its line out.
class table {
  public:
    void header(std::vector<std::string> const& names) {
        for (auto const& name : names) {
            names_.push_back(report::escaped(name));
            widths_.push_back(width_of(names_.back()));
        }
    }
    void add(row const& values) {
        if (flushed_) return print(values);
        waiting_.push_back(values);
        for (std::size_t i = 0; i < values.size(); ++i) widths_[i] = std::max(widths_[i], width_of(cell(values[i])));
        if (waiting_.size() == measured) flush();
    }
    void flush() {
        if (std::exchange(flushed_, true)) return;
        std::string rule;
        std::string head;
        for (std::size_t i = 0; i < names_.size(); ++i) {
            head += (i ? "  " : "") + padded(names_[i], widths_[i], false);
            rule += (i ? "  " : "") + std::string(widths_[i], '-');
        }
        fmt::print("{}\n{}\n", head, rule);
        for (auto const& values : waiting_) print(values);
        waiting_.clear();
    }

  private:
    static constexpr std::size_t measured = 1000;

    static std::string padded(std::string const& text, std::size_t width, bool right) {
        auto const fill = std::string(width - std::min(width, width_of(text)), ' ');
        return right ? fill + text : text + fill;
    }
    void print(row const& values) const {
        std::string line;
        for (std::size_t i = 0; i < values.size(); ++i)
            line += (i ? "  " : "") + padded(cell(values[i]), widths_[i], is_number(values[i]));
        line.erase(line.find_last_not_of(' ') + 1);
        fmt::print("{}\n", line);
    }

    std::vector<std::string> names_;
    std::vector<std::size_t> widths_;
    std::vector<row> waiting_;
    bool flushed_ = false;
};

void print_table(std::string const& trace, std::string const& sql) {
    table out;
    store::query(
        trace, sql, [&](auto const& names) { out.header(names); }, [&](row const& values) { out.add(values); });
    out.flush();
}

void print_tabs(std::string const& trace, std::string const& sql) {
    auto const line = [](auto const& cells, auto const& text) {
        std::string out;
        for (auto const& c : cells) out += (&c == &cells.front() ? "" : "\t") + text(c);
        fmt::print("{}\n", out);
    };
    store::query(
        trace, sql, [&](auto const& names) { line(names, [](std::string const& n) { return report::escaped(n); }); },
        [&](row const& values) { line(values, cell); });
}

nlohmann::ordered_json json_of(store::value const& v) {
    if (auto const* number = std::get_if<std::int64_t>(&v)) return *number;
    if (auto const* number = std::get_if<double>(&v)) return *number;
    if (auto const* text = std::get_if<std::string>(&v)) return *text;
    if (auto const* blob = std::get_if<store::blob>(&v)) return bytes_text(*blob);
    return nullptr;
}

void print_json(std::string const& trace, std::string const& sql) {
    std::vector<std::string> names;
    std::size_t rows = 0;
    store::query(
        trace, sql, [&](auto const& columns) { names = columns; },
        [&](row const& values) {
            nlohmann::ordered_json object = nlohmann::ordered_json::object();
            for (std::size_t i = 0; i < values.size(); ++i) object[names[i]] = json_of(values[i]);
            fmt::print("{} {}", rows++ ? ",\n" : "[\n",
                       object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
        });
    fmt::print("{}", rows ? "\n]\n" : "[]\n");
}

int guarded(std::string const& trace, std::string const& sql, bool as_json) {
    try {
        if (as_json)
            print_json(trace, sql);
        else if (isatty(STDOUT_FILENO) == 1)
            print_table(trace, sql);
        else
            print_tabs(trace, sql);
        return exit_clean;
    } catch (store::error const& e) {
        std::fflush(stdout);
        fmt::print(stderr, "lastref: {}\n", e.what());
        return e.why() == store::failure::unreadable ? exit_unreadable : exit_usage;
    }
}

}  // namespace

void add_query(CLI::App& app, int& status) {
    struct options {
        std::string trace;
        std::string sql;
        bool json = false;
    };
    auto const given = std::make_shared<options>();
    auto* const command = app.add_subcommand("query", "Ask a trace in SQL; nothing is ever written into it");
    command->add_option("trace", given->trace, "The trace")->required();
    command->add_option("sql", given->sql, "One statement; docs/trace-format.md describes tables and views")
        ->required();
    command->add_flag("--json", given->json, "Rows as a JSON array of objects");
    command->footer("Prints a table on a terminal, and tab-separated values with a header elsewhere.");
    command->callback([given, &status] { status = guarded(given->trace, given->sql, given->json); });
}

}  // namespace lastref::cli
