# A producer takes a stopped queue for an idle one.
set(FROM [=[flags = flags | (flags == IDLE -> SCHEDULED : 0);]=])
set(TO [=[flags = flags | (WITHOUT(flags, STOPPED) == IDLE -> SCHEDULED : 0);]=])
set(EXPECT "assertion violated \\( !\\(\\(seen_flags")
