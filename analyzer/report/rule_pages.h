// The pages of docs/rules, which travel with the program: reports of other tools' formats carry their help along.
#pragma once

#include "analyzer/findings/rules.h"

#include <string_view>

namespace lastref::report {

// The page in Markdown; empty where the rule has none.
std::string_view page_of(findings::rule r);

}  // namespace lastref::report
