#include "tests/gui/scenes/print.h"

#include <fmt/core.h>

namespace lastref::test {

using namespace gui::scenes;

namespace {

std::string ms(store::time_ns at) {
    return fmt::format("{:g}", static_cast<double>(at) / 1e6);
}

std::string span_text(call_timeline const& scene, track const& t, std::uint32_t entry) {
    auto const& s = scene.at(t, entry);
    auto const length = s.open() ? std::string("…") : ms(s.length());
    return fmt::format("    {} + {} ms {}{} ({}) event {} object {}{}\n", ms(s.begin()), length,
                       std::string(static_cast<std::size_t>(s.depth()) * 2, '>'), scene.name_of(t, s),
                       name_of(scene.style_of(t, s)), s.event(), s.object(), s.failed() ? " FAILED" : "");
}

}  // namespace

std::string text_of(call_timeline const& scene) {
    auto out = fmt::format("{} to {} ms\n", ms(scene.begin()), ms(scene.end()));
    for (auto const& g : scene.groups()) {
        out += fmt::format("{}\n", g.name);
        for (auto i = g.first_track; i < g.first_track + g.tracks; ++i) {
            auto const& t = scene.tracks()[i];
            out += fmt::format("  {} (rows: {})\n", t.name, t.depth);
            for (std::uint32_t e = 0; e < t.entries.size(); ++e) out += span_text(scene, t, e);
        }
    }
    for (auto const& m : scene.marks()) out += fmt::format("mark {} ms {}\n", ms(m.at), m.text);
    return out;
}

}  // namespace lastref::test
