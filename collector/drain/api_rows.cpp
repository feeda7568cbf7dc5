#include "collector/drain/api_rows.h"

#include <optional>

namespace lastref::drain {
namespace {

// Where the bracket closes that opens at `open`, or npos.
std::size_t closing(std::string_view text, std::size_t open) {
    int depth = 0;
    for (std::size_t at = open; at < text.size(); ++at) {
        if (text[at] == '(') ++depth;
        if (text[at] == ')' && --depth == 0) return at;
    }
    return std::string_view::npos;
}

// "ok ? x : 0", "ok && count ? x : nullptr": what it is after a success.
std::string_view after_success(std::string_view text) {
    if (!text.starts_with("ok ")) return text;
    auto const question = text.find(" ? "), colon = text.rfind(" : ");
    if (question == std::string_view::npos || colon == std::string_view::npos) return text;
    return text.substr(question + 3, colon - question - 3);
}

std::string readable_arguments(std::string_view macro, std::string_view arguments) {
    if (macro != "FIELD") return std::string(arguments);
    std::string text(arguments);
    if (auto const comma = text.find(", "); comma != std::string::npos) text.replace(comma, 2, ".");
    return text;
}

// Replaces every macro(arguments) by its readable form.
std::string without_macro(std::string text, std::string_view macro) {
    std::string const call = std::string(macro) + "(";
    for (std::size_t at = text.find(call); at != std::string::npos; at = text.find(call, at)) {
        std::size_t const open = at + macro.size(), close = closing(text, open);
        bool const whole_word =
            at == 0 || !(std::isalnum(static_cast<unsigned char>(text[at - 1])) || text[at - 1] == '_');
        if (close == std::string::npos) break;
        if (!whole_word) {
            at = open;
            continue;
        }
        auto const inside = std::string_view(text).substr(open + 1, close - open - 1);
        std::string const readable = readable_arguments(macro, inside);
        text.replace(at, close + 1 - at, readable);
    }
    return text;
}

// "std::uint64_t{Width} * Height": the cast is C++'s business.
std::string without_cast(std::string text) {
    constexpr std::string_view cast = "std::uint64_t{";
    for (std::size_t at = text.find(cast); at != std::string::npos; at = text.find(cast, at)) {
        text.erase(at, cast.size());
        if (auto const brace = text.find('}', at); brace != std::string::npos) text.erase(brace, 1);
    }
    return text;
}

std::string_view name_of(hooks::default_stream streams) {
    switch (streams) {
        case hooks::default_stream::none:
            return "none";
        case hooks::default_stream::legacy:
            return "legacy";
        case hooks::default_stream::per_thread:
            return "per_thread";
    }
    return "none";
}

std::optional<std::string> column(std::string_view capture) {
    if (capture.empty()) return std::nullopt;
    return readable_capture(capture);
}

}  // namespace

std::string readable_capture(std::string_view expression) {
    std::string text(after_success(expression));
    for (auto const macro : {"out64", "out", "FIELD"}) text = without_macro(std::move(text), macro);
    return without_cast(std::move(text));
}

void write_api_rows(database& db) {
    statement kind(db, "INSERT INTO kind (id, name, object, verb) VALUES (?, ?, ?, ?)");
    for (std::size_t i = 0; i < event_kinds.size(); ++i)
        kind(static_cast<std::int64_t>(i) + 1, event_kinds[i].name, event_kinds[i].object, event_kinds[i].verb);

    statement api(db,
                  "INSERT INTO api (id, symbol, name, default_stream, kind, object, other, size, extra)"
                  " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (std::size_t i = 0; i < hooks::abi_table.size(); ++i) {
        hooks::abi_info const& entry = hooks::abi_table[i];
        auto const object = column(entry.object), other = column(entry.other), size = column(entry.size),
                   extra = column(entry.extra);
        api(api_row(static_cast<hooks::abi>(i)), entry.symbol, entry.name, name_of(entry.streams),
            static_cast<std::int64_t>(entry.kind) + 1, object, other, size, extra);
    }
}

}  // namespace lastref::drain
