-- The trace: one SQLite file that holds everything lastref recorded of a program and its children.
--
-- Stable for users: the views (views.sql) and the columns documented here. docs/trace-format.md is the long version.
-- Versions: `PRAGMA user_version` is the schema's version. A reader refuses newer ones and migrates nothing in place.
-- All times are nanoseconds since `meta.start_monotonic_ns`; all handles are the driver's 64-bit values as signed integers.

CREATE TABLE meta (              -- facts about the trace as a whole, one a row
    key TEXT PRIMARY KEY,        -- start_monotonic_ns, start_wall_clock_ns, lastref_version, host, table_hash (which table
                                 -- of entry points `api` was made from), state: 'recording', 'complete', 'unfinished' (processes
                                 -- ran on, or the recorder was killed; `lastref import` goes on), spool_folder until complete
    value ANY
) STRICT, WITHOUT ROWID;

CREATE TABLE process (
    id INTEGER PRIMARY KEY,
    pid INTEGER NOT NULL,
    parent_pid INTEGER NOT NULL,
    start_ticks INTEGER NOT NULL,       -- field 22 of /proc/PID/stat: tells recycled pids apart
    executable TEXT,
    command_line TEXT,                  -- arguments, each quoted for a shell where it needs to be
    working_directory TEXT,
    driver_path TEXT,
    driver_version INTEGER,             -- as cuDriverGetVersion gives it: 13000 for 13.0
    stacks TEXT NOT NULL,               -- 'off', 'create', 'all'
    first_time INTEGER NOT NULL,        -- when the collector started in it
    last_time INTEGER,                  -- last sign of life
    end TEXT NOT NULL,                  -- 'running', 'clean' (exit handlers ran to the end), 'abrupt' (killed, crashed, _exit),
                                        -- 'exec' (replaced by another program)
    exit_status INTEGER,                -- exit code where the recorder saw it
    exit_signal INTEGER,                -- signal that ended it, where the recorder saw it
    spool TEXT                          -- path of the spool while part of it is not yet in this trace, else NULL
) STRICT;

CREATE TABLE thread (
    id INTEGER PRIMARY KEY,
    process INTEGER NOT NULL REFERENCES process (id),
    tid INTEGER NOT NULL,
    name TEXT,
    main INTEGER NOT NULL               -- 1 for the process's first thread
) STRICT;

CREATE TABLE context (                  -- contexts by life, not by handle: a handle made again is another row
    id INTEGER PRIMARY KEY,
    process INTEGER NOT NULL REFERENCES process (id),
    handle INTEGER NOT NULL,
    device INTEGER,                     -- ordinal, NULL where unknown
    kind TEXT NOT NULL                  -- 'created', 'primary', 'green', 'unknown'
) STRICT;

CREATE TABLE kind (                     -- kinds of event, from schema/event_kind.def
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    object TEXT NOT NULL,               -- what `event.object` names
    verb TEXT NOT NULL                  -- create, destroy, retain, release, use, set, wait, query, begin, end, run
) STRICT;

CREATE TABLE api (                      -- hooked entry points, from collector/preload/hooks/driver_api.def
    id INTEGER PRIMARY KEY,
    symbol TEXT NOT NULL UNIQUE,        -- as the driver exports it: cuMemFreeAsync_ptsz
    name TEXT NOT NULL,                 -- without ABI suffixes: cuMemFreeAsync
    default_stream TEXT NOT NULL,       -- what stream 0 means there: 'legacy', 'per_thread', or 'none' where there is no stream
    kind INTEGER NOT NULL REFERENCES kind (id),
    object TEXT, other TEXT, size TEXT, extra TEXT  -- what the event's columns of these names hold for this entry point
) STRICT;

CREATE TABLE module (                   -- loaded objects that stacks point into
    id INTEGER PRIMARY KEY,
    process INTEGER NOT NULL REFERENCES process (id),
    path TEXT NOT NULL,
    build_id TEXT,                      -- hexadecimal
    load_bias INTEGER NOT NULL,
    first_address INTEGER NOT NULL,     -- mapped range [first_address, end_address)
    end_address INTEGER NOT NULL
) STRICT;

CREATE TABLE frame (                    -- distinct program counters
    id INTEGER PRIMARY KEY,
    process INTEGER NOT NULL REFERENCES process (id),
    address INTEGER NOT NULL,           -- return address: the call is the instruction before it; negative: a frame of Python
    module INTEGER REFERENCES module (id)
) STRICT;

CREATE TABLE python_frame (             -- lines of Python that stacks stand in; `frame.address` leads here where it is negative
    process INTEGER NOT NULL REFERENCES process (id),
    address INTEGER NOT NULL,           -- a number in place of an address
    function TEXT NOT NULL,             -- qualified, as of Python 3.11
    file TEXT NOT NULL,
    line INTEGER,                       -- NULL: not known
    PRIMARY KEY (process, address)
) STRICT, WITHOUT ROWID;

CREATE TABLE symbol_file (              -- files whose symbols are kept, by `lastref symbolize` and `record --symbols=now`
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL,                 -- as in `module`
    build_id TEXT NOT NULL,             -- as in `module`; empty where it has none
    UNIQUE (path, build_id)
) STRICT;

CREATE TABLE symbol (                   -- what code in them is called; of all code that frames and callbacks are in
    file INTEGER NOT NULL REFERENCES symbol_file (id),
    offset INTEGER NOT NULL,            -- in the file's own addresses: of a frame one byte before its return address, of a callback
                                        -- its first
    position INTEGER NOT NULL,          -- 0 is innermost; where functions were inlined, an offset has several
    function TEXT,                      -- demangled
    source TEXT,                        -- its file
    line INTEGER,
    inlined INTEGER NOT NULL,           -- 1: into the next one
    PRIMARY KEY (file, offset, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE stack (
    id INTEGER PRIMARY KEY,
    process INTEGER NOT NULL REFERENCES process (id),
    cut INTEGER NOT NULL                -- 1 where it was deeper than the limit
) STRICT;

CREATE TABLE stack_frame (
    stack INTEGER NOT NULL REFERENCES stack (id),
    depth INTEGER NOT NULL,             -- 0 is the caller of the driver
    frame INTEGER NOT NULL REFERENCES frame (id),
    PRIMARY KEY (stack, depth)
) STRICT, WITHOUT ROWID;

-- One row a call of the driver, or a callback of the driver into the program. Rows are in order of time by `id`: what
-- releases (verbs destroy, release, run) sorts by the begin of its call, everything else by its end.
CREATE TABLE event (
    id INTEGER PRIMARY KEY,
    begin INTEGER NOT NULL,             -- when the call began
    duration INTEGER,                   -- NULL: it had not returned when recording ended
    thread INTEGER NOT NULL REFERENCES thread (id),
    api INTEGER NOT NULL REFERENCES api (id),
    result INTEGER,                     -- CUresult; NULL: it had not returned
    context INTEGER REFERENCES context (id),  -- current on the thread; NULL: none
    stream INTEGER NOT NULL,            -- token as given: 0, 1 legacy, 2 per thread, or a created stream's handle
    object INTEGER NOT NULL,
    other INTEGER NOT NULL,
    size INTEGER NOT NULL,
    extra INTEGER NOT NULL,
    stack INTEGER REFERENCES stack (id),
    flags INTEGER NOT NULL              -- 1 in a callback, 2 nested, 8 after exit began, 16 after driver teardown, 64 no duration taken
) STRICT;

CREATE TABLE phase (                    -- steps of a process's life
    process INTEGER NOT NULL REFERENCES process (id),
    at INTEGER NOT NULL,
    what TEXT NOT NULL,                 -- driver_found, driver_initialized, exit_begin, driver_torn_down, end, exec,
                                        -- python_initialized, python_finalizing, python_finalized
    thread INTEGER REFERENCES thread (id),
    event INTEGER NOT NULL              -- greatest event id written before it
) STRICT;

CREATE TABLE range (                    -- named parts of a process's run, such as tests; they may overlap
    id INTEGER PRIMARY KEY,
    process INTEGER NOT NULL REFERENCES process (id),
    number INTEGER NOT NULL,            -- of the range in its process
    name TEXT NOT NULL,
    begin INTEGER NOT NULL,
    begin_event INTEGER NOT NULL,       -- greatest event id written before it began
    end INTEGER,                        -- NULL: it had not ended when recording ended
    end_event INTEGER,                  -- greatest event id written before it ended
    thread INTEGER REFERENCES thread (id),            -- that began it
    begin_context INTEGER REFERENCES context (id),    -- current on that thread; NULL: none
    end_thread INTEGER REFERENCES thread (id),        -- that ended it
    end_context INTEGER REFERENCES context (id),
    UNIQUE (process, number)
) STRICT;

CREATE TABLE cupti_call (               -- `record --audit`: driver calls as CUPTI counted them; empty without
    process INTEGER NOT NULL REFERENCES process (id),
    symbol TEXT NOT NULL,               -- with ABI suffixes, as in `api`
    calls INTEGER NOT NULL,
    failed INTEGER NOT NULL,            -- with another result than CUDA_SUCCESS and CUDA_ERROR_NOT_READY
    PRIMARY KEY (process, symbol)
) STRICT, WITHOUT ROWID;

CREATE TABLE cupti_stray (              -- who called the driver past the hooks, by CUPTI; the first 64 calls of each entry point
    process INTEGER NOT NULL REFERENCES process (id),
    symbol TEXT NOT NULL,
    module TEXT NOT NULL,               -- path
    calls INTEGER NOT NULL,
    PRIMARY KEY (process, symbol, module)
) STRICT, WITHOUT ROWID;

CREATE TABLE gpu_activity (             -- `record --cupti`: what the device did, as CUPTI tells it; empty without
    id INTEGER PRIMARY KEY,
    process INTEGER NOT NULL REFERENCES process (id),
    kind TEXT NOT NULL,                 -- call, kernel, copy, set, graph_launch, synchronization, memory_alloc, memory_free,
                                        -- pool_create, pool_destroy, pool_trim, runtime_call
    symbol TEXT,                        -- of a call
    begin INTEGER NOT NULL,
    end INTEGER,                        -- NULL: an instant
    correlation INTEGER NOT NULL,       -- of the row of kind `call` or `runtime_call` that asked for it
    tid INTEGER NOT NULL,               -- of a call, else 0
    device INTEGER NOT NULL,
    context INTEGER NOT NULL,           -- CUPTI's numbers, not handles
    stream INTEGER NOT NULL,            --
    detail INTEGER NOT NULL,            -- copy: CUpti_ActivityMemcpyKind, synchronization: its type, memory: CUpti_ActivityMemoryKind
    object INTEGER NOT NULL,            -- memory: address; pool: its address; graph_launch: CUPTI's number of the graph
    bytes INTEGER NOT NULL,             -- memory, copy, set: size; pool: its size
    extra INTEGER NOT NULL              -- memory: address of its pool, 0 without; pool: bytes in use; call: CUresult
) STRICT;

CREATE TABLE nvtx_range (               -- ranges that the program marked through NVTX
    id INTEGER PRIMARY KEY,
    process INTEGER NOT NULL REFERENCES process (id),
    thread INTEGER NOT NULL REFERENCES thread (id),   -- that began it
    kind TEXT NOT NULL,                 -- 'push': those of a thread and domain nest; 'start': it ends on any thread
    number INTEGER,                     -- of a 'start' range, as the program has it
    domain TEXT,                        -- NULL: the default one
    category TEXT,                      -- its name, or its number where it has none; NULL: no category
    message TEXT,
    payload ANY,
    begin INTEGER NOT NULL,
    begin_event INTEGER NOT NULL,       -- greatest event id written before it began
    begin_context INTEGER REFERENCES context (id),    -- current on the thread; NULL: none
    end INTEGER,                        -- NULL: it had not ended when recording ended
    end_event INTEGER,
    end_thread INTEGER REFERENCES thread (id),
    end_context INTEGER REFERENCES context (id)
) STRICT;
CREATE INDEX nvtx_open ON nvtx_range (process) WHERE end IS NULL;

CREATE TABLE nvtx_mark (                -- instants that the program marked through NVTX
    process INTEGER NOT NULL REFERENCES process (id),
    thread INTEGER NOT NULL REFERENCES thread (id),
    at INTEGER NOT NULL,
    event INTEGER NOT NULL,             -- greatest event id written before it
    domain TEXT,
    category TEXT,
    message TEXT,
    payload ANY
) STRICT;

CREATE TABLE nvtx_name (                -- names that the program gave through NVTX
    process INTEGER NOT NULL REFERENCES process (id),
    resource TEXT NOT NULL,             -- 'thread', 'context', 'stream', 'event', 'device', 'other'
    handle INTEGER NOT NULL,            -- of a thread its tid, of a device its ordinal
    name TEXT NOT NULL,
    at INTEGER NOT NULL,
    event INTEGER NOT NULL              -- greatest event id written before it: handles are handed out again
) STRICT;

CREATE TABLE environment (              -- CUDA_* and LASTREF_* only; no other variable is ever read into a trace
    process INTEGER NOT NULL REFERENCES process (id),
    name TEXT NOT NULL,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE loss (                     -- every named loss that is not zero, see schema/loss.def
    process INTEGER REFERENCES process (id),
    name TEXT NOT NULL,
    text TEXT NOT NULL,
    count INTEGER NOT NULL
) STRICT;

CREATE TABLE unhooked (                 -- entry points that the program obtained and the table of hooks lacks
    process INTEGER NOT NULL REFERENCES process (id),
    name TEXT NOT NULL,
    obtained INTEGER NOT NULL
) STRICT;

CREATE TABLE note (                     -- sentences for people: settings that were not understood, and the like
    process INTEGER REFERENCES process (id),
    text TEXT NOT NULL
) STRICT;

-- How far each spool has been read, written in the same transaction as the rows: what makes a second drain go on exactly
-- where a killed one stopped. Empty in a finished trace.
CREATE TABLE spool_progress (
    process INTEGER NOT NULL REFERENCES process (id),
    thread_serial INTEGER NOT NULL,     -- thread_slot::serial
    thread INTEGER NOT NULL REFERENCES thread (id),
    segment_serial INTEGER NOT NULL,    -- everything before this segment and slot is written …
    slot INTEGER NOT NULL,
    read_segment_serial INTEGER NOT NULL, -- … and of what lies up to here, all records sorted before `watermark`
    read_slot INTEGER NOT NULL,
    watermark INTEGER NOT NULL,         -- clock ticks
    PRIMARY KEY (process, thread_serial)
) STRICT, WITHOUT ROWID;
