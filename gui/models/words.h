// Texts of the program that was recorded, and quantities, as Qt shows them.
#pragma once

#include "analyzer/findings/finding.h"
#include "analyzer/store/rows.h"
#include "gui/loader/rows.h"

#include <QString>

#include <string_view>

namespace lastref::gui {

QString text_of(std::string_view text);      // what is no UTF-8 becomes replacement characters
QString place_text(std::string_view place);  // without what says nothing: "(anonymous namespace)::"
QString bytes_text(std::uint64_t bytes);     // empty for 0
QString time_text(store::time_ns at);
QString duration_text(store::time_ns length);
QString handle_text(store::handle handle);  // empty for 0
QString count_text(std::uint64_t count);
QString severity_text(findings::severity severity);
QString rule_text(findings::rule rule);
QString kind_text(model::object_kind kind);
QString holder_text(holder_kind kind);

}  // namespace lastref::gui
