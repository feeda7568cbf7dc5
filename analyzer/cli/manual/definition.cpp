#include "analyzer/cli/manual/definition.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>
#include <string_view>

namespace lastref::cli::manual {
namespace {

// Of "TEXT:{text,json}": text, json.
std::vector<std::string> choices_in(std::string const& type) {
    std::vector<std::string> result;
    auto const begin = type.find('{'), end = type.find('}');
    if (begin == std::string::npos || end == std::string::npos) return result;
    std::string word;
    for (char const c : type.substr(begin + 1, end - begin - 1) + ",") {
        if (c != ',') word += c;
        if (c == ',' && !word.empty()) result.push_back(std::exchange(word, {}));
    }
    return result;
}

bool is_number(std::string const& type) {
    constexpr std::array<std::string_view, 4> names{"FLOAT", "INT", "UINT", "NUMBER"};
    return std::ranges::any_of(names, [&](auto name) { return type.starts_with(name); });
}

// What stands for the value of an option whose type says only that it is a text.
std::string placeholder(std::string const& option) {
    struct named {
        std::string_view option, value;
    };
    constexpr named known[] = {
        {"--output", "FILE"},   {"--save", "FORMAT=FILE"}, {"--suppressions", "FILE"}, {"--write-suppressions", "FILE"},
        {"--baseline", "FILE"}, {"--spool-dir", "FOLDER"}, {"--into", "FOLDER"},       {"--max-leak-bytes", "SIZE"},
        {"--fail-on", "WHAT"}};
    for (auto const& each : known)
        if (each.option == option) return std::string(each.value);
    return "VALUE";
}

option_definition define(CLI::Option const& option) {
    option_definition result;
    for (auto const& name : option.get_snames()) result.names.push_back("-" + name);
    for (auto const& name : option.get_lnames()) result.names.push_back("--" + name);
    if (result.names.empty()) result.positional = option.get_name(true);
    bool const valued = option.get_items_expected_max() > 0 && option.get_type_size_max() > 0;
    std::string const type = option.get_type_name();
    result.choices = choices_in(type);
    result.number = valued && is_number(type);
    if (valued) result.value = result.number ? "NUMBER" : placeholder(result.names.empty() ? "" : result.names.back());
    result.description = option.get_description();
    result.by_default = option.get_default_str();
    result.required = option.get_required();
    result.repeated = valued && option.get_expected_max() > 1;
    return result;
}

void take_options(command_definition& into, CLI::App const& command) {
    for (auto const* option : command.get_options([](CLI::Option const*) { return true; })) {
        auto one = define(*option);
        (one.positional.empty() ? into.options : into.positionals).push_back(std::move(one));
    }
    // Groups of options are commands without a name.
    for (auto const* part : command.get_subcommands([](CLI::App const* each) { return each->get_name().empty(); }))
        take_options(into, *part);
}

command_definition define(CLI::App const& command, bool program) {
    command_definition result;
    if (!program) result.name = command.get_name();
    result.description = command.get_description();
    result.footer = command.get_footer();
    result.takes_program = result.footer.find("-- PROGRAM") != std::string::npos ||
                           result.footer.find("[-- PROGRAM]") != std::string::npos;
    take_options(result, command);
    return result;
}

}  // namespace

std::vector<command_definition> definitions(CLI::App const& app) {
    std::vector<command_definition> result{define(app, true)};
    auto const shown = [](CLI::App const* each) { return !each->get_name().empty() && !each->get_group().empty(); };
    for (auto const* command : app.get_subcommands(shown)) result.push_back(define(*command, false));
    return result;
}

}  // namespace lastref::cli::manual
