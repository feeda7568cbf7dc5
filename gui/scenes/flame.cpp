#include "gui/scenes/flame.h"

#include "analyzer/symbols/short_name.h"
#include "analyzer/symbols/stacks.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

namespace lastref::gui::scenes {
namespace {

bool on_host(model::object_kind kind) {
    return kind == model::object_kind::pinned || kind == model::object_kind::registered;
}

bool takes_memory(model::object_kind kind) {
    using o = model::object_kind;
    return kind == o::device || kind == o::stream_ordered || kind == o::managed || kind == o::physical ||
           kind == o::array || kind == o::mipmapped_array || on_host(kind);
}

bool asked_for(flame_side side, model::object_kind kind) {
    return side == flame_side::both || on_host(kind) == (side == flame_side::host);
}

}  // namespace

// --- the pass ------------------------------------------------------------------------------------------------------

void allocation_builder::on_event(model::process_state const&, model::event const& e) {
    made_->begin_ = std::min(made_->begin_, e.row.begin);
    made_->end_ = std::max(made_->end_, e.row.end());
    if (e.subject == nullptr || e.subject->created.event != e.row.id || !takes_memory(e.subject->kind)) return;
    auto const& o = *e.subject;
    live_[o.id] = made_->allocations_.size();
    made_->allocations_.push_back({e.row.end(), INT64_MAX, o.bytes, o.created.stack, o.kind});
    if (on_host(o.kind)) return;
    bytes_ += o.bytes;
    if (bytes_ <= made_->peak_bytes_) return;
    made_->peak_bytes_ = bytes_;
    made_->peak_at_ = e.row.end();
}

void allocation_builder::on_released(model::process_state const&, model::object const& gone, model::event const& e,
                                     model::release_cause) {
    auto const known = live_.find(gone.id);
    if (known == live_.end()) return;
    auto& a = made_->allocations_[known->second];
    a.to = std::max(e.row.begin, a.from);
    if (!on_host(a.kind)) bytes_ -= a.bytes;
    live_.erase(known);
}

std::shared_ptr<allocation_history const> allocation_builder::take() {
    made_->allocations_.shrink_to_fit();
    made_->begin_ = std::min(made_->begin_, made_->end_);
    return std::move(made_);
}

std::shared_ptr<allocation_history const> build_allocation_history(store::trace const& trace, watch const& tell) {
    allocation_builder builder;
    model::world world(trace);
    world.add(builder);
    world.run([&tell](double share) {
        if (tell && !tell(share)) throw cancelled();
    });
    return builder.take();
}

// --- names ---------------------------------------------------------------------------------------------------------

stack_namer namer_of(symbols::stacks& stacks, store::trace const& trace) {
    return [&stacks, &trace](store::stack_id id) {
        std::vector<std::string> out;
        auto const& named = stacks.of(id);
        for (auto const& frame : named.frames) {
            for (auto const& f : frame.functions)
                if (!f.function.empty()) out.push_back(frame.python ? f.function : symbols::tidy_name(f.function));
            if (!frame.functions.empty()) continue;
            auto const path = frame.module ? trace.at(frame.module).path : std::string("??");
            out.push_back(fmt::format("{}+{:#x}", path.substr(path.rfind('/') + 1), frame.offset));
        }
        if (named.cut) out.emplace_back("… deeper frames were not recorded");
        return out;
    };
}

// --- the tree ------------------------------------------------------------------------------------------------------

namespace {

struct amount {
    std::uint64_t bytes = 0;
    std::uint64_t count = 0;
};

std::unordered_map<store::stack_id, amount> amounts(allocation_history const& history, flame_question const& asked,
                                                    time_ns at) {
    std::unordered_map<store::stack_id, amount> out;
    for (auto const& a : history.allocations()) {
        bool const counts = asked.moment == flame_moment::ever || (a.from <= at && a.to > at);
        if (!counts || !asked_for(asked.side, a.kind)) continue;
        auto& sum = out[a.stack];
        sum.bytes += a.bytes;
        ++sum.count;
    }
    return out;
}

class tree {
  public:
    explicit tree(flame& out) : out_(out) { nodes_.push_back({name_number("all"), {}, {}}); }

    void add(std::vector<std::string> const& frames, amount const& what) {
        std::uint32_t at = 0;
        count(at, what);
        for (auto const& frame : frames) {
            at = child(at, name_number(frame));
            count(at, what);
        }
    }

    // Breadth first, so that children stand together.
    void flatten() {
        out_.nodes.clear();
        out_.nodes.push_back({nodes_[0].name, 0, 0, 0, 0, nodes_[0].sum.bytes, nodes_[0].sum.count});
        std::vector<std::uint32_t> from{0};
        for (std::size_t i = 0; i < out_.nodes.size(); ++i) {
            auto const children = sorted_children(from[i]);
            out_.nodes[i].first_child = static_cast<std::uint32_t>(out_.nodes.size());
            out_.nodes[i].children = static_cast<std::uint32_t>(children.size());
            auto const depth = out_.nodes[i].depth + 1;
            for (auto const c : children) {
                out_.nodes.push_back({nodes_[c].name, static_cast<std::uint32_t>(i), 0, 0, depth, nodes_[c].sum.bytes,
                                      nodes_[c].sum.count});
                from.push_back(c);
                out_.depth = depth;
            }
        }
    }

  private:
    struct node {
        std::uint32_t name = 0;
        amount sum;
        std::map<std::uint32_t, std::uint32_t> children;  // by name
    };

    std::uint32_t name_number(std::string const& name) {
        auto const [found, fresh] = names_.try_emplace(name, static_cast<std::uint32_t>(out_.names.size()));
        if (fresh) out_.names.push_back(name);
        return found->second;
    }
    std::uint32_t child(std::uint32_t of, std::uint32_t name) {
        auto const next = static_cast<std::uint32_t>(nodes_.size());
        auto const [found, fresh] = nodes_[of].children.try_emplace(name, next);
        auto const out = found->second;
        if (fresh) nodes_.push_back({name, {}, {}});
        return out;
    }
    void count(std::uint32_t of, amount const& what) {
        nodes_[of].sum.bytes += what.bytes;
        nodes_[of].sum.count += what.count;
    }
    std::vector<std::uint32_t> sorted_children(std::uint32_t of) const {
        std::vector<std::uint32_t> out;
        for (auto const& [name, number] : nodes_[of].children) out.push_back(number);
        std::sort(out.begin(), out.end(), [this](std::uint32_t a, std::uint32_t b) {
            auto const &left = nodes_[a], &right = nodes_[b];
            if (left.sum.bytes != right.sum.bytes) return left.sum.bytes > right.sum.bytes;
            return out_.names[left.name] < out_.names[right.name];
        });
        return out;
    }

    flame& out_;
    std::vector<node> nodes_;
    std::unordered_map<std::string, std::uint32_t> names_;
};

time_ns moment_of(allocation_history const& history, flame_question const& asked) {
    if (asked.moment == flame_moment::at) return asked.at;
    return asked.moment == flame_moment::peak ? history.peak_at() : history.end();
}

}  // namespace

std::shared_ptr<flame const> build_flame(allocation_history const& history, flame_question const& asked,
                                         stack_namer const& names, watch const& tell) {
    auto out = std::make_shared<flame>();
    out->asked = asked;
    out->at = moment_of(history, asked);
    auto const all = amounts(history, asked, out->at);
    tree made(*out);
    std::size_t done = 0;
    for (auto const& [stack, sum] : all) {
        if (tell && !tell(static_cast<double>(done++) / static_cast<double>(all.size()))) throw cancelled();
        auto frames = stack ? names(stack) : std::vector<std::string>{};
        if (frames.empty()) frames.emplace_back("(no call stack recorded)");
        if (asked.order == flame_order::callers_first) std::reverse(frames.begin(), frames.end());
        made.add(frames, sum);
    }
    made.flatten();
    return out;
}

}  // namespace lastref::gui::scenes
