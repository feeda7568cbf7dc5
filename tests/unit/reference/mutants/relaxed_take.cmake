# The consumer takes items without synchronizing with those who enqueued them.
set(FROM [=[std::memory_order_acquire,  // [hand-over], [between drains]
                                               std::memory_order_relaxed));
        batch = items_of(seen);
        return taken;]=])
set(TO [=[std::memory_order_relaxed));
        batch = items_of(seen);
        return taken;]=])
set(SUITE stress)
set(TESTS queue_stress_test.few_*)
set(SANITIZER thread)
set(EXPECT "data race")
