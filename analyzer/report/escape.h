// Names in a trace come from programs: what could steer a terminal or mislead the eye is shown, not obeyed.
#pragma once

#include <string>
#include <string_view>

namespace lastref::report {

// Control characters (C0, DEL, C1), bidirectional overrides, line separators and bytes that are no UTF-8 as \n, \x1b,
// \u202e; all else unchanged.
std::string escaped(std::string_view text);

// Each of these shows what `escaped` shows, as text of its language: nothing in it is markup.
std::string xml_escaped(std::string_view text);  // text and quoted attributes of XML and HTML
std::string markdown_escaped(
    std::string_view text);  // running text and cells of tables; no mention, link or code either

// A block of text in Markdown whose fence is longer than any in the text. Lines of `text` are kept.
std::string markdown_block(std::string_view text);

// An absolute path as a URI, or what follows `root` of it as a relative one.
std::string path_uri(std::string_view path, std::string_view root = {});

}  // namespace lastref::report
