// Reports in JSON, as baselines and as both sides of a difference: two of them, with a zero byte in between.
#include "analyzer/gate/difference.h"
#include "analyzer/report/difference.h"
#include "tests/fuzz/input.h"

using namespace lastref;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const all(reinterpret_cast<char const*>(data), size);
    std::size_t const zero = all.find('\0');
    try {
        auto const before = gate::parse_baseline(all.substr(0, zero), "before");
        auto const after =
            zero == std::string_view::npos ? before : gate::parse_baseline(all.substr(zero + 1), "after");
        auto const difference = gate::compare(before, after);
        report::render_difference_text(difference, {});
        report::render_difference_json(difference);
    } catch (gate::input_error const&) {
    }
    return 0;
}
