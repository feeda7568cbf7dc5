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

std::string text_of(chart const& scene) {
    auto out = fmt::format("{}, {} to {} ms\n", scene.title, ms(scene.begin), ms(scene.end));
    for (auto const& line : scene.lines) {
        out += fmt::format("  {}:", line.name());
        for (auto const& s : line.steps())
            out += fmt::format(" {} at {} ms,", value_text(s.value, scene.unit), ms(s.at));
        out.back() = '\n';
    }
    return out;
}

std::string text_of(histogram const& scene) {
    auto out = fmt::format("{}: {}, median {} ms, longest {} ms{}\n", scene.title, scene.count, ms(scene.median),
                           ms(scene.longest), scene.inferred ? ", inferred" : "");
    for (auto const& bin : scene.bins) out += fmt::format("  {} to {} ms: {}\n", ms(bin.from), ms(bin.to), bin.count);
    return out;
}

std::string text_of(gui::scenes::curves const& scene) {
    auto out = text_of(scene.payloads) + text_of(scene.memory) + text_of(scene.backlog) + text_of(scene.backlog_bytes);
    for (auto const& pool : scene.pools) out += text_of(pool);
    for (auto const& device : scene.graph_memory) out += text_of(device);
    return out + text_of(scene.clean_up);
}

std::string text_of(payload_story const& scene) {
    auto out = fmt::format("user object {:#x} of payload {:#x}, {} bytes, created at {} ms (event {})\n", scene.handle,
                           scene.payload, scene.bytes, ms(scene.created_at), scene.created.value);
    for (auto const& h : scene.holders) {
        out += fmt::format("  {}", h.name);
        if (h.made_at > 0) out += fmt::format(", made at {} ms", ms(h.made_at));
        if (h.gone_at) out += fmt::format(", gone at {} ms", ms(*h.gone_at));
        if (h.source) out += fmt::format(", from {}", scene.holders[*h.source].name);
        if (h.launches > 0) out += fmt::format(", {} launches, last on {}", h.launches, h.last_stream);
        out += ":";
        for (auto const& r : h.references) out += fmt::format(" {} at {} ms", r.count, ms(r.at));
        out += '\n';
    }
    return out + "  " + scene.verdict() + "\n";
}

std::string text_of(payload_stories const& scene) {
    std::string out;
    for (std::size_t i = 0; i < scene.payloads().size(); ++i) out += text_of(*scene.story(i));
    return out;
}

std::string text_of(hazard const& scene) {
    auto out = fmt::format("{}: {}\n", scene.rule, scene.title);
    for (auto const& lane : scene.lanes) out += fmt::format("  lane {}\n", lane.name);
    for (std::size_t i = 0; i < scene.points.size(); ++i) {
        for (auto const& gap : scene.gaps)
            if (gap.before_column == scene.points[i].column) out += fmt::format("  … {} left out\n", gap.calls);
        auto const& p = scene.points[i];
        out += fmt::format("  {} [{}] {}{}{}, event {}{}\n", i, scene.lanes[p.lane].name, p.role,
                           p.role.empty() ? "" : ": ", p.name, p.event.value,
                           p.caller ? " by " + scene.lanes[*p.caller].name : std::string());
    }
    for (auto const& edge : scene.edges) out += fmt::format("  order {} → {}\n", edge.from, edge.to);
    if (scene.missing) out += fmt::format("  missing {} → {}\n", scene.missing->from, scene.missing->to);
    return out;
}

namespace {

void add_below(std::string& out, flame const& scene, std::uint32_t node) {
    auto const& n = scene.nodes[node];
    out += fmt::format("{:{}}{}: {} bytes in {}\n", "", n.depth * 2, scene.name_of(node), n.bytes, n.count);
    for (auto c = n.first_child; c < n.first_child + n.children; ++c) add_below(out, scene, c);
}

}  // namespace

std::string text_of(flame const& scene) {
    std::string out;
    if (!scene.nodes.empty()) add_below(out, scene, 0);
    return out;
}

namespace {

std::string items_text(char const* title, std::vector<shutdown_item> const& items) {
    std::string out;
    for (auto const& item : items)
        out += fmt::format("    {}: {} {} [{}] {} bytes, event {}\n", title, item.count, item.what, item.how,
                           item.bytes, item.first.value);
    return out;
}

}  // namespace

std::string text_of(shutdown const& scene) {
    static constexpr char const* steps[] = {"after main's last call", "exit handlers", "after the driver shut down"};
    std::string out;
    for (auto const& p : scene.processes) {
        out += fmt::format("{}, {}\n", p.name, p.ended);
        for (auto const& phase : p.phases) {
            out +=
                fmt::format("  {}, {} to {} ms\n", steps[static_cast<int>(phase.step)], ms(phase.begin), ms(phase.end));
            out += items_text("failed", phase.failed) + items_text("destructor", phase.destructors) +
                   items_text("released", phase.released);
        }
        out += fmt::format("  left: {} bytes\n", p.left_bytes) + items_text("left", p.left) +
               items_text("intended", p.intended);
    }
    return out;
}

}  // namespace lastref::test
