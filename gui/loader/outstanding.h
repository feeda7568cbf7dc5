// What is alive when a process ends, or when a growing trace ends so far, and who holds it.
#pragma once

#include "analyzer/detectors/detector.h"
#include "gui/loader/rows.h"

#include <vector>

namespace lastref::gui {

// Memory, user objects, and the handles that hold something. `rows` must outlive it; sites are left empty, since names
// are looked up once for all (name_sites).
class outstanding_collector : public model::observer {
  public:
    outstanding_collector(detectors::case_file const& file, std::vector<outstanding_row>& rows)
        : file_(file), rows_(rows) {}

    void on_process_end(model::process_state const& process) override;

  private:
    void add(model::process_state const& process, model::object const& object);
    void add_payload(outstanding_row& row, model::process_state const& process, model::object const& object) const;
    holder_row holder_of(model::process_state const& process, ledger::holding const& held) const;

    detectors::case_file const& file_;
    std::vector<outstanding_row>& rows_;
};

// Fills in each row's site, and the finding that tells of it.
void name_sites(std::vector<outstanding_row>& rows, findings::analysis const& what, store::trace const& trace,
                findings::stacks& stacks);

}  // namespace lastref::gui
