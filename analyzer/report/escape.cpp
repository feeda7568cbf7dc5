#include "analyzer/report/escape.h"

#include <fmt/core.h>

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
    return control || direction || separator;
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

}  // namespace lastref::report
