#include "gui/views/page.h"

#include <QAbstractItemModel>

namespace lastref::gui {

int page::rows() const {
    auto const* const model = exported();
    return model == nullptr ? 0 : model->rowCount();
}

}  // namespace lastref::gui
