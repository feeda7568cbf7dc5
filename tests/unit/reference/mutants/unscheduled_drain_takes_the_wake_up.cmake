# A drain that answers no wake-up takes one off all the same.
set(FROM [=[return drain_consuming(0);]=])
set(TO [=[return drain_consuming(scheduled);]=])
set(TESTS deferred_cleanup_queue_test.an_unscheduled*)
set(EXPECT "queue.is_scheduled")
