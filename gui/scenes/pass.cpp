#include "gui/scenes/pass.h"

namespace lastref::gui::scenes {

pass::pass(store::trace const& trace) : world_(trace), links_(trace) {
    world_.add(order_);
    world_.add(links_);
    world_.add(accountant_);
}

void pass::run(watch const& tell) {
    world_.run([&tell](double share) {
        if (tell && !tell(share)) throw cancelled();
    });
}

}  // namespace lastref::gui::scenes
