# The wake-up is taken off in one step and the list in another.
set(FROM [=[        word seen = state_.load(std::memory_order_relaxed);  // [begin.load]]=])
set(TO [=[        state_.fetch_and(~consumed);
        word seen = state_.load(std::memory_order_relaxed);  // [begin.load]]=])
set(SUITE stress)
set(TESTS queue_stress_test.few_*:*refused*)
set(EXPECT "two wake-ups")
