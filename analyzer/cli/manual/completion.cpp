#include "analyzer/cli/manual/completion.h"

namespace lastref::cli::manual {
namespace {

// In single quotes, as all three shells read them: none of them replaces anything there.
std::string in_quotes(std::string const& text) {
    std::string result = "'";
    for (char const c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return result + "'";
}

std::string words(std::vector<std::string> const& all) {
    std::string result;
    for (auto const& word : all) result += (result.empty() ? "" : " ") + word;
    return result;
}

std::vector<std::string> names_of(std::vector<option_definition> const& options) {
    std::vector<std::string> result;
    for (auto const& option : options) result.insert(result.end(), option.names.begin(), option.names.end());
    return result;
}

std::vector<std::string> command_names(std::vector<command_definition> const& all) {
    std::vector<std::string> result;
    for (auto const& command : all)
        if (!command.name.empty()) result.push_back(command.name);
    return result;
}

std::vector<std::string> choices_of_first(command_definition const& command) {
    return command.positionals.empty() ? std::vector<std::string>() : command.positionals.front().choices;
}

// --- bash

// "record:-o | record:--output) … ;;"
std::string bash_value(command_definition const& command, option_definition const& option) {
    if (option.is_flag()) return {};
    std::string pattern;
    for (auto const& name : option.names) pattern += (pattern.empty() ? "" : " | ") + command.name + ":" + name;
    std::string action = "_lastref_files";
    if (!option.choices.empty()) action = "_lastref_words " + in_quotes(words(option.choices));
    if (option.number) action = ":";
    return "        " + pattern + ") " + action + "; return ;;\n";
}

std::string bash_values(std::vector<command_definition> const& all) {
    std::string result;
    for (auto const& command : all)
        for (auto const& option : command.options) result += bash_value(command, option);
    return result;
}

std::string bash_options(std::vector<command_definition> const& all) {
    std::string result;
    for (auto const& command : all) {
        std::string const first = words(choices_of_first(command));
        result += "        " + (command.name.empty() ? std::string("''") : command.name) +
                  ") options=" + in_quotes(words(names_of(command.options))) +
                  (first.empty() ? "" : " arguments=" + in_quotes(first)) + " ;;\n";
    }
    return result;
}

// --- zsh

// Colons and brackets mean something in the specifications of _arguments.
std::string zsh_text(std::string const& text) {
    std::string result;
    for (char const c : text) {
        if (c == ':' || c == '[' || c == ']' || c == '\\') result += '\\';
        result += c;
    }
    return result;
}

std::string zsh_value(option_definition const& option) {
    if (!option.choices.empty()) return ":" + zsh_text(option.value) + ":(" + words(option.choices) + ")";
    return ":" + zsh_text(option.value) + (option.number ? ":" : ":_files");
}

std::string zsh_option(option_definition const& option) {
    std::string result;
    for (auto const& name : option.names) {
        std::string specification = option.repeated ? "*" + name : name;
        specification += "[" + zsh_text(option.description) + "]";
        if (!option.is_flag()) specification += zsh_value(option);
        result += " \\\n                " + in_quotes(specification);
    }
    return result;
}

std::string zsh_arguments(command_definition const& command) {
    if (command.takes_program) return " \\\n                '(-)*::program:_normal'";
    std::string result;
    for (auto const& each : command.positionals) {
        std::string const values = each.choices.empty() ? "_files" : "(" + words(each.choices) + ")";
        result += " \\\n                " +
                  in_quotes((each.required ? ":" : "::") + zsh_text(each.positional) + ":" + values);
    }
    return result;
}

std::string zsh_command(command_definition const& command) {
    std::string result = "            " + command.name + ")\n                _arguments -S";
    for (auto const& option : command.options) result += zsh_option(option);
    return result + zsh_arguments(command) + "\n                ;;\n";
}

// --- fish

std::string fish_option(command_definition const& command, option_definition const& option) {
    std::string line = "complete -c lastref -n " +
                       in_quotes(command.name.empty() ? "__fish_use_subcommand" : "__lastref_in " + command.name);
    for (auto const& name : option.names)
        line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    if (!option.choices.empty()) line += " -x -a " + in_quotes(words(option.choices));
    if (option.choices.empty() && !option.is_flag()) line += option.number ? " -x" : " -r -F";
    return line + " -d " + in_quotes(option.description) + "\n";
}

std::string fish_command(command_definition const& command) {
    std::string result;
    if (!command.name.empty())
        result += "complete -c lastref -f -n __fish_use_subcommand -a " + command.name + " -d " +
                  in_quotes(command.description) + "\n";
    for (auto const& option : command.options) result += fish_option(command, option);
    if (auto const first = choices_of_first(command); !first.empty())
        result += "complete -c lastref -f -n " + in_quotes("__lastref_in " + command.name) + " -a " +
                  in_quotes(words(first)) + "\n";
    return result;
}

}  // namespace

std::string bash_completion(std::vector<command_definition> const& all) {
    return "# bash completion for lastref, made by `lastref completion bash`\n"
           "_lastref_words() { COMPREPLY=($(compgen -W \"$1\" -- \"$current\")); }\n"
           "_lastref_files() {\n"
           "    compopt -o filenames 2>/dev/null\n"
           "    local IFS=$'\\n'\n"
           "    COMPREPLY=($(compgen -f -- \"$current\"))\n"
           "}\n\n"
           "# What follows \"--\": a command line of its own.\n"
           "_lastref_program() {\n"
           "    if declare -F _command_offset >/dev/null; then\n"
           "        _command_offset \"$1\"\n"
           "    elif ((COMP_CWORD == $1)); then\n"
           "        local IFS=$'\\n'\n"
           "        COMPREPLY=($(compgen -c -- \"$current\"))\n"
           "    else\n"
           "        _lastref_files\n"
           "    fi\n"
           "}\n\n"
           "_lastref() {\n"
           "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
           "    local command= options= arguments= i\n"
           "    COMPREPLY=()\n"
           "    for ((i = 1; i < COMP_CWORD; ++i)); do\n"
           "        if [[ ${COMP_WORDS[i]} == -- ]]; then\n"
           "            _lastref_program $((i + 1))\n"
           "            return\n"
           "        fi\n"
           "        [[ $command || ${COMP_WORDS[i]} == -* ]] || command=${COMP_WORDS[i]}\n"
           "    done\n"
           "    # \"--option=value\" comes as three words.\n"
           "    if [[ $current == = ]]; then\n"
           "        current=\n"
           "    elif [[ $previous == = ]]; then\n"
           "        previous=${COMP_WORDS[COMP_CWORD - 2]}\n"
           "    fi\n"
           "    case $command:$previous in\n" +
           bash_values(all) +
           "    esac\n"
           "    case $command in\n" +
           bash_options(all) +
           "    esac\n"
           "    if [[ $current == -* ]]; then\n"
           "        _lastref_words \"$options\"\n"
           "    elif [[ ! $command ]]; then\n"
           "        _lastref_words " +
           in_quotes(words(command_names(all))) +
           "\n"
           "    elif [[ $arguments ]]; then\n"
           "        _lastref_words \"$arguments\"\n"
           "    else\n"
           "        _lastref_files\n"
           "    fi\n"
           "}\n"
           "complete -F _lastref lastref\n";
}

std::string zsh_completion(std::vector<command_definition> const& all) {
    std::string described, commands, options;
    for (auto const& command : all) {
        if (command.name.empty()) {
            for (auto const& option : command.options) options += zsh_option(option);
            continue;
        }
        described += "        " + in_quotes(command.name + ":" + command.description) + "\n";
        commands += zsh_command(command);
    }
    return "#compdef lastref\n"
           "# zsh completion for lastref, made by `lastref completion zsh`\n\n"
           "_lastref() {\n"
           "    local curcontext=$curcontext state line\n"
           "    typeset -A opt_args\n"
           "    local -a commands=(\n" +
           described +
           "    )\n"
           "    _arguments -C" +
           options +
           " \\\n                '1:command:->command' '*::argument:->argument'\n"
           "    case $state in\n"
           "    command) _describe command commands ;;\n"
           "    argument)\n"
           "        case $words[1] in\n" +
           commands +
           "        esac\n"
           "        ;;\n"
           "    esac\n"
           "}\n\n"
           "if [[ $funcstack[1] == _lastref ]]; then _lastref \"$@\"; else compdef _lastref lastref; fi\n";
}

std::string fish_completion(std::vector<command_definition> const& all) {
    std::string result =
        "# fish completion for lastref, made by `lastref completion fish`\n"
        "function __lastref_in\n"
        "    set -l words (commandline -opc)\n"
        "    not contains -- -- $words; and test \"$words[2]\" = \"$argv[1]\"\n"
        "end\n"
        "function __lastref_behind_dashes\n"
        "    contains -- -- (commandline -opc)\n"
        "end\n"
        "# What follows \"--\" is a command line of its own.\n"
        "function __lastref_program\n"
        "    set -l words (commandline -opc) (commandline -ct)\n"
        "    set -l rest $words[(math (contains -i -- -- $words) + 1)..-1]\n"
        "    complete -C (string join ' ' -- $rest)\n"
        "end\n"
        "complete -c lastref -n __lastref_behind_dashes -x -a '(__lastref_program)'\n";
    for (auto const& command : all) result += fish_command(command);
    return result;
}

}  // namespace lastref::cli::manual
