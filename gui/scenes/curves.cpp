#include "gui/scenes/curves.h"

namespace lastref::gui::scenes {

std::shared_ptr<curves const> build_curves(store::trace const& trace, watch const& tell) {
    pass through(trace);
    curves_builder builder(trace, through.links());
    through.add(builder);
    through.run(tell);
    return builder.take();
}

}  // namespace lastref::gui::scenes
