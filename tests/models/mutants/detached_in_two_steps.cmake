# The list is read in one step and emptied in another: what comes between is lost.
set(FROM [=[        :: taken -> flags = WITHOUT(flags, consumed) | DRAINING; head = NONE
        :: !taken -> flags = WITHOUT(flags, consumed)
        fi
    END_SWAP]=])
set(TO [=[        :: taken -> flags = WITHOUT(flags, consumed) | DRAINING
        :: !taken -> flags = WITHOUT(flags, consumed)
        fi
    END_SWAP;
    if
    :: taken -> head = NONE
    :: !taken
    fi]=])
set(EXPECT "assertion violated (\\(count|\\(last)")
