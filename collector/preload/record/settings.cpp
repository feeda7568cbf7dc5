#include "collector/preload/record/settings.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace lastref::preload {
namespace {

void complain(setting_errors& errors, char const* name, char const* value, char const* expected) {
    if (errors.count == max_setting_errors) return;
    line text;
    text << name << "=";
    char shown[49] = {};
    copy_text(shown, value);
    for (char& c : shown) {
        if (c != 0 && (c < ' ' || c > '~')) c = '?';
    }
    text << shown << " is not understood, " << expected;
    copy_text(errors.text[errors.count++], text.text());
}

stack_setting read_stacks(setting_errors& errors) {
    char const* const value = getenv("LASTREF_STACKS");
    if (value == nullptr || *value == 0 || strcmp(value, "create") == 0) return stack_setting::create;
    if (strcmp(value, "off") == 0) return stack_setting::off;
    if (strcmp(value, "all") == 0) return stack_setting::all;
    complain(errors, "LASTREF_STACKS", value, "it is off, create or all; create is used");
    return stack_setting::create;
}

unsigned shift_of(char const* unit) {
    switch (*unit | 0x20) {
        case 'k':
            return 10;
        case 'm':
            return 20;
        case 'g':
            return 30;
        default:
            return 0;
    }
}

// Bytes, with an optional K, M or G (and an optional B behind it).
bool parse_size(char const* text, std::uint64_t& bytes) {
    char* end = nullptr;
    unsigned long long const number = strtoull(text, &end, 10);
    if (end == text || *text == '-') return false;
    unsigned const shift = shift_of(end);
    if (shift != 0) ++end;
    if (*end == 'i') ++end;
    if ((*end | 0x20) == 'b') ++end;
    if (*end != 0 || number > (~std::uint64_t{0} >> (shift + 1))) return false;
    bytes = std::uint64_t{number} << shift;
    return true;
}

std::uint64_t read_spool_max(setting_errors& errors) {
    constexpr std::uint64_t by_default = std::uint64_t{4} << 30;
    constexpr std::uint64_t least = std::uint64_t{4} << 20;
    char const* const value = getenv("LASTREF_SPOOL_MAX");
    if (value == nullptr || *value == 0) return by_default;
    std::uint64_t bytes = 0;
    if (parse_size(value, bytes) && bytes >= least) return bytes;
    complain(errors, "LASTREF_SPOOL_MAX", value, "it is a size of at least 4M such as 512M or 4G; 4G is used");
    return by_default;
}

bool read_durations(setting_errors& errors) {
    char const* const value = getenv("LASTREF_DURATIONS");
    if (value == nullptr || *value == 0 || strcmp(value, "long") == 0) return false;
    if (strcmp(value, "all") == 0) return true;
    complain(errors, "LASTREF_DURATIONS", value, "it is long or all; long is used");
    return false;
}

// Whoever asked for no arguments and misspelt it gets none: a trace with less in it does no harm.
bool read_arguments(setting_errors& errors) {
    char const* const value = getenv("LASTREF_ARGS");
    if (value == nullptr || *value == 0 || strcmp(value, "on") == 0) return true;
    if (strcmp(value, "off") != 0) complain(errors, "LASTREF_ARGS", value, "it is on or off; off is used");
    return false;
}

bool read_flag(char const* name, setting_errors& errors, bool by_default = false) {
    char const* const value = getenv(name);
    if (value == nullptr || *value == 0) return by_default;
    if (strcmp(value, "0") == 0) return false;
    if (strcmp(value, "1") == 0) return true;
    complain(errors, name, value, by_default ? "it is 0 or 1; 1 is used" : "it is 0 or 1; 0 is used");
    return by_default;
}

}  // namespace

settings read_settings(setting_errors& errors) {
    settings result;
    result.stacks = read_stacks(errors);
    result.spool_max = read_spool_max(errors);
    result.all_durations = read_durations(errors);
    result.verify_context = read_flag("LASTREF_VERIFY", errors);
    result.python_frames = read_flag("LASTREF_PYTHON_FRAMES", errors, true);
    result.arguments = read_arguments(errors);
    return result;
}

line& line::operator<<(char const* text) {
    std::size_t const room = sizeof text_ - 1 - length_;
    std::size_t const length = strnlen(text, room);
    memcpy(text_ + length_, text, length);
    length_ += length;
    text_[length_] = 0;
    return *this;
}

line& line::operator<<(std::uint64_t number) {
    char digits[21] = {};
    char* at = digits + 20;
    do {
        *--at = static_cast<char>('0' + number % 10);
        number /= 10;
    } while (number != 0);
    return *this << at;
}

void say(char const* text) {
    line whole;
    whole << "lastref: " << text << "\n";
    [[maybe_unused]] ssize_t const written = write(STDERR_FILENO, whole.text(), strlen(whole.text()));
}

}  // namespace lastref::preload
