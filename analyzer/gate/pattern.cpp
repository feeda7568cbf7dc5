#include "analyzer/gate/pattern.h"

#include <cstddef>

namespace lastref::gate {
namespace {

// '*' is the only special character here. When a character does not fit, the latest '*' takes one more; earlier ones
// never need to, so that nothing is tried twice.
bool matches_whole(std::string_view pattern, std::string_view text) {
    std::size_t p = 0, t = 0, star = std::string_view::npos, taken = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            taken = t;
        } else if (p < pattern.size() && pattern[p] == text[t]) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++taken;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

// As matches_whole, but text may be left over behind the pattern.
bool matches_begin(std::string_view pattern, std::string_view text) {
    auto const star = pattern.find('*');
    if (star == std::string_view::npos) return text.starts_with(pattern);
    if (!text.starts_with(pattern.substr(0, star))) return false;
    text.remove_prefix(star);
    pattern.remove_prefix(star);
    while (!pattern.empty()) {  // each piece at its first place leaves most room for the rest
        pattern.remove_prefix(1);
        auto const piece = pattern.substr(0, pattern.find('*'));
        auto const at = text.find(piece);
        if (at == std::string_view::npos) return false;
        text.remove_prefix(at + piece.size());
        pattern.remove_prefix(piece.size());
    }
    return true;
}

// From some place of the text to its end: only the first piece's place is open, and it is tried as with a leading '*'.
bool matches_end(std::string_view pattern, std::string_view text) {
    if (pattern.starts_with('*')) return matches_whole(pattern, text);
    auto const star = pattern.find('*');
    if (star == std::string_view::npos) return text.ends_with(pattern);
    auto const at = text.find(pattern.substr(0, star));
    return at != std::string_view::npos && matches_whole(pattern.substr(star), text.substr(at + star));
}

}  // namespace

bool matches(std::string_view pattern, std::string_view text) {
    bool const begin = pattern.starts_with('^');
    if (begin) pattern.remove_prefix(1);
    bool const end = pattern.ends_with('$');
    if (end) pattern.remove_suffix(1);
    if (begin) return end ? matches_whole(pattern, text) : matches_begin(pattern, text);
    if (end) return matches_end(pattern, text);
    auto const first = pattern.substr(0, pattern.find('*'));
    auto const at = text.find(first);
    return at != std::string_view::npos && matches_begin(pattern.substr(first.size()), text.substr(at + first.size()));
}

}  // namespace lastref::gate
