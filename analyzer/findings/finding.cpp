#include "analyzer/findings/finding.h"

#include <algorithm>
#include <tuple>

namespace lastref::findings {

std::size_t collection::add(finding made) {
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
    return std::exchange(findings_, {});
}

}  // namespace lastref::findings
