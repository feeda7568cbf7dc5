#include "gui/views/findings_page.h"

#include "gui/views/finding_details.h"
#include "gui/views/rich_text.h"
#include "gui/views/table_view.h"

namespace lastref::gui {
namespace {

std::vector<list_page::grouping> groupings() {
    return {{list_page::tr("rule"), static_cast<int>(finding_column::rule)},
            {list_page::tr("where"), static_cast<int>(finding_column::place)},
            {list_page::tr("state"), static_cast<int>(finding_column::state)},
            {list_page::tr("process"), static_cast<int>(finding_column::process)},
            {list_page::tr("nothing"), std::nullopt}};
}

}  // namespace

findings_page::findings_page(QWidget* parent)
    : list_page(tr("Findings"), tr("nothing found"), groupings(), parent), details_(new finding_details(this)) {
    pass_on(*details_, static_cast<page*>(this));
    add_details(details_);
    group_by(0);
}

QString findings_page::title() const {
    return tr("Findings");
}

void findings_page::row_chosen(std::optional<std::size_t> row) {
    details_->show_finding(trace(), row);
}

}  // namespace lastref::gui
