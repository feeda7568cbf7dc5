// Traces: the file's bytes are the input. It is read and reported in every format, or refused in one line.
#include <fstream>
#include <functional>

#include "analyzer/detectors/analysis.h"
#include "analyzer/findings/fingerprint.h"
#include "analyzer/gate/gate.h"
#include "analyzer/report/render.h"
#include "analyzer/symbols/source.h"
#include "tests/fuzz/input.h"

using namespace lastref;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    auto const path = fuzz::scratch() / "t.lastref";
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<char const*>(data), static_cast<std::streamsize>(size));
    try {
        auto const trace = store::trace::open(path);
        symbols::no_source files;
        symbols::stacks stacks(trace, files);
        auto what = detectors::analyse(trace, {}, &stacks);
        findings::give_fingerprints(what, trace, stacks);
        auto const outcome = gate::judge(what, trace, stacks, {}, {}, {});
        for (auto const as : {report::format::text, report::format::json, report::format::sarif, report::format::junit,
                              report::format::markdown, report::format::html})
            report::render(as, {trace, what, stacks, outcome}, {.by_range = true});
    } catch (store::error const&) {
    }
    return 0;
}
