# A producer takes a stopped queue for an idle one.
set(FROM [=[if (flags_of(seen) == idle) wake();]=])
set(TO [=[if ((flags_of(seen) & ~stopped) == idle) wake();]=])
set(TESTS deferred_cleanup_queue_test.*stop*)
set(EXPECT "wakes.asked")
