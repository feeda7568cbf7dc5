# The wake-up is taken off in one step and the list in another.
set(FROM [=[    LOAD /* [begin.load] */]=])
set(TO [=[    flags = WITHOUT(flags, consumed); LOAD /* [begin.load] */]=])
set(EXPECT "assertion violated \\(outstanding==0\\)")
