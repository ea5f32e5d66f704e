"""Group C: GGUF files. What single fields may hold is tested in compiler/import/gguf; here is how the tool ends."""

import os
import struct

from case import case, put

U32, STRING, ARRAY, U64, BOOL = 4, 8, 9, 10, 7


def text(s):
    s = s if isinstance(s, bytes) else s.encode()
    return struct.pack("<Q", len(s)) + s


def value(key, kind, payload):
    return text(key) + struct.pack("<I", kind) + payload


def entry(name, extents, kind=0, offset=0):
    return text(name) + struct.pack("<I", len(extents)) + b"".join(struct.pack("<Q", e % 2**64) for e in extents) \
        + struct.pack("<IQ", kind, offset % 2**64)


ARCHITECTURE = value("general.architecture", STRING, text("llama"))


def file(values=(ARCHITECTURE,), entries=(), data=b"", magic=b"GGUF", version=3, tensors=None, pairs=None):
    out = magic + struct.pack("<IQQ", version, (len(entries) if tensors is None else tensors) % 2**64,
                              (len(values) if pairs is None else pairs) % 2**64)
    out += b"".join(values) + b"".join(entries)
    return out + bytes(-len(out) % 32) + data if data else out


def gguf(row, name, code, message, content):
    @case(row, name, code, message)
    def _(folder):
        return [put(folder, "m.gguf", content), "-o", os.path.join(folder, "out.aicf")]


gguf("C1", "magic in another case", 3, "", file(magic=b"gguf"))
for version in (0, 1, 4, 0x03000000):
    gguf("C1", f"version {version}", 4, "big-endian" if version > 4 else "version", file(version=version))
for count in (-1, 2**63, 10**9):
    gguf("C2", f"{count} tensors", 3, "do not suffice", file(tensors=count))
    gguf("C2", f"{count} pairs", 3, "do not suffice", file(pairs=count))
gguf("C3", "a key of 2^64-1 bytes", 3, "", file([struct.pack("<Q", 2**64 - 1)], pairs=1))
gguf("C3", "an empty key", 3, "", file([value("", U32, struct.pack("<I", 1))]))
gguf("C4", "an array of 2^61", 3, "", file([value("a", ARRAY, struct.pack("<IQ", U32, 2**61))]))
gguf("C4", "an array of arrays, which no model needs", 3, "\"general.architecture\" is missing", file([value("a", ARRAY, struct.pack("<IQIQ", ARRAY, 1, U32, 0))]))
gguf("C4", "a bool of 2", 3, "", file([value("a", BOOL, b"\x02")]))
gguf("C5", "a key twice", 3, "", file([ARCHITECTURE, ARCHITECTURE]))
gguf("C5", "a tensor twice", 3, "", file(entries=[entry("t", [8]), entry("t", [8])], data=bytes(64)))
gguf("C6", "five extents", 3, "", file(entries=[entry("t", [1] * 5)], data=bytes(64)))
gguf("C6", "2^32-1 extents", 3, "", file(entries=[text("t") + struct.pack("<I", 2**32 - 1)], tensors=1))
gguf("C7", "a negative extent", 3, "", file(entries=[entry("t", [-1])], data=bytes(64)))
gguf("C7", "extents that wrap", 3, "", file(entries=[entry("t", [2**32, 2**32])], data=bytes(64)))
for alignment in (0, 13, 2**31):
    gguf("C8", f"alignment {alignment}", 3, "alignment",
         file([value("general.alignment", U32, struct.pack("<I", alignment))], [entry("t", [8])], bytes(64)))
gguf("C9", "an offset beyond the file", 3, "", file(entries=[entry("t", [8], offset=2**40)], data=bytes(64)))
gguf("C9", "an offset that wraps", 3, "", file(entries=[entry("t", [8], offset=-32)], data=bytes(64)))
gguf("C9", "an unaligned offset", 3, "", file(entries=[entry("t", [8], offset=4)], data=bytes(64)))
gguf("C9", "two tensors in one place", 3, "", file(entries=[entry("t", [8]), entry("u", [8])], data=bytes(64)))
gguf("C10", "a tensor type that is no one's", 4, "", file(entries=[entry("t", [8], kind=999)], data=bytes(64)))
gguf("C10", "rows that are no whole blocks", 3, "", file(entries=[entry("t", [33], kind=8)], data=bytes(64)))
gguf("C11", "data cut off", 3, "", file(entries=[entry("t", [1024])], data=bytes(64)))
gguf("C12", "no layers at all", 3, "", file())
gguf("C12", "2^31 layers", 3, "", file([ARCHITECTURE, value("llama.block_count", U32, struct.pack("<I", 2**31))]))
gguf("C13", "an unknown architecture of a terminal's codes", 4, "\\x1b",
     file([value("general.architecture", STRING, text("\x1b[2J"))]))
