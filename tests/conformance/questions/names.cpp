// Without cuda.h, whose macros would rename the symbols.
#include "names.h"

#include "tests/simdriver/abi/symbols.h"

namespace lastref::conformance {

std::set<std::string> entry_point_names() {
    std::set<std::string> names;
    for (auto const& one : simdriver::symbol_table) names.insert(one.name);
    return names;
}

}  // namespace lastref::conformance
