# The list is cleaned up as it was pushed.
set(FROM [=[            link[batch] = item;
            item = batch;
            batch = following]=])
set(TO [=[            item = (item == NONE -> batch : item);
            batch = following]=])
set(EXPECT "assertion violated \\(last")
