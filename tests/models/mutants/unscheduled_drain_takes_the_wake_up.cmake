# A drain that answers no wake-up takes one off all the same.
set(FROM [=[    :: drain(0)]=])
set(TO [=[    :: drain(SCHEDULED)]=])
set(EXPECT "assertion violated \\(outstanding==0\\)")
