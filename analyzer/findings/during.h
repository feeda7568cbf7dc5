// During which of the program's NVTX ranges the calls of findings were made.
#pragma once

#include "analyzer/findings/finding.h"
#include "analyzer/store/trace.h"

#include <string>
#include <vector>

namespace lastref::findings {

// Fills in the ranges of all sites: those pushed by a call's thread and open then, and those started by any thread of
// its process. Reads the trace's ranges once, whatever their number, and keeps what is written to the sites only.
void find_ranges(std::vector<finding>& found, store::trace const& trace);

inline constexpr std::size_t most_ranges = 32;  // of one site; the innermost stay

// "\"step\" of domain \"trainer\""
std::string range_text(named_range const& range);

// The innermost range of each domain, "\"warm-up\" and \"step\" of domain \"trainer\""; ranges that were only open in
// the process count where the thread had pushed none. Empty outside of all ranges.
std::string during_text(site const& s);

// "at 0.123 s by thread \"loader\" (4712) during \"warm-up\"".
std::string when_text(site const& s);

// The same behind the site's role: what stands before its entry point.
std::string site_head(site const& s);

}  // namespace lastref::findings
