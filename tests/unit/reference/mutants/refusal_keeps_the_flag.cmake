# A refused wake-up counts as outstanding: nobody asks again.
set(FROM [=[state_.fetch_and(~scheduled, std::memory_order_relaxed);  // [refuse]]=])
set(TO [=[]=])
set(TESTS deferred_cleanup_queue_test.a_refused_*)
set(EXPECT "queue.is_scheduled")
