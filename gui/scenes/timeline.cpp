#include "gui/scenes/timeline.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace lastref::gui::scenes {
namespace {

constexpr int mantissa_bits = 10;

// Six bits of exponent over ten of mantissa, like a floating-point number without a sign; rounds down.
std::uint16_t packed(std::uint64_t value) {
    if (value < (1u << mantissa_bits)) return static_cast<std::uint16_t>(value);
    auto const exponent = static_cast<int>(std::bit_width(value)) - mantissa_bits;
    auto const mantissa = (value >> (exponent - 1)) & ((1u << mantissa_bits) - 1);
    return static_cast<std::uint16_t>(static_cast<std::uint64_t>(exponent) << mantissa_bits | mantissa);
}

std::uint64_t unpacked(std::uint16_t code) {
    auto const exponent = code >> mantissa_bits;
    std::uint64_t const mantissa = code & ((1u << mantissa_bits) - 1);
    return exponent == 0 ? mantissa : (mantissa | 1u << mantissa_bits) << (exponent - 1);
}

bool builds_graphs(event_kind kind) {
    return kind >= event_kind::graph_create && kind <= event_kind::graph_upload;
}

}  // namespace

char const* name_of(style s) {
    static constexpr std::array names{"allocate", "release",     "reference", "graph", "launch",
                                      "work",     "synchronize", "callback",  "range", "other"};
    static_assert(names.size() == static_cast<std::size_t>(style::count));
    return names[static_cast<std::size_t>(s)];
}

style style_of(event_kind kind, store::verb verb) {
    using k = event_kind;
    using v = store::verb;
    if (kind >= k::callback_user_object && kind <= k::callback_stream) return style::callback;
    if (kind >= k::user_object_create && kind <= k::graph_release_user_object) return style::reference;
    if (kind == k::graph_launch || kind == k::kernel_launch) return style::launch;
    if (verb == v::destroy) return style::release;
    if (builds_graphs(kind) || (kind >= k::capture_begin && kind <= k::capture_mode)) return style::graph;
    if (verb == v::wait) return style::synchronize;
    if (verb == v::query || verb == v::set) return style::other;
    if (verb == v::create) return style::allocate;
    if (verb == v::use || verb == v::begin || verb == v::end) return style::work;
    return style::other;
}

// --- spans ---------------------------------------------------------------------------------------------------------

span::span(time_ns begin, std::int64_t duration, std::uint32_t event, std::uint32_t object, std::uint32_t api,
           bool failed)
    : begin_low_(static_cast<std::uint32_t>(begin)),
      begin_high_(static_cast<std::uint32_t>(static_cast<std::uint64_t>(begin) >> 32)),
      event_(event),
      object_(object),
      length_(duration < 0 ? not_returned
                           : std::min<std::uint16_t>(packed(static_cast<std::uint64_t>(duration)), not_returned - 1)),
      bits_(static_cast<std::uint16_t>(std::min(api, unknown_api) | (failed ? failed_bit : 0u))) {}

time_ns span::length() const {
    return open() ? 0 : static_cast<time_ns>(unpacked(length_));
}

void span::set_depth(int depth) {
    bits_ = static_cast<std::uint16_t>((bits_ & (api_mask | failed_bit)) | std::min(depth, deepest) << depth_shift);
}

// --- summaries -----------------------------------------------------------------------------------------------------

style call_timeline::style_of(track const& t, span const& s) const {
    if (t.kind == track_kind::ranges) return style::range;
    return s.api() < styles_.size() ? styles_[s.api()] : style::other;
}

std::string const& call_timeline::name_of(track const& t, span const& s) const {
    static std::string const unknown = "unknown call";
    if (t.kind == track_kind::ranges) return ranges_[s.event()].name;
    return s.api() < names_.size() ? names_[s.api()] : unknown;
}

void call_timeline::sort(track& t) const {
    auto const earlier = [this](std::uint32_t a, std::uint32_t b) {
        auto const &left = spans_[a], &right = spans_[b];
        if (left.begin() != right.begin()) return left.begin() < right.begin();
        return end_of(left) > end_of(right);  // what holds another comes first
    };
    // Calls come in the order in which they ended or began: nearly sorted already, and mostly wholly.
    if (!std::is_sorted(t.entries.begin(), t.entries.end(), earlier))
        std::stable_sort(t.entries.begin(), t.entries.end(), earlier);
}

// Which calls were made inside others, by time: on one thread nothing overlaps otherwise.
void call_timeline::nest(track& t) {
    std::vector<time_ns> around;
    int deepest = 0;
    for (auto const index : t.entries) {
        auto& s = spans_[index];
        while (!around.empty() && around.back() <= s.begin()) around.pop_back();
        auto const depth = std::min(static_cast<int>(around.size()), span::deepest);
        s.set_depth(depth);
        deepest = std::max(deepest, depth);
        if (end_of(s) > s.begin()) around.push_back(end_of(s));
    }
    t.depth = deepest + 1;
}

summary call_timeline::summary_of(track const& t, std::uint32_t entry) const {
    auto const& s = at(t, entry);
    auto const end = end_of(s);
    auto const depth = t.kind == track_kind::thread || t.kind == track_kind::ranges ? s.depth() : 0;
    return {s.begin(),
            end,
            static_cast<float>(std::max<time_ns>(end - s.begin(), 1)),
            style_of(t, s),
            static_cast<std::uint8_t>(depth),
            s.failed()};
}

namespace {

summary joined(std::vector<summary> const& parts) {
    summary out;
    out.begin = parts.front().begin;
    std::array<float, static_cast<std::size_t>(style::count)> weights{};
    for (auto const& part : parts) {
        out.end = std::max(out.end, part.end);
        out.busy += part.busy;
        out.depth = std::max(out.depth, part.depth);
        out.failed |= part.failed;
        weights[static_cast<std::size_t>(part.most)] += part.busy;
    }
    auto const heaviest = std::max_element(weights.begin(), weights.end());
    out.most = static_cast<style>(heaviest - weights.begin());
    return out;
}

}  // namespace

void call_timeline::summarize(track& t) const {
    std::vector<summary> parts;
    auto const level_over = [&parts](std::size_t count, auto const& part_at) {
        std::vector<summary> level;
        level.reserve((count + fanout - 1) / fanout);
        for (std::size_t from = 0; from < count; from += fanout) {
            parts.clear();
            for (auto i = from; i < std::min(from + fanout, count); ++i) parts.push_back(part_at(i));
            level.push_back(joined(parts));
        }
        return level;
    };
    auto const of_entry = [&](std::size_t i) { return summary_of(t, static_cast<std::uint32_t>(i)); };
    for (auto count = t.entries.size(); count > 1; count = t.levels.back().size()) {
        if (t.levels.empty()) {
            t.levels.push_back(level_over(count, of_entry));
            continue;
        }
        auto const& below = t.levels.back();
        auto level = level_over(count, [&below](std::size_t i) { return below[i]; });
        t.levels.push_back(std::move(level));
    }
}

// --- looking at it -------------------------------------------------------------------------------------------------

struct call_timeline::visitor {
    call_timeline const& line;
    scenes::track const& t;
    time_ns from, to, resolution;
    std::function<void(block const&)> const& take;
    std::size_t looked_at = 0;

    // Whether it begins early enough to be seen, and with it those behind it may be.
    bool entry(std::size_t index) {
        ++looked_at;
        auto const one = line.summary_of(t, static_cast<std::uint32_t>(index));
        if (one.begin > to) return false;
        if (one.end >= from)
            take({one.begin, one.end, one.most, one.depth, one.failed, 1, 1, static_cast<std::uint32_t>(index)});
        return true;
    }

    // `size` is how many entries a summary of that level stands for.
    bool node(std::size_t level, std::size_t index, std::size_t size) {
        ++looked_at;
        auto const& s = t.levels[level][index];
        if (s.begin > to) return false;
        if (s.end < from) return true;
        if (s.end - s.begin > resolution) return below(level, index, size);
        auto const first = index * size;
        auto const calls = std::min(size, t.entries.size() - first);
        auto const share = std::min(1.f, s.busy / static_cast<float>(std::max<time_ns>(s.end - s.begin, 1)));
        take({s.begin, s.end, s.most, s.depth, s.failed, share, static_cast<std::uint32_t>(calls),
              static_cast<std::uint32_t>(first)});
        return true;
    }

    bool below(std::size_t level, std::size_t index, std::size_t size) {
        auto const count = level == 0 ? t.entries.size() : t.levels[level - 1].size();
        auto const last = std::min((index + 1) * fanout, count);
        for (auto i = index * fanout; i < last; ++i)
            if (!(level == 0 ? entry(i) : node(level - 1, i, size / fanout))) return false;
        return true;
    }
};

std::size_t call_timeline::visit(track const& t, time_ns from, time_ns to, time_ns resolution,
                                 std::function<void(block const&)> const& take) const {
    visitor v{*this, t, from, to, resolution, take};
    if (t.entries.empty()) return 0;
    if (t.levels.empty()) {
        v.entry(0);
        return v.looked_at;
    }
    std::size_t size = 1;
    for (std::size_t i = 0; i < t.levels.size(); ++i) size *= fanout;
    v.node(t.levels.size() - 1, 0, size);
    return v.looked_at;
}

std::optional<block> call_timeline::pick(track const& t, time_ns at, time_ns tolerance, int depth) const {
    std::optional<block> best;
    auto const distance = [at](block const& b) { return b.end < at ? at - b.end : b.begin > at ? b.begin - at : 0; };
    visit(t, at - tolerance, at + tolerance, tolerance, [&](block const& b) {
        if (depth >= 0 && b.calls == 1 && b.depth != depth) return;
        if (!best || distance(b) < distance(*best) ||
            (distance(b) == distance(*best) && (b.depth > best->depth || b.end - b.begin < best->end - best->begin)))
            best = b;
    });
    return best;
}

std::optional<call_timeline::place> call_timeline::find(std::uint32_t event) const {
    auto const before = [](span const& s, std::uint32_t id) { return s.event() < id; };
    auto const calls_end = spans_.end() - static_cast<std::ptrdiff_t>(ranges_.size());
    auto const found = std::lower_bound(spans_.begin(), calls_end, event, before);
    if (found == calls_end || found->event() != event) return {};
    auto const index = static_cast<std::uint32_t>(found - spans_.begin());
    auto const earlier = [this](std::uint32_t entry, time_ns begin) { return spans_[entry].begin() < begin; };
    for (std::size_t i = 0; i < tracks_.size(); ++i) {
        auto const& t = tracks_[i];
        if (t.kind != track_kind::thread) continue;
        auto near = std::lower_bound(t.entries.begin(), t.entries.end(), found->begin(), earlier);
        for (; near != t.entries.end() && spans_[*near].begin() == found->begin(); ++near)
            if (*near == index) return place{i, static_cast<std::uint32_t>(near - t.entries.begin())};
    }
    return {};
}

std::vector<std::uint32_t> call_timeline::spans_of(std::uint32_t object) const {
    std::vector<std::uint32_t> out;
    if (object == 0) return out;
    for (std::size_t i = 0; i < spans_.size(); ++i)
        if (spans_[i].object() == object) out.push_back(static_cast<std::uint32_t>(i));
    return out;
}

std::size_t call_timeline::bytes() const {
    auto out = spans_.capacity() * sizeof(span);
    for (auto const& t : tracks_) {
        out += t.entries.capacity() * sizeof(std::uint32_t);
        for (auto const& level : t.levels) out += level.capacity() * sizeof(summary);
    }
    return out;
}

}  // namespace lastref::gui::scenes
