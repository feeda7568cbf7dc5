# The running drain is told first: it leaves its batch behind and takes another.
set(FROM [=[    :: flags = flags | STOPPED; /* [stop] */
       stops_drain = true /* [stop.drain] */]=])
set(TO [=[    :: stops_drain = true;
       flags = flags | STOPPED]=])
set(EXPECT "assertion violated \\(\\(item==0\\)\\|\\|\\(abandoned==0\\)\\)")
