#include "analyzer/findings/finding.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace lastref::findings {

namespace {

void merge(finding& into, finding const& same) {
    into.count += same.count;
    into.bytes += same.bytes;
    into.processes += into.process != same.process ? 1 : 0;
    into.first_seen = std::min(into.first_seen, same.first_seen);
    into.last_seen = std::max(into.last_seen, same.last_seen);
    into.severity = std::max(into.severity, same.severity);
    for (auto const& each : same.objects)
        if (into.objects.size() < most_objects) into.objects.push_back(each);
}

}  // namespace

std::size_t collection::add(finding made) {
    auto const [known, fresh] = by_fingerprint_.try_emplace(made.fingerprint, findings_.size());
    if (!fresh) {
        merge(findings_[known->second], made);
        return known->second;
    }
    findings_.push_back(std::move(made));
    return findings_.size() - 1;
}

std::vector<finding> collection::take() {
    auto const rank = [](finding const& f) {
        return std::tuple(-static_cast<int>(f.severity), -static_cast<int>(f.confidence), ~f.bytes, f.first_seen,
                          std::string_view(f.fingerprint));
    };
    std::stable_sort(findings_.begin(), findings_.end(),
                     [&rank](finding const& a, finding const& b) { return rank(a) < rank(b); });
    explained_.clear();
    by_fingerprint_.clear();
    return std::exchange(findings_, {});
}

}  // namespace lastref::findings
