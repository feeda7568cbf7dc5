#include "tests/gui/waiting.h"

#include <QCoreApplication>
#include <QElapsedTimer>

namespace lastref::test {

bool wait_for(std::function<bool()> const& condition) {
    QElapsedTimer timer;
    timer.start();
    while (!condition()) {
        if (timer.elapsed() > 60'000) return false;
        QCoreApplication::processEvents(QEventLoop::AllEvents, 10);
    }
    return true;
}

void run_events(int milliseconds) {
    QElapsedTimer timer;
    timer.start();
    while (timer.elapsed() < milliseconds) QCoreApplication::processEvents(QEventLoop::AllEvents, 10);
}

}  // namespace lastref::test
