// `lastref manual` and `lastref completion`: made from the definitions of the commands, so that they say what is there.
#include "analyzer/cli/manual/completion.h"
#include "analyzer/cli/manual/page.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>

#include "analyzer/cli/commands.h"
#include "analyzer/cli/terminal.h"

namespace lastref::cli {
namespace {

int print(std::string const& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return std::fflush(stdout) == 0 ? exit_clean : exit_usage;
}

int print_page(CLI::App const& app, std::string const& name) {
    auto const all = manual::definitions(app);
    auto const found = std::ranges::find_if(all, [&](auto const& each) { return each.name == name; });
    if (found != all.end()) return print(manual::page(*found, all));
    say("there is no command '" + name + "'");
    return exit_usage;
}

int write_pages(CLI::App const& app, std::filesystem::path const& folder) {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    auto const all = manual::definitions(app);
    for (auto const& command : all) {
        auto const path = folder / (manual::page_name(command.name) + ".1");
        std::ofstream file(path, std::ios::binary);
        file << manual::page(command, all);
        file.close();
        if (file.good()) continue;
        say(typed(path) + " cannot be written");
        return exit_usage;
    }
    return exit_clean;
}

int print_completion(CLI::App const& app, std::string const& shell) {
    auto const all = manual::definitions(app);
    if (shell == "bash") return print(manual::bash_completion(all));
    if (shell == "zsh") return print(manual::zsh_completion(all));
    return print(manual::fish_completion(all));
}

}  // namespace

void add_manual(CLI::App& app, int& status) {
    auto const name = std::make_shared<std::string>(), folder = std::make_shared<std::string>();
    CLI::App* const command = app.add_subcommand("manual", "Print a manual page");
    command->add_option("command", *name, "The command; lastref itself where none is given");
    command->add_option("--into", *folder, "Write all pages into this folder instead");
    command->callback([&app, name, folder, &status] {
        status = folder->empty() ? print_page(app, *name) : write_pages(app, *folder);
    });
}

void add_completion(CLI::App& app, int& status) {
    auto const shell = std::make_shared<std::string>();
    CLI::App* const command =
        app.add_subcommand("completion", "Print a script by which a shell completes command lines");
    command->add_option("shell", *shell, "The shell")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
    command->callback([&app, shell, &status] { status = print_completion(app, *shell); });
}

}  // namespace lastref::cli
