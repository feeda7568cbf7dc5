# A drain does not care that another one runs.
set(FROM [=[taken = (flags & (DRAINING | STOPPED)) == 0;]=])
set(TO [=[taken = (flags & STOPPED) == 0;]=])
set(EXPECT "assertion violated  !\\(cleaning\\)")
