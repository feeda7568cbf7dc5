#include "analyzer/cli/manual/page.h"

#include <algorithm>

#include "analyzer/cli/variables.h"

namespace lastref::cli::manual {
namespace {

// Plain text as troff: nothing in it is a request, and a hyphen is the character that can be typed.
std::string plain(std::string const& text) {
    std::string result;
    bool first = true;
    for (char const c : text) {
        if (first && (c == '.' || c == '\'')) result += "\\&";
        first = c == '\n';
        if (c == '\\')
            result += "\\e";
        else if (c == '-')
            result += "\\-";
        else
            result += c;
    }
    return result;
}

std::string bold(std::string const& text) {
    return "\\fB" + plain(text) + "\\fR";
}

std::string italic(std::string const& text) {
    return "\\fI" + plain(text) + "\\fR";
}

std::string section(char const* title) {
    return std::string(".SH ") + title + "\n";
}

std::string value_of(option_definition const& option) {
    if (option.choices.empty()) return italic(option.value);
    std::string result;
    for (auto const& choice : option.choices) result += (result.empty() ? "" : "|") + bold(choice);
    return result;
}

std::string title_of(option_definition const& option) {
    if (!option.positional.empty()) return italic(option.positional);
    std::string result;
    for (auto const& name : option.names) result += (result.empty() ? "" : ", ") + bold(name);
    return option.is_flag() ? result : result + " " + value_of(option);
}

std::string sentence(std::string text) {
    if (!text.empty() && text.back() != '.') text += '.';
    return text;
}

std::string described(option_definition const& option) {
    std::string text = sentence(option.description);
    if (!option.by_default.empty()) text += " Default: " + option.by_default + ".";
    return ".TP\n" + title_of(option) + "\n" + plain(text) + "\n";
}

std::string synopsis(command_definition const& command) {
    std::string text = section("SYNOPSIS") + bold(command.full_name());
    if (command.name.empty()) return text + " " + italic("command") + " [" + italic("option") + " ...]\n";
    if (!command.options.empty()) text += " [" + italic("option") + " ...]";
    for (auto const& each : command.positionals)
        text += each.required ? " " + italic(each.positional) : " [" + italic(each.positional) + "]";
    bool const optional = command.footer.find("[-- PROGRAM]") != std::string::npos;
    if (optional) return text + " [" + bold("--") + " " + italic("program") + "]\n";
    if (command.takes_program) text += " " + bold("--") + " " + italic("program") + " [" + italic("argument") + " ...]";
    return text + "\n";
}

// The footer of --help without its usage, which is the synopsis here; its lines are broken for a terminal.
std::string footer_text(std::string footer) {
    if (footer.starts_with("Usage:")) footer.erase(0, std::min(footer.size(), footer.find("\n\n") + 2));
    std::replace(footer.begin(), footer.end(), '\n', ' ');
    return footer;
}

std::string description(command_definition const& command) {
    std::string text = section("DESCRIPTION");
    for (char const* paragraph : text_of(command.name).paragraphs) text += ".PP\n" + plain(paragraph) + "\n";
    constexpr std::string_view status = "Exit status: ";
    std::string const footer = footer_text(command.footer);
    if (footer.starts_with(status)) return text + section("EXIT STATUS") + plain(footer.substr(status.size())) + "\n";
    return footer.empty() ? text : text + ".PP\n" + plain(footer) + "\n";
}

std::string options(command_definition const& command) {
    std::string text = section("OPTIONS");
    for (auto const& each : command.positionals) text += described(each);
    for (auto const& each : command.options) text += described(each);
    return text;
}

std::string examples(command_definition const& command) {
    auto const& all = text_of(command.name).examples;
    if (all.empty()) return {};
    std::string text = section("EXAMPLES") + ".nf\n";
    for (char const* each : all) text += plain(each) + "\n";
    return text + ".fi\n";
}

std::string see_also(command_definition const& command, std::vector<command_definition> const& all) {
    std::string text;
    for (auto const& each : all) {
        if (each.name == command.name) continue;
        text += (text.empty() ? "" : ",\n") + std::string(".BR ") + plain(page_name(each.name)) + " (1)";
    }
    return section("SEE ALSO") + text + "\n";
}

// --- the page of the program itself

std::string commands(std::vector<command_definition> const& all) {
    std::string text = section("COMMANDS");
    for (auto const& each : all)
        if (!each.name.empty())
            text += ".TP\n" + bold("lastref " + each.name) + "\n" + plain(sentence(each.description)) + "\n";
    return text;
}

std::string environment() {
    std::string text = section("ENVIRONMENT");
    for (auto const& each : variables()) text += ".TP\n" + bold(each.name) + "\n" + plain(each.meaning) + "\n";
    text += ".TP\n" + bold("NO_COLOR") + "\n" + plain("Where it is set and not empty, reports have no colours.") + "\n";
    return text + ".TP\n" + bold("TMPDIR") + "\n" + plain("The folder for temporary files, /tmp where it is not set.") +
           "\n";
}

std::string files() {
    std::string text = section("FILES");
    text += ".TP\n" + italic("lib/liblastref.so") + "\n" +
            plain("The collector, which is preloaded into programs; lib is beside the folder of lastref.") + "\n";
    text += ".TP\n" + italic("lib/liblastref_cupti.so") + "\n" +
            plain("What the driver loads for record --audit and --cupti.") + "\n";
    return text + ".TP\n" + italic("*.lastref") + "\n" +
           plain("A trace: an SQLite database with documented tables and views.") + "\n";
}

std::string exit_status() {
    std::string text = section("EXIT STATUS");
    struct status {
        char const *number, *meaning;
    };
    constexpr status all[] = {{"0", "Clean."},
                              {"1", "Something was found, or would not be recorded."},
                              {"2", "Wrong use, or an input that is not there."},
                              {"3", "A trace or spool cannot be read."},
                              {"4", "Nothing was found, but the trace is incomplete."}};
    for (auto const& each : all) text += std::string(".TP\n") + bold(each.number) + "\n" + plain(each.meaning) + "\n";
    return text + ".PP\n" + plain("lastref record and lastref check pass on the recorded program's own.") + "\n";
}

}  // namespace

std::string page_name(std::string const& command) {
    return command.empty() ? "lastref" : "lastref-" + command;
}

std::string page(command_definition const& command, std::vector<command_definition> const& all) {
    std::string upper = page_name(command.name);
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](char c) { return static_cast<char>(std::toupper(c)); });
    std::string text = ".TH \"" + plain(upper) + "\" \"1\" \"\" \"lastref " LASTREF_VERSION "\" \"lastref\"\n";
    text += section("NAME") + plain(page_name(command.name)) + " \\- " + plain(command.description) + "\n";
    text += synopsis(command) + description(command);
    if (command.name.empty()) text += commands(all);
    text += options(command);
    if (command.name.empty()) text += exit_status() + environment() + files();
    return text + examples(command) + see_also(command, all);
}

}  // namespace lastref::cli::manual
