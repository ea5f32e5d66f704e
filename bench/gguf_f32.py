"""The same model with every weight decoded to f32: what a program makes of a quantised model's weights, without what it
loses by rounding activations too.
"""
import struct

import numpy as np

F32, F16, Q4_0, Q4_1, Q8_0 = 0, 1, 2, 3, 8
STRING, ARRAY = 8, 9
VALUE_BYTES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}


def halves(blocks, at):
    return blocks[:, at:at + 2].copy().view(np.float16).astype(np.float32)


def nibbles(codes):
    return np.concatenate([codes & 15, codes >> 4], axis=1).astype(np.float32)


def decode(kind, data):
    """Values of whole blocks, each operation in f32."""
    if kind == F32:
        return data.view(np.float32)
    if kind == F16:
        return data.view(np.float16).astype(np.float32)
    size = {Q4_0: 18, Q4_1: 20, Q8_0: 34}[kind]
    blocks = data.reshape(-1, size)
    if kind == Q8_0:
        return (blocks[:, 2:].view(np.int8).astype(np.float32) * halves(blocks, 0)).ravel()
    if kind == Q4_0:
        return ((nibbles(blocks[:, 2:]) - 8) * halves(blocks, 0)).ravel()
    return (nibbles(blocks[:, 4:]) * halves(blocks, 0) + halves(blocks, 2)).ravel()


def stored_bytes(kind, count):
    return {F32: 4 * count, F16: 2 * count, Q4_0: count // 32 * 18, Q4_1: count // 32 * 20,
            Q8_0: count // 32 * 34}[kind]


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, form):
        value, = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize(form)
        return value

    def text(self):
        length = self.number("Q")
        self.at += length
        return bytes(self.data[self.at - length:self.at])

    def skip_value(self, kind):
        if kind == STRING:
            self.text()
        elif kind == ARRAY:
            element, count = self.number("I"), self.number("Q")
            for _ in range(count):
                self.skip_value(element)
        else:
            self.at += VALUE_BYTES[kind]


def aligned(size):
    return (size + 31) // 32 * 32


def write_f32(source, target):
    """Reads a GGUF file of the usual alignment and writes the same with f32 weights."""
    raw = np.fromfile(source, dtype=np.uint8)
    reader = Reader(memoryview(raw))
    reader.at = 8
    tensors, values = reader.number("Q"), reader.number("Q")
    for _ in range(values):
        reader.text()
        reader.skip_value(reader.number("I"))
    metadata_end = reader.at
    entries = []
    for _ in range(tensors):
        name = reader.text()
        extents = [reader.number("Q") for _ in range(reader.number("I"))]
        entries.append((name, extents, reader.number("I"), reader.number("Q")))
    start = aligned(reader.at)
    directory, offset = b"", 0
    for name, extents, _, _ in entries:
        directory += struct.pack("<Q", len(name)) + name + struct.pack("<I", len(extents))
        directory += struct.pack(f"<{len(extents)}Q", *extents) + struct.pack("<IQ", F32, offset)
        offset += aligned(4 * int(np.prod(extents)))
    with open(target, "wb") as out:
        out.write(raw[:metadata_end].tobytes() + directory)
        out.write(bytes(aligned(out.tell()) - out.tell()))
        for _, extents, kind, at in entries:
            count = int(np.prod(extents))
            out.write(decode(kind, raw[start + at:start + at + stored_bytes(kind, count)]).tobytes())
            out.write(bytes(aligned(out.tell()) - out.tell()))
