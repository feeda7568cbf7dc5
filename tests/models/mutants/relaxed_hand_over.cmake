# Payload and link may become visible after the item.
set(FROM [=[#ifndef PRODUCERS]=])
set(TO [=[#define RELAXED
#ifndef PRODUCERS]=])
set(EXPECT "assertion violated visible")
