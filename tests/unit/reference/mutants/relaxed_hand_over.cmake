# Payload and link may become visible after the item. Needs the thread sanitizer: processors of the x86 kind order stores anyway.
set(FROM [=[std::memory_order_release,                        // [hand-over]]=])
set(TO [=[std::memory_order_relaxed,]=])
set(SUITE stress)
set(TESTS queue_stress_test.few_*)
set(SANITIZER thread)
set(EXPECT "data race")
