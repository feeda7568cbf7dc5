# The drain ends without looking whether items came meanwhile.
set(FROM [=[if (!items_of(seen) || (seen & stopped)) return after_batch::end;]=])
set(TO [=[if (true || !items_of(seen)) return after_batch::end;]=])
set(SUITE stress)
set(TESTS queue_stress_test.few_*:*refused*)
set(EXPECT "nobody comes for them")
