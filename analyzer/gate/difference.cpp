#include "analyzer/gate/difference.h"

#include <string_view>
#include <unordered_map>
#include <utility>

namespace lastref::gate {
namespace {

using by_fingerprint = std::unordered_map<std::string_view, earlier_finding const*>;

by_fingerprint index(baseline const& of) {
    by_fingerprint out;
    for (auto const& f : of.findings) out.emplace(f.fingerprint, &f);
    return out;
}

void count(difference& out) {
    for (auto const& f : out.before.findings) {
        auto& totals = out.rules[f.rule];
        ++totals.findings_before;
        totals.count_before += f.count;
        totals.bytes_before += f.bytes;
    }
    for (auto const& f : out.after.findings) {
        auto& totals = out.rules[f.rule];
        ++totals.findings_after;
        totals.count_after += f.count;
        totals.bytes_after += f.bytes;
    }
}

}  // namespace

difference compare(baseline before, baseline after) {
    difference out;
    out.before = std::move(before);
    out.after = std::move(after);
    auto const earlier = index(out.before);
    auto const later = index(out.after);
    for (auto const& f : out.after.findings) {
        auto const same = earlier.find(f.fingerprint);
        if (same == earlier.end())
            out.came.push_back(f);
        else if (same->second->count != f.count || same->second->bytes != f.bytes)
            out.changed.push_back({*same->second, f});
        else
            out.unchanged.push_back(f);
    }
    for (auto const& f : out.before.findings)
        if (!later.contains(f.fingerprint)) out.went.push_back(f);
    count(out);
    return out;
}

}  // namespace lastref::gate
