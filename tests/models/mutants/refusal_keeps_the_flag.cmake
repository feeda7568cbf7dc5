# A refused wake-up counts as outstanding: nobody asks again.
set(FROM [=[    flags = WITHOUT(flags, SCHEDULED) /* [refuse] */]=])
set(TO [=[    skip]=])
set(EXPECT "assertion violated asked")
