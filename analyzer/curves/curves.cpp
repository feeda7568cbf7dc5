#include "analyzer/curves/curves.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

#include <algorithm>

namespace lastref::curves {
namespace {

using k = event_kind;

// CU_MEMPOOL_ATTR_… and CU_GRAPH_MEM_ATTR_… of cuda.h
constexpr std::uint64_t pool_threshold = 4, pool_reserved = 5, pool_used = 7;
constexpr std::uint64_t graph_used = 0, graph_reserved = 2;

bool on_host(model::object_kind kind) {
    return kind == model::object_kind::pinned || kind == model::object_kind::registered;
}

// What takes memory itself; address ranges, mappings of memory that counts already, and what other processes
// allocated do not.
bool takes_memory(model::object_kind kind) {
    using o = model::object_kind;
    return kind == o::device || kind == o::stream_ordered || kind == o::managed || kind == o::physical ||
           kind == o::array || kind == o::mipmapped_array || on_host(kind);
}

// A damaged trace may hold any two times.
time_ns length_of(time_ns from, time_ns to) {
    auto const length = static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
    return to <= from ? 0 : static_cast<time_ns>(std::min<std::uint64_t>(length, INT64_MAX));
}

time_ns bin_edge(int number) {
    static constexpr time_ns steps[] = {1, 2, 5};
    time_ns out = steps[number % 3];
    for (int i = 0; i < number / 3; ++i) out *= 10;
    return out;
}

int bin_of(time_ns length) {
    int number = 0;
    while (number < 50 && bin_edge(number + 1) <= length) ++number;
    return number;
}

}  // namespace

std::uint64_t chart::greatest() const {
    std::uint64_t out = 0;
    for (auto const& line : lines) out = std::max(out, line.greatest());
    return out;
}

histogram histogram_of(std::string title, std::vector<time_ns> lengths) {
    histogram out{std::move(title), {}, lengths.size(), 0, 0, false};
    if (lengths.empty()) return out;
    std::sort(lengths.begin(), lengths.end());
    out.median = lengths[lengths.size() / 2];
    out.longest = lengths.back();
    auto const first = bin_of(std::max<time_ns>(lengths.front(), 1));
    for (auto number = first; number <= bin_of(std::max<time_ns>(out.longest, 1)); ++number)
        out.bins.push_back({bin_edge(number), bin_edge(number + 1), 0});
    for (auto const length : lengths)
        ++out.bins[static_cast<std::size_t>(bin_of(std::max<time_ns>(length, 1)) - first)].count;
    return out;
}

void curves_builder::counter::change(time_ns at, std::int64_t by) {
    value += static_cast<std::uint64_t>(by);
    line.add(at, value);
}

// --- what is alive -------------------------------------------------------------------------------------------------

void curves_builder::on_event(model::process_state const&, model::event const& e) {
    begin_ = std::min(begin_, e.row.begin);
    end_ = std::max(end_, e.row.end());
    switch (e.kind()) {
        case k::callback_user_object:
            ++marks_.callbacks;
            return destructor(e);
        case k::pool_get:
        case k::pool_select:
            return pool_known(e);
        case k::pool_attribute:
            return pool_read(e);
        case k::graph_memory_attribute:
            return graph_memory_read(e);
        default:
            marked(e);
            break;
    }
    if (e.subject != nullptr && e.subject->created.event == e.row.id) made(e);
}

void curves_builder::marked(model::event const& e) {
    switch (e.kind()) {
        case k::annotation_enqueue:
            ++marks_.enqueued;
            break;
        case k::annotation_schedule:
            ++marks_.asked;
            break;
        case k::annotation_schedule_result:
            if (e.row.size == 0) ++marks_.refused;
            break;
        case k::annotation_decline:
            ++marks_.declined;
            break;
        case k::annotation_drain_begin:
            ++marks_.drains;
            break;
        case k::annotation_clean:
            ++marks_.cleaned;
            break;
        case k::annotation_stop:
            ++marks_.stopped;
            break;
        default:
            break;
    }
}

void curves_builder::made(model::event const& e) {
    auto const& o = *e.subject;
    auto const at = e.row.end();
    if (o.kind == model::object_kind::user_object) return payloads_.change(at, 1);
    if (!takes_memory(o.kind)) return;
    auto const bytes = static_cast<std::int64_t>(o.bytes);
    (on_host(o.kind) ? host_ : device_).change(at, bytes);
    if (o.kind != model::object_kind::stream_ordered) return;
    auto const known = pool_of_memory_.find({e.process, o.parent});
    pool_key const key{e.process, known == pool_of_memory_.end() ? o.parent : known->second};
    memory_pool_[o.id] = key;
    pools_[key].used.change(at, bytes);
}

void curves_builder::on_released(model::process_state const&, model::object const& gone, model::event const& e,
                                 model::release_cause) {
    auto const at = e.row.begin;
    if (gone.kind == model::object_kind::user_object) return payloads_.change(at, -1);
    if (!takes_memory(gone.kind)) return;
    auto const bytes = static_cast<std::int64_t>(gone.bytes);
    (on_host(gone.kind) ? host_ : device_).change(at, -bytes);
    if (auto const pool = memory_pool_.find(gone.id); pool != memory_pool_.end()) {
        pools_[pool->second].used.change(at, -bytes);
        memory_pool_.erase(pool);
    }
    if (auto const since = waiting_.find(gone.id); since != waiting_.end()) {
        clean_ups_.push_back(length_of(since->second.since, at));
        backlog_.change(at, -1);
        backlog_bytes_.change(at, -static_cast<std::int64_t>(since->second.bytes));
        waiting_.erase(since);
    }
}

void curves_builder::destructor(model::event const& e) {
    auto const* link = e.subject != nullptr ? links_.of_user_object(e.subject->id) : nullptr;
    if (link == nullptr) return;
    auto const fresh = waiting_.try_emplace(link->memory.id, waiting{e.row.begin, link->memory.bytes}).second;
    if (!fresh) return;
    inferred_ |= !link->by_address;
    backlog_.change(e.row.begin, 1);
    backlog_bytes_.change(e.row.begin, static_cast<std::int64_t>(link->memory.bytes));
}

// --- pools ---------------------------------------------------------------------------------------------------------

// Allocations that name no pool come from the device's current one, which is its default pool until another is chosen.
void curves_builder::pool_known(model::event const& e) {
    if (!e.row.succeeded() || e.row.object == 0) return;
    bool const chosen = e.kind() == k::pool_select;
    if (chosen)
        pool_of_memory_[{e.process, 0}] = e.row.object;
    else if (e.api.name == "cuDeviceGetDefaultMemPool")
        pool_of_memory_.try_emplace({e.process, 0}, e.row.object);
}

curves_builder::pool_lines& curves_builder::pool_of(store::process_id process, store::handle handle) {
    return pools_[{process, handle}];
}

void curves_builder::pool_read(model::event const& e) {
    if (!e.row.succeeded()) return;
    bool const threshold = e.row.extra == pool_threshold, reserved = e.row.extra == pool_reserved;
    if (!threshold && !reserved && e.row.extra != pool_used) return;
    auto& pool = pool_of(e.process, e.row.object);
    auto& line = threshold ? pool.threshold : reserved ? pool.reserved : pool.reported;
    line.add(e.row.end(), e.row.size);
}

void curves_builder::graph_memory_read(model::event const& e) {
    if (!e.row.succeeded() || e.api.name != "cuDeviceGetGraphMemAttribute") return;
    auto& [used, reserved] =
        graph_memory_.try_emplace({e.process, e.row.object}, series("used"), series("reserved")).first->second;
    if (e.row.extra == graph_used) used.add(e.row.end(), e.row.size);
    if (e.row.extra == graph_reserved) reserved.add(e.row.end(), e.row.size);
}

// --- the result ----------------------------------------------------------------------------------------------------

chart curves_builder::chart_of(std::string title, unit of, std::vector<series> lines) const {
    chart out{std::move(title), of, {}, marks_of(trace_), std::min(begin_, end_), end_};
    for (auto const& m : out.marks) {
        out.begin = std::min(out.begin, m.at);
        out.end = std::max(out.end, m.at);
    }
    for (auto& line : lines) {
        if (line.empty() && !out.lines.empty()) continue;
        line.finish();
        out.lines.push_back(std::move(line));
    }
    return out;
}

void curves_builder::take_pools(all_curves& out) {
    // A pool whose allocations came before its handle was known is the same pool.
    for (auto const& [given, handle] : pool_of_memory_) {
        auto const unnamed = pools_.find({given.first, 0});
        if (given.second != 0 || unnamed == pools_.end()) continue;
        auto& named = pools_[{given.first, handle}];
        if (named.used.line.empty()) named.used = std::move(unnamed->second.used);
        if (unnamed->second.used.line.empty()) pools_.erase(unnamed);
    }
    std::vector<std::pair<pool_key, pool_lines*>> order;
    for (auto& [key, pool] : pools_) order.emplace_back(key, &pool);
    auto const size = [](pool_lines const& p) { return std::max(p.used.line.greatest(), p.reserved.greatest()); };
    std::stable_sort(order.begin(), order.end(),
                     [&](auto const& a, auto const& b) { return size(*a.second) > size(*b.second); });
    out.pools_left_out = order.size() - std::min(order.size(), most_pools);
    order.resize(std::min(order.size(), most_pools));
    for (auto& [key, pool] : order) {
        auto title = key.second == 0 ? std::string("default pool") : fmt::format("pool {:#x}", key.second);
        if (trace_.processes().size() > 1) title += " of " + findings::process_name(trace_.at(key.first));
        // A threshold of "everything" would flatten all other lines.
        if (pool->threshold.greatest() > std::max<std::uint64_t>(size(*pool), 1) * 64) pool->threshold = series();
        out.pools.push_back(chart_of(std::move(title), unit::bytes,
                                     {std::move(pool->used.line), std::move(pool->reserved), std::move(pool->threshold),
                                      std::move(pool->reported)}));
    }
}

std::shared_ptr<all_curves const> curves_builder::take() {
    auto out = std::make_shared<all_curves>();
    out->payloads = chart_of("Outstanding payloads", unit::count, {std::move(payloads_.line)});
    out->memory = chart_of("Memory", unit::bytes, {std::move(device_.line), std::move(host_.line)});
    out->backlog = chart_of("Payloads waiting for clean-up", unit::count, {std::move(backlog_.line)});
    out->backlog_bytes = chart_of("Memory waiting for clean-up", unit::bytes, {std::move(backlog_bytes_.line)});
    take_pools(*out);
    for (auto& [device, lines] : graph_memory_)
        out->graph_memory.push_back(chart_of(fmt::format("Graph memory of device {}", device.second), unit::bytes,
                                             {std::move(lines.first), std::move(lines.second)}));
    out->clean_up = histogram_of("From destructor to clean-up", std::move(clean_ups_));
    out->clean_up.inferred = inferred_;
    out->marks = marks_;
    return out;
}

}  // namespace lastref::curves
