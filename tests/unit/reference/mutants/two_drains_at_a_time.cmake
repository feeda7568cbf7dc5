# A drain does not care that another one runs.
set(FROM [=[taken = !(seen & (draining | stopped));]=])
set(TO [=[taken = !(seen & stopped);]=])
set(TESTS deferred_cleanup_queue_test.a_drain_inside*)
set(EXPECT "drain_unscheduled")
