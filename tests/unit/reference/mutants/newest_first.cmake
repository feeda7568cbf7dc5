# The list is cleaned up as it was pushed.
set(FROM [=[clean_up(oldest_first(newest))]=])
set(TO [=[clean_up(newest)]=])
set(TESTS deferred_cleanup_queue_test.asks_once*)
set(EXPECT "cleaned")
