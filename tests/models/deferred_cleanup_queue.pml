/* The algorithm of analyzer/reference/include/lastref/reference/deferred_cleanup_queue.h, checked in every interleaving.
 *
 * A step of the header that touches shared state carries the same [name] here; a test compares the two sets of names. One step
 * is one atomic access of the state word; what lies between two of them is a thread's own.
 *
 * Environment: PRODUCERS threads enqueue ITEMS items each; one thread gets the wake-ups and may decline them; one drains without a
 * wake-up, one retries, one stops the queue, each once at any moment or never (a run leaves out some of these three, CMakeLists.txt
 * says which); the waker refuses at will.
 *
 * Checked
 *   A1  an item is cleaned up at most once               A5  no clean-up of two drains at a time
 *   A2  items of a producer in its order                 A6  before a stop, whoever leaves items behind has been refused
 *   A3  payload and link are visible to the clean-up     A7  then one retry that is not refused brings every item out
 *   A4  at most one wake-up asked for or outstanding     A8  after a stop, every item was cleaned up or is counted as leaked
 *   A9  an enqueue that finds the queue stopped does not schedule
 *   and, by spin itself: nobody waits for ever.
 *
 * Memory orders. Spin knows only sequential consistency. What matters of weaker orders here is that the stores before a relaxed
 * swap may become visible after it; so under -DRELAXED (a mutant) they are a step of their own after the swap, and A3 looks. That
 * the compiler's and processor's orders do what the header says is checked on the code, by the thread sanitizer.
 *
 * Size. A loop of load and compare-and-swap changes something only in the attempt that succeeds, and that one found the word as it
 * had loaded it: so the whole loop is one step, and that is how the largest configurations run. Under -DSTEPWISE each load and
 * each failed attempt is a step of its own; smaller configurations check that this makes no difference.
 * Items are not recycled here. In the header they may be, which is harmless: a producer only compares the word with what it
 * stored as its item's link, and equal words mean equal lists.
 */

#ifndef PRODUCERS
#define PRODUCERS 3
#endif
#ifndef ITEMS
#define ITEMS 2
#endif
#ifndef ROUNDS
#define ROUNDS 2 /* rounds_per_drain */
#endif
#ifndef REFUSES
#define REFUSES true
#endif
#ifndef STOPS
#define STOPS true
#endif
#ifndef DRAINER
#define DRAINER true /* a thread that drains without a wake-up */
#endif
#ifndef RETRIER
#define RETRIER true /* a thread that retries at any moment */
#endif

#define TOTAL (PRODUCERS * ITEMS)
#define NONE 0 /* items are 1 … TOTAL */

#define IDLE 0
#define SCHEDULED 1
#define DRAINING 2
#define STOPPED 4
#define WITHOUT(set, flag) ((set) & (7 - (flag)))

/* The state word: read and written in one step, always both. */
byte head = NONE;
byte flags = IDLE;

byte link[TOTAL + 1]; /* cleanup_item::next_ */
bool visible[TOTAL + 1];
bool cleaned[TOTAL + 1];
byte last[PRODUCERS]; /* the number, from 1, of the item cleaned up last */

byte outstanding = 0; /* wake-ups accepted and not yet delivered */
bool last_was_refused = false;
bool cleaning = false;
bool stops_drain = false;
bool reliable = false; /* the waker does not refuse any more */
byte abandoned = 0;

byte running; /* threads other than the consumer that have not ended */
bool consumer_rests = true;
bool judged = false;
byte started; /* producers whose first item is in */

#define same_word (head == seen_head && flags == seen_flags)

inline load_word() {
    seen_head = head;
    seen_flags = flags
}

#ifdef STEPWISE
#define LOAD d_step { load_word(); swapped = false };
#define SWAP do :: !swapped -> d_step { if :: !same_word -> load_word() :: else ->
#define END_SWAP ; swapped = true fi } :: else -> break od
#else
#define LOAD skip;
#define SWAP d_step { load_word(); 
#define END_SWAP }
#endif

/* --- wake ---------------------------------------------------------------------------------------------------------------- */

inline refuse() {
    flags = WITHOUT(flags, SCHEDULED) /* [refuse] */
}

inline wake() {
    atomic { /* [wake] */
        assert(outstanding == 0); /* A4 */
        if
        :: outstanding++; accepted = true; last_was_refused = false
        :: REFUSES && !reliable -> accepted = false; last_was_refused = true
        fi
    };
    if
    :: !accepted -> refuse()
    :: accepted
    fi
}

/* --- drain --------------------------------------------------------------------------------------------------------------- */

inline begin_drain(consumed) {
    LOAD /* [begin.load] */
    SWAP /* [begin.swap] */
        taken = (flags & (DRAINING | STOPPED)) == 0;
        batch = head;
        if
        :: taken -> flags = WITHOUT(flags, consumed) | DRAINING; head = NONE
        :: !taken -> flags = WITHOUT(flags, consumed)
        fi
    END_SWAP
}

inline finish_batch() {
    LOAD /* [finish.load] */
    SWAP /* [finish.swap] */
        if
        :: head == NONE || (flags & STOPPED) -> then = 0; flags = WITHOUT(flags, DRAINING) /* the re-check: nothing came */
        :: else ->
            if
            :: rounds_left > 0 -> then = 1; batch = head; head = NONE
            :: rounds_left == 0 && (flags & SCHEDULED) -> then = 0; flags = WITHOUT(flags, DRAINING)
            :: else -> then = 2; flags = WITHOUT(flags, DRAINING) | SCHEDULED
            fi
        fi
    END_SWAP
}

/* The batch is the consumer's own. */
inline oldest_first() {
    d_step {
        assert(!cleaning); /* A5 */
        cleaning = true;
        item = NONE;
        do
        :: batch != NONE ->
            assert(visible[batch]); /* A3 */
            following = link[batch];
            link[batch] = item;
            item = batch;
            batch = following
        :: else -> break
        od;
        following = NONE
    }
}

/* Check and clean-up in one step: the clean-up's effect is seen by nobody before the end. */
inline clean_up_batch() {
    oldest_first();
    do
    :: d_step { item != NONE && !stops_drain -> /* [clean.check] */
            assert(!cleaned[item]); /* A1 */ /* [clean.run] */
            cleaned[item] = true;
            assert(last[(item - 1) / ITEMS] == (item - 1) % ITEMS); /* A2 */
            last[(item - 1) / ITEMS]++;
            item = link[item]
       }
    :: item == NONE || stops_drain -> break
    od;
    abandon()
}

inline abandon() {
    d_step {
        assert(item == NONE || abandoned == 0); /* only one drain is interrupted */
        do
        :: item != NONE -> abandoned++; item = link[item]
        :: else -> break
        od;
        cleaning = false
    }
}

inline drain(consumed) {
    begin_drain(consumed);
    if
    :: taken ->
        rounds_left = ROUNDS - 1;
        do
        :: clean_up_batch();
           finish_batch();
           if
           :: then == 1 -> rounds_left--
           :: else -> break
           fi
        od;
        if
        :: then == 2 -> wake()
        :: else
        fi
    :: else
    fi;
    d_step { batch = NONE; rounds_left = 0; then = 0; taken = false; swapped = false; seen_head = NONE; seen_flags = 0; accepted = false }
}

/* --- retry --------------------------------------------------------------------------------------------------------------- */

inline retry() {
    LOAD /* [retry.load] */
    SWAP /* [retry.swap] */
        asked = head != NONE && flags == IDLE;
        flags = (asked -> SCHEDULED : flags)
    END_SWAP;
    if
    :: asked -> wake(); asked = accepted
    :: !asked
    fi
}

/* --- threads ------------------------------------------------------------------------------------------------------------- */

#define word_variables byte seen_head, seen_flags; bool swapped, accepted
#define drain_variables bool taken; byte batch, item, following, rounds_left, then

/* Producers are alike, so their first items may be taken to come in the order of their numbers: every other run is one of these
 * with the names exchanged. */
#ifdef STEPWISE
#define in_turn skip
#else
#define in_turn (started >= number)
#endif

inline write_payload_and_link() {
    link[mine] = seen_head; /* [enqueue.link] */
    visible[mine] = true
}

proctype producer(byte number) {
    word_variables;
    byte mine = number * ITEMS + 1;
    do
    :: mine <= (number + 1) * ITEMS ->
        in_turn;
        LOAD /* [enqueue.load] */
        SWAP /* [enqueue.swap] */
#ifndef RELAXED
            write_payload_and_link();
#endif
            head = mine;
            started = started + (mine == number * ITEMS + 1 -> 1 : 0);
            flags = flags | (flags == IDLE -> SCHEDULED : 0);
            assert(!(seen_flags & STOPPED) || flags == seen_flags) /* A9 */
        END_SWAP;
#ifdef RELAXED
        d_step { write_payload_and_link() };
#endif
        if
        :: seen_flags == IDLE -> wake()
        :: else
        fi;
        d_step { mine++; seen_head = NONE; seen_flags = 0; accepted = false }
    :: else -> break
    od;
    running--
}

proctype consumer() {
    word_variables;
    drain_variables;
    do
    :: atomic { outstanding > 0 -> outstanding--; consumer_rests = false };
        if
        :: drain(SCHEDULED)
        :: REFUSES && !reliable -> last_was_refused = true; refuse() /* decline() */
        fi;
        consumer_rests = true
    :: judged -> break
    od
}

proctype drainer() {
    word_variables;
    drain_variables;
    if
    :: drain(0)
    :: true
    fi;
    running--
}

proctype retrier() {
    word_variables;
    bool asked;
    if
    :: retry()
    :: true
    fi;
    running--
}

proctype stopper() {
    if
    :: flags = flags | STOPPED; /* [stop] */
       stops_drain = true /* [stop.drain] */
    :: true
    fi;
    running--
}

#define quiet (running == 0 && outstanding == 0 && consumer_rests)

init {
    word_variables;
    bool asked;
    byte number, count;
    atomic {
        number = 0;
        do
        :: number < PRODUCERS -> running++; run producer(number); number++
        :: else -> break
        od;
        run consumer();
        if
        :: DRAINER -> running++; run drainer()
        :: else
        fi;
        if
        :: RETRIER -> running++; run retrier()
        :: else
        fi;
        if
        :: STOPS -> running++; run stopper()
        :: else
        fi
    };
    quiet;
    if
    :: flags & STOPPED
    :: !(flags & STOPPED) && head == NONE
    :: !(flags & STOPPED) && head != NONE ->
        assert(last_was_refused); /* A6 */
        reliable = true;
        retry();
        assert(asked); /* A7 */
        do
        :: quiet && head == NONE -> break
        :: quiet && head != NONE -> assert(false) /* A7 */
        od
    fi;
    skip;
    d_step { /* A8 */
        assert(WITHOUT(flags, STOPPED) == IDLE);
        count = abandoned;
        number = head;
        do
        :: number != NONE -> count++; number = link[number]
        :: else -> break
        od;
        number = 1;
        do
        :: number <= TOTAL -> count = count + cleaned[number]; number++
        :: else -> break
        od;
        assert(count == TOTAL)
    };
    judged = true
}
