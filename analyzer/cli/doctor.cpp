// `lastref doctor`: what recording finds here, and what would not be recorded. And the hidden `lastref probe`, by which
// it asks what may crash.
#include "analyzer/cli/doctor/check.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "analyzer/cli/commands.h"
#include "analyzer/cli/doctor/probe.h"
#include "analyzer/cli/program_arguments.h"
#include "analyzer/cli/terminal.h"
#include "analyzer/report/escape.h"

namespace lastref::cli {
namespace {

using doctor::check;
using doctor::verdict;

struct outcome {
    std::vector<check> machine, program;
};

bool all_recorded(std::vector<check> const& checks) {
    return std::ranges::none_of(checks, [](auto const& one) { return one.state == verdict::not_recorded; });
}

bool all_recorded(outcome const& what) {
    return all_recorded(what.machine) && all_recorded(what.program);
}

char const* name_of(verdict state) {
    switch (state) {
        case verdict::well:
            return "well";
        case verdict::note:
            return "note";
        case verdict::not_recorded:
            return "not-recorded";
    }
    return "";
}

// --- text

char const* mark_of(verdict state) {
    switch (state) {
        case verdict::well:
            return "ok  ";
        case verdict::note:
            return "note";
        case verdict::not_recorded:
            return "LOST";
    }
    return "";
}

// Paths and values come from elsewhere, so they are escaped.
void print(std::vector<check> const& checks) {
    for (auto const& one : checks) {
        std::printf("  %s  %-16s %s\n", mark_of(one.state), one.name.c_str(), report::escaped(one.found).c_str());
        if (!one.advice.empty()) std::printf("        %-16s %s\n", "", report::escaped(one.advice).c_str());
    }
}

std::string lost(std::vector<check> const& checks) {
    std::string names;
    for (auto const& one : checks)
        if (one.state == verdict::not_recorded) names += (names.empty() ? "" : ", ") + one.name;
    return names;
}

void print_text(outcome const& what) {
    std::printf("lastref " LASTREF_VERSION " here:\n\n");
    print(what.machine);
    if (!what.program.empty()) {
        std::printf("\nThe program:\n\n");
        print(what.program);
    }
    std::printf("\nNever recorded:\n\n");
    for (auto const& limit : doctor::limits()) std::printf("  - %s: %s\n", limit.what, limit.why);
    if (all_recorded(what)) {
        std::printf("\nAll is well%s.\n", what.program.empty() ? "" : ", the program included");
        return;
    }
    std::string const here = lost(what.machine), there = lost(what.program);
    std::printf("\nNot everything would be recorded; see %s%s%s.\n", here.c_str(),
                here.empty() || there.empty() ? "" : ", ", there.c_str());
}

// --- JSON

nlohmann::ordered_json json_of(std::vector<check> const& checks) {
    auto result = nlohmann::ordered_json::array();
    for (auto const& one : checks) {
        auto facts = nlohmann::ordered_json::object();
        for (auto const& [name, value] : one.facts) facts[name] = value;
        result.push_back({{"name", one.name},
                          {"verdict", name_of(one.state)},
                          {"found", one.found},
                          {"advice", one.advice},
                          {"facts", facts}});
    }
    return result;
}

void print_json(outcome const& what) {
    nlohmann::ordered_json document{{"lastref", LASTREF_VERSION},
                                    {"verdict", all_recorded(what) ? "well" : "not-recorded"},
                                    {"machine", json_of(what.machine)}};
    if (!what.program.empty()) document["program"] = json_of(what.program);
    auto& limits = document["never_recorded"] = nlohmann::ordered_json::array();
    for (auto const& limit : doctor::limits()) limits.push_back({{"what", limit.what}, {"why", limit.why}});
    std::printf("%s\n", document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
}

int run(std::string const& format) {
    outcome what;
    try {
        if (!program_arguments().empty()) what.program = doctor::examine_program(program_arguments().front());
    } catch (std::invalid_argument const& error) {
        say(error.what());
        return exit_usage;
    }
    what.machine = doctor::examine_machine();
    format == "json" ? print_json(what) : print_text(what);
    return all_recorded(what) ? exit_clean : exit_findings;
}

}  // namespace

void add_doctor(CLI::App& app, int& status) {
    auto const format = std::make_shared<std::string>("text");
    CLI::App* const command = app.add_subcommand("doctor", "Say what recording finds here, and what it would miss");
    command->add_option("--format", *format, "text for people, json for programs")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    command->footer(
        "Usage: lastref doctor [options] [-- PROGRAM]\n\n"
        "A program is examined, never run. Exit status: 0 all is well, 1 something would not be recorded, 2 wrong "
        "use.");
    command->callback([format, &status] { status = run(*format); });
}

void add_probe(CLI::App& app, int& status) {
    auto const subject = std::make_shared<std::string>();
    CLI::App* const command = app.add_subcommand("probe", "Load something and say what it is");
    command->group("");  // not for people
    command->add_option("subject", *subject)->required();
    command->callback([subject, &status] { status = doctor::probe(*subject); });
}

}  // namespace lastref::cli
