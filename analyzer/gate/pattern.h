// Patterns as LeakSanitizer's suppressions have them.
#pragma once

#include <string_view>

namespace lastref::gate {

// Whether `pattern` is found anywhere in `text`: '*' stands for any number of characters, '^' at the pattern's begin
// and
// '$' at its end for those of the text. Takes time in proportion to both lengths at most.
bool matches(std::string_view pattern, std::string_view text);

}  // namespace lastref::gate
