#include "gui/scenes/hazard.h"

#include "analyzer/findings/rules.h"
#include "analyzer/findings/wording.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

namespace lastref::gui::scenes {
namespace {

using k = event_kind;

constexpr std::size_t most_kept = 4096;   // while reading
constexpr std::size_t most_between = 18;  // calls that are no sites: the first and the last ones

// Which stream a call named, as far as the call itself says it. Handles are used again, but what is told here is the
// story of few calls.
struct stream_key {
    lane_kind kind = lane_kind::created_stream;
    std::uint64_t number = 0;
    store::context_id context;
    friend auto operator<=>(stream_key const&, stream_key const&) = default;
};

constexpr store::handle legacy_token = 1, per_thread_token = 2;

std::optional<stream_key> stream_of(store::event const& row, store::api const& api) {
    auto const legacy = stream_key{lane_kind::legacy_stream, 0, row.context};
    auto const per_thread = stream_key{lane_kind::per_thread_stream, row.thread.value, row.context};
    if (row.stream == legacy_token) return legacy;
    if (row.stream == per_thread_token) return per_thread;
    if (row.stream != 0) return stream_key{lane_kind::created_stream, row.stream, {}};
    if (api.default_stream == store::default_stream::legacy) return legacy;
    if (api.default_stream == store::default_stream::per_thread) return per_thread;
    return {};
}

deed deed_of(store::api const& api) {
    switch (api.kind) {
        case k::event_record:
        case k::context_record_event:
            return deed::record;
        case k::stream_wait_event:
        case k::context_wait_event:
            return deed::wait;
        case k::stream_synchronize:
        case k::event_synchronize:
        case k::context_synchronize:
            return deed::synchronize;
        default:
            break;
    }
    if (api.verb == store::verb::create) return deed::allocate;
    if (api.verb == store::verb::destroy || api.verb == store::verb::release) return deed::release;
    return api.verb == store::verb::use ? deed::use : deed::other;
}

bool orders(deed d) {
    return d == deed::record || d == deed::wait || d == deed::synchronize;
}

class story {
  public:
    story(store::trace const& trace, hazard_request const& asked) : trace_(trace), asked_(asked) {}

    std::shared_ptr<hazard const> tell(watch const& progress);

  private:
    struct call {
        store::event row;
        std::string role;
        std::optional<stream_key> stream;
        scenes::deed deed = deed::other;
        std::uint64_t skipped_before = 0;
    };
    bool find_sites();
    void read_between(watch const& progress);
    bool concerns(store::event const& row, call const& c) const;
    bool touches_memory(store::event const& row) const;
    void thin_out();
    std::size_t thread_lane(store::thread_id id);
    std::size_t stream_lane(stream_key const& key);
    void lay_out();
    void draw_edges();
    std::string thread_name(store::thread_id id) const;
    std::string const& role_of(store::event_id id) const;

    store::trace const& trace_;
    hazard_request const& asked_;
    std::vector<call> sites_;
    std::vector<call> calls_;
    std::map<stream_key, std::size_t> streams_;
    std::map<store::thread_id, std::size_t> threads_;
    std::shared_ptr<hazard> made_ = std::make_shared<hazard>();
};

std::string const& story::role_of(store::event_id id) const {
    static std::string const none;
    for (auto const& s : asked_.sites)
        if (s.event == id) return s.role;
    return none;
}

bool story::find_sites() {
    std::vector<store::event_id> ids;
    for (auto const& s : asked_.sites) ids.push_back(s.event);
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    for (auto const& row : trace_.events_at(ids)) {
        auto const& api = trace_.at(row.api);
        sites_.push_back({row, role_of(row.id), stream_of(row, api), deed_of(api), 0});
    }
    return !sites_.empty();
}

bool story::touches_memory(store::event const& row) const {
    for (auto const& s : sites_) {
        if (s.deed != deed::allocate || s.row.object == 0) continue;
        auto const inside = [&s](store::handle address) {
            return address - s.row.object < std::max<std::uint64_t>(s.row.size, 1);
        };
        if (inside(row.object) || inside(row.other)) return true;
    }
    return false;
}

// What happened on the streams of the sites, and where the host waited.
bool story::concerns(store::event const& row, call const& c) const {
    if (c.stream && std::any_of(sites_.begin(), sites_.end(), [&c](call const& s) { return s.stream == c.stream; }))
        return true;
    if (c.deed == deed::synchronize || c.deed == deed::wait) return true;
    return c.deed == deed::use && touches_memory(row);
}

void story::read_between(watch const& progress) {
    auto const first = sites_.front().row.id, last = sites_.back().row.id;
    auto reader = trace_.events(first);
    std::vector<store::event> batch;
    auto const all = static_cast<double>(std::max<std::int64_t>(last.value - first.value, 1));
    for (bool more = true; more && reader.next(batch);) {
        for (auto const& row : batch) {
            if (row.id > last) {
                more = false;
                break;
            }
            auto const& api = trace_.at(row.api);
            call c{row, role_of(row.id), stream_of(row, api), deed_of(api), 0};
            if (!c.role.empty() || concerns(row, c)) calls_.push_back(std::move(c));
        }
        if (progress && !progress(std::min(1.0, static_cast<double>(batch.back().id.value - first.value) / all)))
            throw cancelled();
        // Long stories are thinned out as they are read: what orders comes before what only is there.
        if (calls_.size() > most_kept) thin_out();
    }
    thin_out();
}

// Keeps the sites, and of the rest the first and the last ones; what orders before what does not.
void story::thin_out() {
    std::vector<std::size_t> ordering, others;
    for (std::size_t i = 0; i < calls_.size(); ++i)
        if (calls_[i].role.empty()) (orders(calls_[i].deed) ? ordering : others).push_back(i);
    auto const keep_ends = [](std::vector<std::size_t>& of, std::size_t most) {
        if (of.size() <= most) return;
        auto const head = static_cast<std::ptrdiff_t>(most / 3), tail = static_cast<std::ptrdiff_t>(most - most / 3);
        of.erase(of.begin() + head, of.end() - tail);
    };
    keep_ends(ordering, most_between);
    keep_ends(others, most_between - std::min(most_between, ordering.size()));
    std::vector<call> kept;
    std::uint64_t skipped = 0;
    for (std::size_t i = 0; i < calls_.size(); ++i) {
        skipped += calls_[i].skipped_before;
        bool const keep = !calls_[i].role.empty() || std::binary_search(ordering.begin(), ordering.end(), i) ||
                          std::binary_search(others.begin(), others.end(), i);
        if (!keep) {
            ++skipped;
            continue;
        }
        calls_[i].skipped_before = std::exchange(skipped, 0);
        kept.push_back(std::move(calls_[i]));
    }
    calls_ = std::move(kept);
}

// --- lanes ---------------------------------------------------------------------------------------------------------

std::string story::thread_name(store::thread_id id) const {
    auto const& t = trace_.at(id);
    if (t.main) return "main thread";
    return t.name.empty() ? fmt::format("thread {}", t.tid) : fmt::format("{} ({})", t.name, t.tid);
}

std::size_t story::thread_lane(store::thread_id id) {
    auto const [found, fresh] = threads_.try_emplace(id, made_->lanes.size());
    if (fresh) made_->lanes.push_back({lane_kind::thread, thread_name(id)});
    return found->second;
}

std::size_t story::stream_lane(stream_key const& key) {
    auto const [found, fresh] = streams_.try_emplace(key, made_->lanes.size());
    if (!fresh) return found->second;
    auto name = key.kind == lane_kind::legacy_stream ? std::string("legacy default stream")
                : key.kind == lane_kind::per_thread_stream
                    ? "default stream of " + thread_name(store::thread_id{static_cast<std::uint32_t>(key.number)})
                    : "stream " + findings::handle_text(key.number);
    if (key.kind != lane_kind::created_stream && !key.context) name += ", no context";
    made_->lanes.push_back({key.kind, std::move(name)});
    return found->second;
}

void story::lay_out() {
    for (auto const& c : calls_) thread_lane(c.row.thread);
    for (auto const& c : calls_) {
        if (c.skipped_before > 0) made_->gaps.push_back({made_->columns, c.skipped_before});
        auto const thread = thread_lane(c.row.thread);
        hazard_point p{made_->columns++, thread,      {},
                       c.deed,           c.role,      trace_.at(c.row.api).name,
                       c.row.id,         c.row.begin, c.row.returned() && !c.row.succeeded()};
        if (c.stream) {
            p.lane = stream_lane(*c.stream);
            p.caller = thread;
        }
        made_->points.push_back(std::move(p));
    }
}

void story::draw_edges() {
    std::map<store::handle, std::size_t> recorded;  // latest record of each event
    for (std::size_t i = 0; i < calls_.size(); ++i) {
        auto const& c = calls_[i];
        if (!c.row.succeeded() || c.row.object == 0) continue;
        if (c.deed == deed::record) recorded[c.row.object] = i;
        auto const before = recorded.find(c.row.object);
        bool const waits = c.deed == deed::wait || trace_.at(c.row.api).kind == k::event_synchronize;
        if (waits && before != recorded.end()) made_->edges.push_back({before->second, i});
    }
    static constexpr std::array missing_order{findings::rule::ptds_cross_thread_free, findings::rule::unordered_free,
                                              findings::rule::pinned_free_in_flight};
    if (std::none_of(missing_order.begin(), missing_order.end(),
                     [this](auto r) { return info(r).name == asked_.rule; }))
        return;
    auto const with_role = [this](std::initializer_list<std::string_view> roles) -> std::optional<std::size_t> {
        for (auto const role : roles)
            for (std::size_t i = calls_.size(); i-- > 0;)
                if (calls_[i].role == role) return i;
        return {};
    };
    auto const from = with_role({"last used", "allocated", "registered"}), to = with_role({"freed", "unregistered"});
    if (from && to && *from < *to) made_->missing = hazard_edge{*from, *to};
}

std::shared_ptr<hazard const> story::tell(watch const& progress) {
    if (!find_sites()) return nullptr;
    made_->rule = asked_.rule;
    made_->title = asked_.title;
    made_->what = asked_.what;
    made_->why = asked_.why;
    made_->advice = asked_.advice;
    read_between(progress);
    lay_out();
    draw_edges();
    return std::move(made_);
}

}  // namespace

hazard_request request_of(findings::finding const& from) {
    hazard_request out{std::string(info(from.rule).name), from.title, from.what, from.why, from.advice, {}};
    for (auto const& s : from.sites)
        if (s.call.event) out.sites.push_back({s.role, s.call.event});
    return out;
}

bool is_about_order(std::string_view rule) {
    using r = findings::rule;
    static constexpr std::array rules{r::ptds_cross_thread_free,
                                      r::unordered_free,
                                      r::pinned_free_in_flight,
                                      r::ptds_graph_attach,
                                      r::incomplete_recipe,
                                      r::stale_graph_reference,
                                      r::ipc_order};
    return std::any_of(rules.begin(), rules.end(), [rule](auto each) { return info(each).name == rule; });
}

std::shared_ptr<hazard const> build_hazard(store::trace const& trace, hazard_request const& asked, watch const& tell) {
    return story(trace, asked).tell(tell);
}

}  // namespace lastref::gui::scenes
