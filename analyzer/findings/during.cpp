#include "analyzer/findings/during.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

namespace lastref::findings {
namespace {

// A site as ranges are looked for: by thread, and by process.
struct probe {
    std::uint32_t key = 0;
    store::event_id event;
    site* at = nullptr;
};

bool before(probe const& a, probe const& b) {
    return a.key != b.key ? a.key < b.key : a.event < b.event;
}

class probes {
  public:
    void add(std::uint32_t key, site& s) { all_.push_back({key, s.call.event, &s}); }
    void sort() { std::sort(all_.begin(), all_.end(), before); }

    // Calls `found(site)` for those of `key` that fall into the range.
    template <class Found>
    void inside(std::uint32_t key, store::nvtx_range const& range, Found found) const {
        auto const first = std::upper_bound(all_.begin(), all_.end(), probe{key, range.before, nullptr}, before);
        for (auto each = first; each != all_.end() && each->key == key && each->event <= range.last; ++each)
            found(*each->at);
    }

  private:
    std::vector<probe> all_;
};

struct all_probes {
    explicit all_probes(store::trace const& of) : trace(of) {}

    void add(std::vector<site>& sites) {
        for (auto& s : sites) {
            if (!s.call.event || !s.call.thread) continue;
            of_threads.add(s.call.thread.value, s);
            of_processes.add(trace.at(s.call.thread).process.value, s);
        }
    }

    store::trace const& trace;
    probes of_threads, of_processes;
};

void add(site& to, store::nvtx_range const& range) {
    if (to.ranges.size() >= most_ranges) to.ranges.erase(to.ranges.begin());
    to.ranges.push_back({range.domain, range.name, range.pushed});
}

}  // namespace

void find_ranges(std::vector<finding>& found, store::trace const& trace) {
    all_probes all(trace);
    for (auto& f : found) {
        all.add(f.sites);
        for (auto& c : f.consequences) all.add(c.sites);
    }
    all.of_threads.sort();
    all.of_processes.sort();
    auto reader = trace.nvtx_ranges();
    for (store::nvtx_range range; !found.empty() && reader.next(range);) {
        if (range.name.empty()) continue;
        auto const take = [&range](site& s) { add(s, range); };
        if (range.pushed)
            all.of_threads.inside(range.thread.value, range, take);
        else
            all.of_processes.inside(range.process.value, range, take);
    }
}

std::string range_text(named_range const& range) {
    if (range.domain.empty()) return findings::quoted(range.name);
    return fmt::format("{} of domain {}", findings::quoted(range.name), findings::quoted(range.domain));
}

std::string during_text(site const& s) {
    constexpr std::size_t most_domains = 3;
    std::vector<named_range const*> told;  // innermost first
    for (bool const pushed : {true, false})
        for (auto each = s.ranges.rbegin(); each != s.ranges.rend() && told.size() < most_domains; ++each) {
            auto const same = [each](auto const* other) { return other->domain == each->domain; };
            if (each->pushed == pushed && std::none_of(told.begin(), told.end(), same)) told.push_back(&*each);
        }
    std::string out;
    for (auto each = told.rbegin(); each != told.rend(); ++each)
        out += (out.empty() ? "" : " and ") + range_text(**each);
    return out;
}

std::string when_text(site const& s) {
    auto const during = during_text(s);
    return fmt::format("at {} by {}{}{}", time_text(s.call.at),
                       s.thread.empty() ? std::string_view("a thread") : s.thread, during.empty() ? "" : " during ",
                       during);
}

std::string site_head(site const& s) {
    return s.role + " " + when_text(s);
}

}  // namespace lastref::findings
