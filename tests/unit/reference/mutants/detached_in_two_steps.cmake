# The list is read in one step and emptied in another: what comes between is lost.
set(FROM [=[        batch = items_of(seen);
        return taken;]=])
set(TO [=[        if (taken) state_.fetch_and(flags), batch = items_of(seen);
        return taken;]=])
set(ALSO_FROM [=[next = taken ? (flags_of(seen) & ~consumed) | draining : seen & ~consumed;]=])
set(ALSO_TO [=[next = taken ? (seen & ~consumed) | draining : seen & ~consumed;]=])
set(SUITE stress)
set(TESTS queue_stress_test.few_*:*refused*)
set(EXPECT "producer [0-9]+: item|leaked of")
