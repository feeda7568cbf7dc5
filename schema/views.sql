-- Views: the questions that people ask of a trace, for `sqlite3` alone. Stable, except those whose names begin with an
-- underscore, which are steps on the way to others.
--
-- Times are microseconds since the recording's start. Handles, addresses and function pointers are hexadecimal text. `event` is
-- the row of table `event` that says more; its `stack` leads through `stack_frame` and `frame` to `module`.
--
-- Handles and addresses are handed out again. So nothing here joins by handle alone: what a handle means at an event is found
-- by a window over all events of that handle in order of time.

-- Every call and callback with its names.
CREATE VIEW calls AS
SELECT event.id AS event, process.pid, thread.tid, thread.name AS thread, event.begin / 1000.0 AS begin_us,
       event.duration / 1000.0 AS duration_us, api.name AS call, api.symbol, kind.name AS kind, kind.verb, event.result,
       iif(context.handle IS NULL, NULL, printf('0x%x', context.handle)) AS context,
       CASE WHEN api.default_stream = 'none' AND event.stream = 0 THEN NULL
            WHEN event.stream = 0 THEN api.default_stream || ' (0)'
            WHEN event.stream = 1 THEN 'legacy' WHEN event.stream = 2 THEN 'per_thread'
            ELSE printf('0x%x', event.stream) END AS stream,
       printf('0x%x', event.object) AS object, printf('0x%x', event.other) AS other, event.size,
       printf('0x%x', event.extra) AS extra, event.stack,
       event.flags & 1 <> 0 AS in_callback, event.flags & 8 <> 0 AS after_exit, event.flags & 16 <> 0 AS after_teardown
FROM event JOIN thread ON thread.id = event.thread JOIN process ON process.id = thread.process
     JOIN api ON api.id = event.api JOIN kind ON kind.id = api.kind LEFT JOIN context ON context.id = event.context;

-- Events with what all the views below need, in numbers.
CREATE VIEW _event AS
SELECT event.*, thread.process, api.kind AS kind_id, kind.name AS kind, kind.object AS class, kind.verb, api.default_stream
FROM event JOIN thread ON thread.id = event.thread JOIN api ON api.id = event.api JOIN kind ON kind.id = api.kind;

-- What happened to each payload: successful calls on user objects and their destructors, by the life of the object (the event
-- that made it). `to_caller` is what the call changes in the references that the program itself holds.
CREATE VIEW _payload_event AS
WITH named AS MATERIALIZED (
    SELECT id, process, kind, verb, object AS handle, other, size, extra FROM _event
    WHERE class = 'user_object' AND (result = 0 OR verb = 'run'))
SELECT id, process, kind, handle, other, size, extra,
       max(CASE WHEN verb = 'create' THEN id END) OVER (PARTITION BY process, handle ORDER BY id) AS life,
       CASE kind WHEN 'user_object_create' THEN size WHEN 'user_object_retain' THEN size WHEN 'user_object_release' THEN -size
                 WHEN 'graph_retain_user_object' THEN CASE WHEN extra & 1 THEN -size ELSE 0 END -- MOVE takes the caller's
                 ELSE 0 END AS to_caller
FROM named;

-- Payloads whose destructor has not run.
CREATE VIEW _waiting_payload AS
SELECT life, process, max(CASE WHEN id = life THEN other END) AS payload, max(CASE WHEN id = life THEN handle END) AS handle,
       max(CASE WHEN id = life THEN extra END) AS destructor, sum(to_caller) AS held_by_caller
FROM _payload_event WHERE life IS NOT NULL
GROUP BY life HAVING sum(kind = 'callback_user_object') = 0;

-- Which graph a graph's handle means wherever one is named: `born` is the event that made the graph (for a graph inside another,
-- the one in which its handle was obtained), NULL where it was made before recording or is destroyed.
CREATE VIEW _graph_mention AS
WITH mention (id, process, handle, role) AS MATERIALIZED (
    SELECT id, process, object, CASE WHEN kind = 'capture_end' THEN 'captured' WHEN kind = 'graph_destroy' THEN 'destroyed'
                                     ELSE 'made' END
    FROM _event WHERE result = 0 AND object <> 0
      AND kind IN ('graph_create', 'graph_clone', 'capture_end', 'graph_destroy', 'graph_body', 'graph_child_get')
    UNION ALL
    SELECT id, process, other, 'named' FROM _event WHERE result = 0
      AND kind IN ('graph_retain_user_object', 'graph_release_user_object', 'graph_clone', 'graph_instantiate', 'graph_exec_update',
                   'graph_add_child', 'graph_body')
    UNION ALL
    SELECT id, process, extra, 'child' FROM _event WHERE result = 0 AND kind IN ('graph_add_child', 'graph_exec_child_set')),
-- A capture into a graph that exists does not make it anew.
born_again AS (
    SELECT *, lag(role) OVER (PARTITION BY process, handle ORDER BY id, role = 'named') AS before FROM mention
    WHERE role <> 'child'),
birth AS MATERIALIZED (
    SELECT id, process, handle FROM born_again
    WHERE role = 'made' OR role = 'captured' AND (before IS NULL OR before = 'destroyed')),
latest AS (
    SELECT mention.*, birth.id AS birth FROM mention LEFT JOIN birth
        ON birth.id = mention.id AND birth.process = mention.process AND birth.handle = mention.handle AND role IN ('made', 'captured')),
window_ AS (
    SELECT *, max(birth) OVER span AS last_birth,
           max(CASE WHEN role = 'destroyed' THEN id END) OVER (span ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS destroyed
    FROM latest WINDOW span AS (PARTITION BY process, handle ORDER BY id, role IN ('named', 'child')))
SELECT id, process, handle, role, CASE WHEN destroyed IS NULL OR destroyed < last_birth THEN last_birth END AS born FROM window_;

-- What holds references: graphs from birth to destruction, and executable graphs from instantiation or update (which replaces all
-- that was held) to the next update or destruction. `inside` is the graph that an inner graph belongs to.
CREATE VIEW _holder AS
SELECT graph.id AS born, graph.process, 'graph' AS kind, graph.handle, min(gone.id) AS died
FROM _graph_mention AS graph LEFT JOIN _graph_mention AS gone ON gone.born = graph.born AND gone.role = 'destroyed'
WHERE graph.born = graph.id AND graph.role IN ('made', 'captured')
GROUP BY graph.id
UNION ALL
SELECT id, process, 'executable graph', handle, next FROM (
    SELECT id, process, object AS handle, kind, lead(id) OVER (PARTITION BY process, object ORDER BY id) AS next FROM _event
    WHERE result = 0 AND kind IN ('graph_instantiate', 'graph_exec_update', 'graph_exec_destroy'))
WHERE kind <> 'graph_exec_destroy';

-- Inner graphs (of child nodes and of conditional nodes) hold for the outermost graph that they are in.
CREATE VIEW _inner_graph AS
WITH RECURSIVE directly AS MATERIALIZED (
SELECT body.id AS born, outer_graph.born AS inside
FROM _event AS body JOIN _graph_mention AS outer_graph ON outer_graph.id = body.id AND outer_graph.role = 'named'
WHERE body.kind = 'graph_body' AND body.result = 0
UNION ALL
SELECT got.id, outer_graph.born FROM (
    SELECT id, process, kind, max(CASE WHEN kind = 'graph_add_child' THEN id END) OVER (PARTITION BY process, node ORDER BY id) AS added
    FROM (SELECT id, process, kind, CASE kind WHEN 'graph_add_child' THEN object ELSE other END AS node FROM _event
          WHERE kind IN ('graph_add_child', 'graph_child_get') AND result = 0)) AS got
    JOIN _graph_mention AS outer_graph ON outer_graph.id = got.added AND outer_graph.role = 'named'
WHERE got.kind = 'graph_child_get'),
outward (born, inside) AS (
    SELECT born, inside FROM directly
    UNION
    SELECT outward.born, directly.inside FROM outward JOIN directly ON directly.born = outward.inside)
SELECT born, inside FROM outward WHERE inside NOT IN (SELECT born FROM directly);

-- How references get from graph to graph: everything that `source` held before event `copied` is added to `target` at event
-- `at` (sign 1), or taken from it again (sign -1).
CREATE VIEW _reference_flow AS
WITH place AS MATERIALIZED (SELECT id, role, born FROM _graph_mention WHERE role IN ('named', 'child')),
-- Clone and instantiation, and update, which begins a new holder.
copies AS (
    SELECT place.born AS source, event.id AS target, event.id AS copied, event.id AS at, 1 AS sign
    FROM _event AS event JOIN place ON place.id = event.id AND place.role = 'named'
    WHERE event.result = 0 AND event.kind IN ('graph_clone', 'graph_instantiate', 'graph_exec_update')),
-- Child nodes have a copy of the child graph, until the node is destroyed.
node AS MATERIALIZED (
    SELECT id, process, kind, object AS node,
           max(CASE WHEN kind = 'graph_add_child' THEN id END) OVER (PARTITION BY process, object ORDER BY id) AS added
    FROM _event WHERE result = 0 AND kind IN ('graph_add_child', 'graph_destroy_node')),
children AS (
    SELECT child.born AS source, coalesce(inner_graph.inside, parent.born) AS target, node.added AS copied, node.id AS at,
           CASE node.kind WHEN 'graph_add_child' THEN 1 ELSE -1 END AS sign
    FROM node JOIN place AS child ON child.id = node.added AND child.role = 'child'
         JOIN place AS parent ON parent.id = node.added AND parent.role = 'named'
         LEFT JOIN _inner_graph AS inner_graph ON inner_graph.born = parent.born),
-- A child set in an executable graph replaces what that node held there.
child_set AS MATERIALIZED (
    SELECT id, process, exec, node, epoch, kind,
           lag(CASE WHEN kind = 'graph_exec_child_set' THEN id END) OVER (PARTITION BY process, exec, epoch, node ORDER BY id) AS former
    FROM (SELECT id, process, kind, object AS exec, CASE kind WHEN 'graph_exec_child_set' THEN other END AS node,
                 max(CASE WHEN kind <> 'graph_exec_child_set' THEN id END) OVER (PARTITION BY process, object ORDER BY id) AS epoch
          FROM _event WHERE result = 0 AND kind IN ('graph_exec_child_set', 'graph_instantiate', 'graph_exec_update'))
    WHERE kind = 'graph_exec_child_set'),
replaced AS (
    SELECT child_set.id, child_set.epoch, coalesce(former, (SELECT max(node.id) FROM node WHERE node.process = child_set.process
        AND node.node = child_set.node AND node.kind = 'graph_add_child' AND node.id < child_set.id)) AS former
    FROM child_set)
SELECT * FROM copies
UNION ALL SELECT * FROM children
UNION ALL
SELECT child.born, child_set.epoch, child_set.id, child_set.id, 1
FROM child_set JOIN place AS child ON child.id = child_set.id AND child.role = 'child'
UNION ALL
SELECT child.born, replaced.epoch, replaced.former, replaced.id, -1
FROM replaced JOIN place AS child ON child.id = replaced.former AND child.role = 'child';

-- User objects whose destructor has not run, one row for each that still holds references to them. `holder` is 'caller' (the
-- program itself), 'graph', 'executable graph', or 'nobody': then all is released, and the destructor had not run yet, or never
-- will since more was released than was held. `held_by` is the handle of the graph, `since` the event that made the
-- graph hold it.
CREATE VIEW outstanding_payloads AS
WITH RECURSIVE
waiting AS MATERIALIZED (SELECT * FROM _waiting_payload),
flow AS MATERIALIZED (SELECT * FROM _reference_flow WHERE source IS NOT NULL AND target IS NOT NULL),
inner_graph AS MATERIALIZED (SELECT * FROM _inner_graph),
entry (holder, life, at, count) AS (
    SELECT coalesce(inner_graph.inside, graph.born), call.life, call.id,
           CASE call.kind WHEN 'graph_retain_user_object' THEN call.size ELSE -call.size END
    FROM _payload_event AS call JOIN waiting ON waiting.life = call.life
         JOIN _graph_mention AS graph ON graph.id = call.id AND graph.role = 'named'
         LEFT JOIN inner_graph ON inner_graph.born = graph.born
    WHERE call.kind IN ('graph_retain_user_object', 'graph_release_user_object') AND graph.born IS NOT NULL
    UNION ALL
    SELECT flow.target, entry.life, flow.at, entry.count * flow.sign
    FROM entry JOIN flow ON flow.source = entry.holder AND entry.at < flow.copied),
holding (life, holder, held_by, count, since) AS (
    SELECT entry.life, holder.kind, printf('0x%x', holder.handle), sum(entry.count), min(entry.at)
    FROM entry JOIN _holder AS holder ON holder.born = entry.holder AND holder.died IS NULL
    GROUP BY entry.life, entry.holder HAVING sum(entry.count) > 0
    UNION ALL
    SELECT life, 'caller', NULL, held_by_caller, life FROM waiting WHERE held_by_caller > 0)
SELECT process.pid, printf('0x%x', waiting.handle) AS user_object, printf('0x%x', waiting.payload) AS payload,
       printf('0x%x', waiting.destructor) AS destructor, made.begin / 1000.0 AS created_us, thread.tid,
       coalesce(holding.holder, 'nobody') AS holder, holding.held_by, coalesce(holding.count, 0) AS "references",
       holding.since, waiting.life AS event, made.stack
FROM waiting JOIN process ON process.id = waiting.process JOIN event AS made ON made.id = waiting.life
     JOIN thread ON thread.id = made.thread LEFT JOIN holding ON holding.life = waiting.life;

-- Calls that make and free what occupies memory, in classes within which an address means one thing.
CREATE VIEW _memory_event AS
WITH named AS MATERIALIZED (
    SELECT id, process, kind, verb, object, size, stream, default_stream, thread, context, stack, begin, api, other,
           -- Imported pool memory is freed like the pool's own.
           CASE WHEN kind = 'pool_import_pointer' THEN 'device_memory' ELSE class END AS class
    FROM _event WHERE result = 0 AND object <> 0 AND verb IN ('create', 'destroy')
      AND class IN ('device_memory', 'host_memory', 'registered_memory', 'array', 'mipmapped_array', 'ipc_memory',
                    'address_range', 'mapping', 'external_memory'))
SELECT *, max(CASE WHEN verb = 'create' THEN id END) OVER (PARTITION BY process, class, object ORDER BY id) AS life,
       lead(id) OVER (PARTITION BY process, class, object ORDER BY id) AS next
FROM named;

-- Memory that was allocated, pinned or mapped and never freed. What went with its context is left out; stream-ordered memory
-- and virtual memory do not go with a context.
CREATE VIEW outstanding_allocations AS
WITH gone AS MATERIALIZED (
    SELECT process, id, kind, object FROM _event WHERE result = 0 AND kind IN ('context_destroy', 'primary_context_reset'))
SELECT process.pid, memory.class AS kind, printf('0x%x', memory.object) AS address, memory.size AS bytes, api.name AS call,
       memory.begin / 1000.0 AS allocated_us, thread.tid, thread.name AS thread, iif(context.handle IS NULL, NULL, printf('0x%x', context.handle)) AS context,
       memory.id AS event, memory.stack
FROM _memory_event AS memory JOIN process ON process.id = memory.process JOIN thread ON thread.id = memory.thread
     JOIN api ON api.id = memory.api LEFT JOIN context ON context.id = memory.context
WHERE memory.verb = 'create' AND memory.next IS NULL
  AND NOT (memory.kind IN ('memory_alloc', 'memory_alloc_managed', 'host_alloc', 'host_register', 'array_create', 'mipmapped_array_create')
           AND EXISTS (SELECT 1 FROM gone WHERE gone.process = memory.process AND gone.id > memory.id
                       AND (gone.kind = 'context_destroy' AND gone.object = context.handle
                            OR gone.kind = 'primary_context_reset' AND context.kind <> 'created' AND gone.object = context.device)));

-- What a free of each allocation has to know, as it stood when the allocation was made: its recipe. `grade` is 'complete' where
-- the allocation itself names all of it (a created stream carries its context, a synchronous free needs neither), 'ambient' where a
-- default-stream token means the legacy stream of whatever context is current, 'per-thread' where it means a stream of the
-- thread's besides. `stream_event` made the stream; `free_event` is the free that succeeded, else the last one that was refused.
-- `comparison` says how that free's stream relates to the recipe's: 'same', 'synchronous', 'no context', 'other context',
-- 'other thread', 'other stream' or 'recycled stream' (the same handle, but another stream); NULL where nobody tried.
CREATE VIEW deallocation_recipes AS
WITH touched AS MATERIALIZED (
    SELECT id, process, kind, verb, result, object, other, size, thread, context, stream, stack, begin, api,
           CASE WHEN stream = 1 OR stream = 0 AND default_stream = 'legacy' THEN 'legacy'
                WHEN stream = 2 OR stream = 0 AND default_stream = 'per_thread' THEN 'per_thread'
                WHEN stream = 0 THEN 'none' ELSE 'created' END AS stream_kind,
           max(CASE WHEN verb = 'create' AND result = 0 THEN id END) OVER (PARTITION BY process, class, object ORDER BY id) AS life
    FROM (SELECT *, CASE WHEN kind = 'pool_import_pointer' THEN 'device_memory' ELSE class END AS class FROM _event
          WHERE object <> 0 AND kind IN ('memory_alloc', 'memory_alloc_managed', 'memory_alloc_async', 'pool_import_pointer',
                                         'memory_free', 'memory_free_async', 'host_alloc', 'host_free'))),
-- Stream handles are handed out again: which stream each of these calls meant.
streams AS MATERIALIZED (
    SELECT id, made FROM (
        SELECT id, max(made) OVER (PARTITION BY process, handle ORDER BY id) AS made, is_use FROM (
            SELECT id, process, object AS handle, id AS made, 0 AS is_use FROM _event WHERE kind = 'stream_create' AND result = 0
            UNION ALL
            SELECT id, process, stream, NULL, 1 FROM touched WHERE stream_kind = 'created'))
    WHERE is_use),
-- A created stream brings its context along.
placed AS MATERIALIZED (
    SELECT touched.*, streams.made AS stream_made,
           CASE WHEN stream_kind = 'created' THEN maker.context ELSE touched.context END AS stream_context
    FROM touched LEFT JOIN streams ON streams.id = touched.id LEFT JOIN event AS maker ON maker.id = streams.made),
ends AS (
    SELECT life, coalesce(max(CASE WHEN result = 0 THEN id END), max(id)) AS freed
    FROM touched WHERE verb = 'destroy' AND life IS NOT NULL GROUP BY life)
SELECT process.pid, printf('0x%x', made.object) AS address, made.size AS bytes, api.name AS call, thread.tid,
       thread.name AS thread,
       CASE WHEN made.stream_kind = 'none' THEN NULL WHEN made.stream = 0 THEN 'null' WHEN made.stream = 1 THEN 'legacy'
            WHEN made.stream = 2 THEN 'per_thread' ELSE printf('0x%x', made.stream) END AS stream_token,
       CASE made.stream_kind WHEN 'none' THEN NULL WHEN 'created' THEN 'created' ELSE made.stream_kind || ' default' END AS stream,
       made.stream_made AS stream_event,
       iif(context.handle IS NULL, NULL, printf('0x%x', context.handle)) AS context, context.device,
       CASE WHEN made.kind <> 'memory_alloc_async' THEN NULL WHEN made.other = 0 THEN 'current'
            ELSE printf('0x%x', made.other) END AS pool,
       CASE made.stream_kind WHEN 'legacy' THEN 'ambient' WHEN 'per_thread' THEN 'per-thread' ELSE 'complete' END AS grade,
       gone.id AS free_event, gone.result AS free_result,
       CASE WHEN gone.id IS NULL THEN NULL
            WHEN gone.stream_kind = 'none' THEN 'synchronous'
            WHEN gone.stream_kind <> 'created' AND gone.context IS NULL THEN 'no context'
            WHEN gone.stream_kind = 'created' AND made.stream_kind = 'created' AND gone.stream_made IS made.stream_made
                 AND gone.stream = made.stream THEN 'same'
            WHEN gone.stream_kind = 'created' AND made.stream_kind = 'created' AND gone.stream = made.stream THEN 'recycled stream'
            WHEN gone.stream_context <> made.stream_context THEN 'other context'
            WHEN gone.stream_kind <> made.stream_kind OR gone.stream_kind = 'created' THEN 'other stream'
            WHEN gone.stream_kind = 'per_thread' AND gone.thread <> made.thread THEN 'other thread'
            ELSE 'same' END AS comparison,
       made.id AS event, made.stack
FROM placed AS made JOIN process ON process.id = made.process JOIN thread ON thread.id = made.thread
     JOIN api ON api.id = made.api LEFT JOIN context ON context.id = made.stream_context
     LEFT JOIN ends ON ends.life = made.id LEFT JOIN placed AS gone ON gone.id = ends.freed
WHERE made.verb = 'create' AND made.result = 0;

-- Frees, destroys, releases and unregistrations that returned an error. `made_good_by` is the first later call that freed the
-- same thing with success; it is NULL where there was none before the handle was handed out again.
CREATE VIEW failed_frees AS
WITH touched AS MATERIALIZED (
    SELECT id, process, class, object, verb, result,
           CASE WHEN verb = 'create' AND result = 0 THEN id END AS made,
           CASE WHEN verb IN ('destroy', 'release') AND result = 0 THEN id END AS freed
    FROM _event WHERE verb IN ('create', 'destroy', 'release')),
ahead AS (
    SELECT id, verb, result, min(made) OVER later AS next_made, min(freed) OVER later AS next_freed FROM touched
    WINDOW later AS (PARTITION BY process, class, object ORDER BY id ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING))
SELECT calls.event, calls.pid, calls.tid, calls.thread, calls.begin_us, calls.call, calls.object, calls.result,
       coalesce(calls.context, 'none') AS context, calls.stream, calls.in_callback, calls.after_exit,
       CASE WHEN ahead.next_freed < coalesce(ahead.next_made, ahead.next_freed + 1) THEN ahead.next_freed END AS made_good_by,
       calls.stack
FROM ahead JOIN calls ON calls.event = ahead.id
WHERE ahead.verb IN ('destroy', 'release') AND ahead.result <> 0;

-- Stream-ordered frees on the per-thread default stream, with where the memory came from. Where `same_thread` is 0, the free is
-- ordered on another stream than the one that its caller may think of.
CREATE VIEW per_thread_default_stream_frees AS
WITH made AS MATERIALIZED (
    SELECT id, max(CASE WHEN verb = 'create' AND result = 0 THEN id END)
                   OVER (PARTITION BY process, object ORDER BY id) AS life
    FROM _event WHERE class = 'device_memory' AND verb IN ('create', 'destroy'))
SELECT freed.event, freed.pid, freed.tid, freed.thread, freed.begin_us, freed.object AS address, freed.result, freed.stream,
       allocated.tid AS allocated_by, allocated.call AS allocation, allocated.stream AS allocation_stream,
       allocated.size AS bytes, allocated.event AS allocation_event, allocated.tid = freed.tid AS same_thread, freed.stack
FROM calls AS freed JOIN made ON made.id = freed.event LEFT JOIN calls AS allocated ON allocated.event = made.life
WHERE freed.kind = 'memory_free_async' AND freed.stream IN ('per_thread', 'per_thread (0)');

-- Destructors, host functions and stream callbacks that the driver ran, and how many driver calls were made inside each.
CREATE VIEW callbacks AS
WITH inside AS MATERIALIZED (
    SELECT id, thread, begin FROM event WHERE flags & 1 AND api IN (SELECT id FROM api WHERE symbol LIKE 'cu%'))
SELECT calls.event, calls.pid, calls.tid, calls.thread, calls.begin_us, calls.duration_us, calls.call AS what,
       CASE WHEN calls.kind = 'callback_user_object' THEN calls.other ELSE calls.object END AS payload, calls.extra AS "function",
       (SELECT count(*) FROM inside WHERE inside.thread = event.thread AND inside.begin >= event.begin
           AND (event.duration IS NULL OR inside.begin <= event.begin + event.duration)) AS driver_calls
FROM calls JOIN event ON event.id = calls.event
WHERE calls.kind IN ('callback_user_object', 'callback_host_function', 'callback_stream');

-- Pending calls of CPython: each attempt to add one, with the run that came of it. `became` is 'ran', 'refused' (Py_AddPendingCall
-- returned -1: its queue was full) or 'never ran'. `callback` is the callback of the driver's in which the attempt was made.
-- `payload_callbacks` counts the destructors of user objects that came together in it: since the same function ran last, up to this
-- run (for an attempt without one, up to the attempt); 0 for functions that no callback asks for. `frees` are the successful frees of memory by the run's thread during it.
CREATE VIEW pending_calls AS
WITH told AS MATERIALIZED (
    SELECT id, process, thread, kind, begin, duration, object, other, size, extra, flags, stack,
           sum(kind = 'callback_user_object') OVER (PARTITION BY process ORDER BY id) AS payloads,
           max(CASE WHEN verb = 'run' AND kind <> 'pending_call_run' THEN id END) OVER (PARTITION BY thread ORDER BY id) AS callback
    FROM _event WHERE kind IN ('pending_call_attempt', 'pending_call_run', 'callback_user_object', 'callback_host_function', 'callback_stream')),
-- `payloads` never falls, so the greatest value of earlier runs is that of the latest.
ours AS MATERIALIZED (
    SELECT *, payloads - coalesce(max(CASE WHEN kind = 'pending_call_run' THEN payloads END) OVER (
               PARTITION BY process, extra ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS gathered,
           max(flags & 1) OVER (PARTITION BY process, extra) AS by_callbacks
    FROM told WHERE kind IN ('pending_call_attempt', 'pending_call_run')),
ran AS MATERIALIZED (SELECT * FROM ours WHERE kind = 'pending_call_run'),
-- What the threads that ran pending calls did, in order of time: a run's part is what was counted at its end less what was at its begin.
point AS (
    SELECT event.thread, event.begin AS at, 1 AS rank, NULL AS process, NULL AS number, 1 AS calls,
           kind.verb = 'destroy' AND event.result = 0 AND kind.object IN
           ('device_memory', 'host_memory', 'registered_memory', 'array', 'mipmapped_array', 'ipc_memory') AS frees
    FROM event JOIN api ON api.id = event.api JOIN kind ON kind.id = api.kind
    WHERE event.thread IN (SELECT thread FROM ran) AND api.symbol GLOB 'cu*'
    UNION ALL SELECT thread, begin, 0, process, object, 0, 0 FROM ran
    UNION ALL SELECT thread, coalesce(begin + duration, 9223372036854775807), 2, process, object, 0, 0 FROM ran),
counted AS (
    SELECT process, number, sum(calls) OVER span AS calls, sum(frees) OVER span AS frees FROM point
    WINDOW span AS (PARTITION BY thread ORDER BY at, rank ROWS UNBOUNDED PRECEDING)),
-- All that is known of an attempt by its number, put together in one pass: joins of these parts would look through all of each.
part AS (
    SELECT process, object AS number, iif(kind = 'pending_call_attempt', id, NULL) AS attempt, iif(kind = 'pending_call_run', id, NULL) AS ran,
           iif(kind = 'pending_call_attempt' AND flags & 1, callback, NULL) AS inside, by_callbacks, gathered,
           iif(kind = 'pending_call_run', gathered, NULL) AS gathered_by_run, NULL AS calls, NULL AS frees FROM ours
    UNION ALL
    SELECT process, number, NULL, NULL, NULL, NULL, NULL, NULL, max(calls) - min(calls), max(frees) - min(frees) FROM counted
    WHERE number IS NOT NULL GROUP BY process, number),
whole AS (
    SELECT process, max(attempt) AS attempt, max(ran) AS ran, max(inside) AS callback, max(calls) AS calls, max(frees) AS frees,
           iif(max(by_callbacks), coalesce(max(gathered_by_run), max(gathered)), 0) AS payloads
    FROM part GROUP BY process, number HAVING max(attempt) IS NOT NULL)
SELECT process.pid, tried.id AS event, tried.begin / 1000.0 AS attempted_us, thread.tid, thread.name AS thread,
       tried.flags & 1 <> 0 AS in_callback, whole.callback,
       printf('0x%x', tried.extra) AS "function", printf('0x%x', tried.other) AS argument, iif(tried.size, 0, -1) AS result,
       CASE WHEN NOT tried.size THEN 'refused' WHEN ran.id IS NULL THEN 'never ran' ELSE 'ran' END AS became,
       whole.payloads AS payload_callbacks,
       ran.id AS run, (ran.begin - tried.begin) / 1000.0 AS waited_us, runner.tid AS ran_on, runner.name AS ran_on_thread,
       runner.main AS on_main_thread, ran.duration / 1000.0 AS ran_us, iif(ran.duration IS NULL, NULL, ran.size) AS run_result,
       whole.calls AS driver_calls, whole.frees, tried.stack
FROM whole JOIN event AS tried ON tried.id = whole.attempt JOIN process ON process.id = whole.process
     JOIN thread ON thread.id = tried.thread LEFT JOIN event AS ran ON ran.id = whole.ran LEFT JOIN thread AS runner ON runner.id = ran.thread;

-- What happened after a process's exit handlers had begun. `after` says how far shutdown was.
CREATE VIEW shutdown_events AS
SELECT event, pid, tid, thread, begin_us, CASE WHEN after_teardown THEN 'driver torn down' ELSE 'exit began' END AS after,
       call, object, result, stack
FROM calls WHERE after_exit OR after_teardown;

-- What is missing from the trace. Empty in a complete one.
CREATE VIEW losses AS
SELECT process.pid, loss.name, loss.text, loss.count FROM loss LEFT JOIN process ON process.id = loss.process
UNION ALL
SELECT NULL, 'unfinished', 'recording has not ended, or was cut short: lastref import goes on with it', 1
FROM meta WHERE key = 'state' AND value <> 'complete';

-- `record --audit`: each driver call of each process, as lastref recorded it and as CUPTI counted it. What the verdicts mean:
--   same      both saw as many; calls that the driver made itself, and those after exit handlers began, CUPTI may or may not tell
--   expected  they differ as they must: CUPTI begins inside the first cuInit, and the collector itself asks the driver two things
--   missed    CUPTI saw more: calls that the hooks did not see
--   extra     the trace has more
--   outside   lastref does not record this entry point
CREATE VIEW audit AS
WITH recorded AS (
    SELECT thread.process, api.symbol,
           sum(event.flags & 10 = 0) AS plain, count(*) AS most
    FROM event JOIN thread ON thread.id = event.thread JOIN api ON api.id = event.api
    WHERE api.symbol GLOB 'cu*' AND thread.process IN (SELECT process FROM cupti_call)
    GROUP BY thread.process, api.symbol
), both AS (
    SELECT cupti_call.process, cupti_call.symbol, cupti_call.calls AS cupti, coalesce(recorded.plain, 0) AS plain,
           coalesce(recorded.most, 0) AS most
    FROM cupti_call LEFT JOIN recorded ON recorded.process = cupti_call.process AND recorded.symbol = cupti_call.symbol
    UNION ALL
    SELECT process, symbol, 0, plain, most FROM recorded
    WHERE NOT EXISTS (SELECT 1 FROM cupti_call WHERE cupti_call.process = recorded.process AND cupti_call.symbol = recorded.symbol)
)
SELECT both.process, process.pid, both.symbol, api.name AS call, both.plain AS recorded, both.cupti,
       CASE WHEN api.id IS NULL THEN 'outside'
            WHEN both.cupti BETWEEN both.plain AND both.most THEN 'same'
            WHEN both.cupti > both.most AND api.name IN ('cuCtxGetCurrent', 'cuStreamIsCapturing') THEN 'expected'
            WHEN both.cupti = both.plain - 1 AND api.name = 'cuInit' THEN 'expected'
            WHEN both.cupti > both.most THEN 'missed' ELSE 'extra' END AS verdict
FROM both JOIN process ON process.id = both.process LEFT JOIN api ON api.symbol = both.symbol;

-- What the device did, beside the recorded call that asked for it (`event`): the driver call of that thread that was under way at
-- that instant, or the last one that a call of the CUDA runtime made. `waited_us` is from the asking call's begin to the device's.
CREATE VIEW device_work AS
SELECT work.id AS activity, work.process, work.kind, work.begin / 1000.0 AS begin_us, (work.end - work.begin) / 1000.0 AS duration_us,
       (SELECT event.id FROM event JOIN thread ON thread.id = event.thread JOIN api ON api.id = event.api JOIN kind ON kind.id = api.kind
        WHERE thread.process = work.process AND thread.tid = asked.tid
          AND CASE asked.kind WHEN 'call' THEN api.symbol = asked.symbol AND event.begin <= asked.begin
                                               AND event.begin + event.duration >= asked.end
                              ELSE kind.verb NOT IN ('query', 'set') AND event.begin >= asked.begin
                                   AND event.begin + event.duration <= asked.end END
        ORDER BY event.id DESC LIMIT 1) AS event,
       (work.begin - asked.begin) / 1000.0 AS waited_us, work.device, work.stream, work.bytes,
       printf('0x%x', work.object) AS object
FROM gpu_activity AS work LEFT JOIN gpu_activity AS asked
     ON asked.process = work.process AND asked.kind IN ('call', 'runtime_call') AND asked.correlation = work.correlation
WHERE work.kind NOT IN ('call', 'runtime_call');
