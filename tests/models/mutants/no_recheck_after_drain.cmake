# The drain ends without looking whether items came meanwhile.
set(FROM [=[:: head == NONE || (flags & STOPPED) -> then = 0;]=])
set(TO [=[:: true -> then = 0;]=])
set(EXPECT "assertion violated last_was_refused")
