#include "analyzer/report/escape.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

namespace lastref::report {
namespace {

struct character {
    std::uint32_t code = 0;
    std::size_t bytes = 0;  // 0: no UTF-8
};

std::size_t length_by_lead(unsigned char lead) {
    if (lead < 0x80) return 1;
    if (lead >= 0xc2 && lead < 0xe0) return 2;
    if (lead >= 0xe0 && lead < 0xf0) return 3;
    return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

character decode(std::string_view text) {
    auto const lead = static_cast<unsigned char>(text[0]);
    auto const length = length_by_lead(lead);
    if (length == 0 || length > text.size()) return {};
    std::uint32_t code = length == 1 ? lead : lead & (0x7fu >> length);
    for (std::size_t i = 1; i < length; ++i) {
        auto const next = static_cast<unsigned char>(text[i]);
        if ((next & 0xc0) != 0x80) return {};
        code = code << 6 | (next & 0x3fu);
    }
    bool const overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    bool const surrogate = code >= 0xd800 && code < 0xe000;
    return overlong || surrogate || code > 0x10ffff ? character{} : character{code, length};
}

bool is_unsafe(std::uint32_t code) {
    bool const control = code < 0x20 || (code >= 0x7f && code < 0xa0);
    bool const direction =
        (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0x200e || code == 0x200f;
    bool const separator = code == 0x2028 || code == 0x2029 || code == 0xfeff;
    bool const no_character = (code & 0xfffe) == 0xfffe || (code >= 0xfdd0 && code <= 0xfdef);
    return control || direction || separator || no_character;
}

std::string shown(std::uint32_t code) {
    if (code == '\n') return "\\n";
    if (code == '\t') return "\\t";
    if (code == '\r') return "\\r";
    return code < 0x100 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
}

}  // namespace

std::string escaped(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        auto const next = decode(text);
        if (next.bytes == 0)
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
        else if (is_unsafe(next.code))
            out += shown(next.code);
        else
            out += text.substr(0, next.bytes);
        text.remove_prefix(next.bytes == 0 ? 1 : next.bytes);
    }
    return out;
}

std::string xml_escaped(std::string_view text) {
    std::string out;
    for (char const c : escaped(text)) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

std::string markdown_escaped(std::string_view text) {
    constexpr std::string_view special = "\\`*_{}[]<>()#+-!|~&:@$^=\"'";
    std::string out;
    for (char const c : escaped(text)) {
        if (special.find(c) == std::string_view::npos)
            out += c;
        else  // an entity is never read as markup, and a mention needs its sign next to a name
            out += fmt::format("&#{};{}", static_cast<int>(c), c == '@' ? "&#8203;" : "");
    }
    return out;
}

std::string markdown_block(std::string_view text) {
    std::size_t longest = 2, run = 0;
    for (char const c : text) longest = std::max(longest, run = c == '`' ? run + 1 : 0);
    std::string const fence(longest + 1, '`');
    std::string out = fence + "text\n";
    while (!text.empty()) {
        auto const end = text.find('\n');
        out += escaped(text.substr(0, end)) + "\n";
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return out + fence + "\n";
}

std::string path_uri(std::string_view path, std::string_view root) {
    bool const below = !root.empty() && path.starts_with(root) && path.substr(root.size()).starts_with('/');
    if (below) path.remove_prefix(root.size() + 1);
    std::string out = below || !path.starts_with('/') ? "" : "file://";
    for (char const c : path) {
        bool const plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                           std::string_view("-._~/").find(c) != std::string_view::npos;
        out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return out;
}

}  // namespace lastref::report
