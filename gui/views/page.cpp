#include "gui/views/page.h"

#include "gui/models/filter_offers.h"
#include "gui/models/words.h"

#include <QAbstractItemModel>
#include <QMenu>

namespace lastref::gui {

int page::rows() const {
    auto const* const model = exported();
    return model == nullptr ? 0 : model->rowCount();
}

void page::add_offers(QMenu& menu, facets const& row, loaded_trace const& trace) {
    for (auto const object : objects_in(row))
        menu.addAction(tr("Object %1").arg(handle_text(object)), this,
                       [this, process = qint64{row.process.value}, object] { Q_EMIT object_asked(process, object); });
    if (!menu.isEmpty()) menu.addSeparator();
    for (auto const& each : filters_for(row, trace))
        menu.addAction(tr("Show only %1").arg(each.label), this, [this, each] { Q_EMIT filter_asked(each); });
}

}  // namespace lastref::gui
