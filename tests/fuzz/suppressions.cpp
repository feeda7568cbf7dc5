// Files of suppressions. The first line of an input is a name that each pattern is looked for in.
#include "analyzer/gate/suppressions.h"
#include "analyzer/gate/pattern.h"
#include "tests/fuzz/input.h"

using namespace lastref;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const all(reinterpret_cast<char const*>(data), size);
    auto const name = all.substr(0, all.find('\n'));
    try {
        for (auto const& each : gate::parse_suppressions(all.substr(name.size()), "input"))
            gate::matches(each.pattern, name);
    } catch (gate::input_error const&) {
    }
    return 0;
}
