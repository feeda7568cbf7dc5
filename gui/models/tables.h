// The tables of the pages. Each keeps the trace alive that it shows.
#pragma once

#include "analyzer/gate/difference.h"
#include "gui/loader/loaded_trace.h"
#include "gui/loader/replay_rows.h"
#include "gui/models/table.h"

#include <memory>
#include <vector>

namespace lastref::gui {

using table_pointer = std::unique_ptr<table>;

// Columns that others ask for by number.
enum class finding_column { title, rule, place, count, bytes, first_seen, state, process };
enum class outstanding_column { kind, site, bytes, age, holder, handle, created, thread, process, rule };

table_pointer finding_table(trace_pointer const& trace);
table_pointer finding_table(trace_pointer const& trace, std::vector<std::size_t> const& which);  // of its findings
table_pointer outstanding_table(trace_pointer const& trace);
table_pointer loss_table(trace_pointer const& trace);  // every named loss, zero ones too
table_pointer suppression_table(trace_pointer const& trace);
table_pointer process_table(trace_pointer const& trace);
table_pointer replay_table(std::vector<replay_row> rows);

// What came, went and changed between two recordings, a row a finding.
enum class change : std::uint8_t { came, went, grew, shrank, unchanged };
struct difference_row {
    gui::change change = change::unchanged;
    gate::earlier_finding before, after;  // empty where there is none
};
table_pointer difference_table(gate::difference const& difference);

}  // namespace lastref::gui
