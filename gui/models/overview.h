// What is wrong in a trace, in plain words, worst first; each line leads to the page that explains it.
#pragma once

#include "gui/loader/loaded_trace.h"
#include "gui/models/filter.h"

#include <QString>

#include <optional>
#include <vector>

namespace lastref::gui {

enum class page_id {
    overview,
    findings,
    outstanding,
    hazards,
    shutdown,
    deferred,
    memory,
    timeline,
    calls,
    compare,
    losses,
    object
};

struct overview_line {
    std::optional<findings::severity> severity;  // none: good news, or a fact
    QString text;
    QString detail;
    page_id page = page_id::findings;
    std::optional<std::size_t> finding;  // to choose on that page
};

struct overview_fact {
    QString number;  // "1.5 MiB"
    QString text;    // "outstanding"
    page_id page = page_id::overview;
};

struct overview {
    findings::severity worst = findings::severity::note;
    bool clean = false;
    QString headline;  // "2 things are wrong, 4 may be."
    QString below;     // what was recorded, and whether all of it
    std::vector<overview_fact> facts;
    std::vector<overview_line> lines;
};

overview overview_of(loaded_trace const& trace);

}  // namespace lastref::gui
