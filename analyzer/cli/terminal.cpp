#include "analyzer/cli/terminal.h"

#include <unistd.h>

#include <cstdio>

#include "collector/drain/process_rows.h"

namespace lastref::cli {
namespace {

// In one write, so that lines of several processes do not mix.
void write_out(std::string const& text) {
    [[maybe_unused]] ssize_t const written = write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

void say(std::string const& text) {
    write_out("lastref: " + text + "\n");
}

std::string grouped(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
    return text;
}

std::string counted(std::uint64_t number, std::string_view one, std::string_view many) {
    return grouped(number) + " " + std::string(number == 1 ? one : many);
}

std::string typed(std::filesystem::path const& path) {
    return drain::shell_command(path.string());
}

progress_line::progress_line() : terminal_(isatty(STDERR_FILENO) == 1) {}

progress_line::~progress_line() {
    if (shown_) write_out("\r\033[K");
}

void progress_line::show(std::string const& text) {
    if (!terminal_) return;
    write_out("\r\033[Klastref: " + text);
    shown_ = true;
}

}  // namespace lastref::cli
