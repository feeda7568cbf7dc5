// Waiting for what happens in the background, with the event loop running.
#pragma once

#include <functional>

namespace lastref::test {

// Whether it came true within a minute: a busy machine may take long, and a test that gets there has hung.
bool wait_for(std::function<bool()> const& condition);

void run_events(int milliseconds);

}  // namespace lastref::test
