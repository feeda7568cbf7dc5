# A drain runs on through a stop.
set(FROM [=[while (item && !stops_drain_.load(std::memory_order_relaxed)) {]=])
set(TO [=[while (item) {]=])
set(TESTS deferred_cleanup_queue_test.stop_in_the_middle*)
set(EXPECT "queue.leaked")
