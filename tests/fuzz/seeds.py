"""Writes the first seeds of the fuzz targets into corpus/: small, sound inputs of every kind that a target reads.

The corpus beside it also holds what fuzzers have found since; running this again replaces the seeds alone.
"""

import os
import sqlite3
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
START = 1_000_000_000


def write(target, name, content):
    folder = os.path.join(HERE, "corpus", target)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, f"seed-{name}"), "wb") as file:
        file.write(content)


# --- spools: patches on a sound one, see spool_image.h ---

def patch(where, offset, content):
    out = b""
    for begin in range(0, len(content), 255):
        piece = content[begin:begin + 255]
        out += struct.pack("<BHB", where, offset + begin, len(piece)) + piece
    return out


def call(api, begin, kind=1, stack=0, context=1, result=0, duration=10, flags=0, depth=0, operands=(0, 7, 0, 64, 0)):
    return struct.pack("<HBBHBBQIHH5Q", api, kind, 1, result, flags, depth, START + begin, duration, stack, context, *operands)


def padded(head, tail):
    whole = head + tail
    whole += bytes(-len(whole) % 64)
    return whole[:3] + bytes([len(whole) // 64]) + whole[4:]


def stack(number, frames):
    return padded(struct.pack("<HBBHBB", number, 4, 0, len(frames), 0, 0), struct.pack(f"<{len(frames)}Q", *frames))


def module(path, begin, end):
    return padded(struct.pack("<HBBHBBQQQ32s", 0, 5, 0, len(path), 4, 0, begin, begin, end, b"\1\2\3\4"), path)


def text(kind, content, part=0, last=1):
    return padded(struct.pack("<HBBHHB", kind, 6, 0, len(content), part, last), content)


def phase(what, at, value=0):
    return struct.pack("<HBBIQ48x", what, 7, 1, value, START + at)


def named_range(number, at, name=b"", end=0):
    return padded(struct.pack("<HBBBBHQQ", len(name), 8, 0, end, 0, 1, number, START + at), name.ljust(40, b"\0"))


def nvtx(action, at, domain=b"", category=b"", message=b"", number=0, payload_kind=0, payload=0, resource=0):
    texts = domain + category + message
    head = struct.pack("<HBBBBBBQQQIHBB", len(texts), 9, 0, action, len(domain), len(category), payload_kind, number, START + at, payload,
                       1 if category else 0, 1, resource, 1)
    return padded(head, texts.ljust(24, b"\0"))


SEGMENT_0, SEGMENT_1, SEGMENT_3 = 3, 4, 6


def with_records(*records, segment=SEGMENT_0):
    content = b"".join(records)
    return patch(segment, 0, struct.pack("<I", 1 + len(content) // 64)) + patch(segment, 64, content)


def spools():
    calls = [call(api, 100 + 20 * api) for api in range(12)]
    return {
        "sound": b"",
        "calls": with_records(*calls),
        "nested": with_records(call(30, 100, kind=2), call(3, 110, depth=1), call(30, 100, kind=3, duration=50)),
        "stacks": with_records(module(b"/lib/one.so", 0x1000, 0x9000), stack(1, [0x1500, 0x1600]), call(5, 100, stack=1),
                               stack(2, list(range(0x1500, 0x1500 + 40))), call(6, 200, stack=2)),
        "texts": with_records(text(1, b"/build/demo"), text(2, b"demo\0--all\0"), text(3, b"CUDA_VISIBLE_DEVICES=0"), text(4, b"worker"),
                              text(6, b"a" * 300, 0, 0), text(6, b"b" * 200, 1, 1), text(7, b"/tmp")),
        "phases": with_records(phase(5, 10), phase(1, 20, 13000), phase(2, 900), phase(3, 910), phase(4, 920)),
        "ranges": with_records(named_range(1, 50, b"test_one"), call(4, 100), named_range(1, 200, end=1), named_range(2, 220, b"n" * 100)),
        "nvtx": with_records(nvtx(1, 50, message=b"mark", payload_kind=1, payload=5), nvtx(2, 60, b"domain", b"category", b"push"),
                             nvtx(3, 90, b"domain"), nvtx(4, 95, message=b"start", number=9), nvtx(5, 99, number=9),
                             nvtx(6, 100, message=b"a stream", number=0x55, resource=3)),
        "stray": with_records(*calls) + patch(SEGMENT_3, 0, struct.pack("<IIQQIIII", 5, 0, 9, 7, 0, 3, 0xffffffff, 0)) +
        patch(SEGMENT_3, 64, b"".join(calls[:4])),
        "in-flight": with_records(*calls) + patch(2, 40, struct.pack("<QI", START + 900, 8)),
        "damaged": with_records(calls[0], bytes(64), b"\xee" * 64, calls[1], text(1, b"x" * 900)),
    }


# --- traces: as few pages as will do ---

def trace(*statements):
    base = sqlite3.connect(":memory:")
    base.execute("PRAGMA page_size = 512")
    with open(os.path.join(SOURCE, "schema", "trace.sql"), encoding="utf-8") as file:
        lines = [line.split("--")[0] for line in file]
    base.executescript("\n".join(" ".join(line.split()) for line in lines if line.strip()))
    base.executescript("""
        PRAGMA application_id = 0x4c524546; PRAGMA user_version = 1;
        INSERT INTO meta VALUES ('state', 'complete'), ('lastref_version', '0.1.0');
        INSERT INTO process (id, pid, parent_pid, start_ticks, executable, stacks, first_time, last_time, end, exit_status)
            VALUES (1, 4711, 1, 1, '/build/demo', 'create', 0, 9000, 'clean', 0);
        INSERT INTO thread VALUES (1, 1, 4711, 'main', 1), (2, 1, 4712, 'worker', 0);
        INSERT INTO context VALUES (1, 1, 192, 0, 'primary');
        INSERT INTO module VALUES (1, 1, '/build/demo', 'ab01', 4096, 4096, 65536);
        INSERT INTO frame VALUES (1, 1, 5000, 1), (2, 1, 6000, 1);
        INSERT INTO stack VALUES (1, 1, 0); INSERT INTO stack_frame VALUES (1, 0, 1), (1, 1, 2);
        INSERT INTO phase VALUES (1, 5, 'driver_initialized', 1, 0);""")
    for number, (kind, target, verb, symbol, streams) in enumerate(APIS, 1):
        base.execute("INSERT INTO kind VALUES (?, ?, ?, ?)", (number, kind, target, verb))
        base.execute("INSERT INTO api (id, symbol, name, default_stream, kind) VALUES (?, ?, ?, ?, ?)",
                     (number, symbol, symbol.removesuffix("_v2"), streams, number))
    for statement in statements:
        base.executescript(statement)
    base.commit()
    base.execute("VACUUM")
    return base.serialize()


APIS = (
    ("memory_alloc", "device_memory", "create", "cuMemAlloc_v2", "none"),
    ("memory_free", "device_memory", "destroy", "cuMemFree_v2", "none"),
    ("user_object_create", "user_object", "create", "cuUserObjectCreate", "none"),
    ("user_object_release", "user_object", "release", "cuUserObjectRelease", "none"),
    ("graph_create", "graph", "create", "cuGraphCreate", "none"),
    ("graph_retain_user_object", "user_object", "retain", "cuGraphRetainUserObject", "none"),
    ("graph_instantiate", "graph_exec", "create", "cuGraphInstantiateWithFlags", "none"),
    ("graph_launch", "graph_exec", "use", "cuGraphLaunch", "legacy"),
    ("graph_destroy", "graph", "destroy", "cuGraphDestroy", "none"),
    ("stream_synchronize", "stream", "wait", "cuStreamSynchronize", "legacy"),
    ("memory_alloc_async", "device_memory", "create", "cuMemAllocAsync", "legacy"),
    ("memory_free_async", "device_memory", "destroy", "cuMemFreeAsync", "legacy"),
)


def events(*rows):
    values = ", ".join(f"({n}, {n * 100}, 10, {thread}, {api}, {result}, 1, 0, {item}, {other}, {size}, 0, 1, 0)"
                       for n, (thread, api, result, item, other, size) in enumerate(rows, 1))
    return f"INSERT INTO event VALUES {values};"


def traces():
    leak = events((1, 1, 0, 4096, 0, 64), (1, 1, 0, 8192, 0, 64), (1, 2, 0, 8192, 0, 0), (1, 2, 1, 8192, 0, 0))
    graphs = events((1, 5, 0, 1, 0, 0), (1, 3, 0, 2, 77, 1), (1, 6, 0, 2, 1, 1), (2, 4, 0, 2, 0, 1), (1, 7, 0, 3, 1, 0),
                    (1, 8, 0, 3, 0, 0), (1, 9, 0, 1, 0, 0), (1, 10, 0, 0, 0, 0))
    pools = events((1, 11, 0, 4096, 0, 64), (2, 12, 0, 4096, 0, 0), (1, 11, 0, 4096, 0, 64), (1, 2, 4, 4096, 0, 0))
    marks = ("INSERT INTO range VALUES (1, 1, 1, 'test', 0, 0, 900, 3, 1, 1, 1, 1);"
             "INSERT INTO nvtx_range VALUES (1, 1, 1, 'push', NULL, 'd', 'c', 'm', 5, 0, 0, 1, 900, 3, 1, NULL);"
             "INSERT INTO loss VALUES (1, 'records_dropped', 'text', 3); INSERT INTO note VALUES (1, 'a note');")
    return {"empty": trace(), "leak": trace(leak), "graphs": trace(graphs), "pools": trace(pools), "marks": trace(leak, marks)}


# --- words ---

FINDING = ('{"fingerprint": "f%d", "rule": "allocation-leak", "severity": "warning", "title": "t", "place": "f", "count": %d, "bytes": 64}')


def reports():
    one = '{"trace": {"complete": true}, "findings": [' + FINDING % (1, 1) + '], "suppressed": []}'
    two = '{"findings": [' + FINDING % (1, 2) + ", " + FINDING % (2, 1) + '], "other": [1, 2.5e9, null, "\\u20ac"]}'
    return {"one": one.encode(), "both": one.encode() + b"\0" + two.encode(), "wrong": b'{"findings": [{"rule": 1}]}'}


def suppressions():
    return {"some": b"cache::fill\n# why\nallocation-leak:^cache::fill$\n*:libvendor.so\n",
            "stars": b"aaaaaaaaaaab\n*:a*a*a*a*b$\n", "wrong": b"f\nno-such-rule:x\n"}


def annotations():
    schema = (1 << 24) + 0x1a57

    def said(kind, payload=b"", message=b"", payloads=1, number=schema, size=48):
        return struct.pack("<BbQQB", kind, payloads, number, size, len(payload)) + payload + message
    return {"payload": said(7, struct.pack("<IIQQ3Q", 1, 2, 5, 6, 1, 2, 3)), "text": said(0, message=b"recipe object=0x7f00 stream=2 context=85"),
            "queue": said(1, message=b"enqueue queue=5 item=7", number=9), "wrong": said(0, message=b"enqueue queue=0x")}


def main():
    for name, content in spools().items():
        write("spool", name, content)
        write("drain", name, content)
    for target, seeds in (("trace", traces()), ("json", reports()), ("suppressions", suppressions()), ("nvtx", annotations())):
        for name, content in seeds.items():
            write(target, name, content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
