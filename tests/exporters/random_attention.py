"""Random attentions as exporters write them: shapes, places of the scale, masks, heads."""

import numpy as np

from builder import Model

LOWEST = np.finfo(np.float32).min


class Block:
    """One attention of a model. Batch, heads and rows may be axes of their own or joined."""

    def __init__(self, m, prefix):
        self.m, self.prefix, rng = m, prefix, m.rng
        pick = lambda low, high: int(rng.integers(low, high + 1))
        self.batch, self.groups, self.share = pick(1, 2), pick(1, 2), pick(1, 3)
        self.heads = self.groups * self.share
        self.rows, self.past = pick(1, 5), int(rng.choice([0, 0, 3]))
        self.keys = self.rows + self.past if rng.random() < 0.7 else pick(1, 6)
        self.size, self.values = pick(1, 6), pick(1, 6)
        self.flat = self.share == 1 and rng.random() < 0.3

    def chance(self, p):
        return self.m.rng.random() < p

    def operand(self, name, heads, length, size):
        """[B, heads, length, size], perhaps split from [B, length, heads * size]."""
        m, name = self.m, f"{self.prefix}_{name}"
        if self.chance(0.5):
            return m.random(name, self.batch, heads, length, size)
        x = m.random(name, self.batch, length, heads * size)
        x = m.node("Reshape", [x, m.ints(self.batch, length, heads, size)])
        return m.node("Transpose", [x], perm=[0, 2, 1, 3])

    def repeated(self, x, length, size):
        m = self.m
        if self.share == 1:
            return x
        x = m.node("Unsqueeze", [x, m.ints(2)])
        x = m.node("Expand", [x, m.ints(self.batch, self.groups, self.share, length, size)])
        return m.node("Reshape", [x, m.ints(self.batch, self.heads, length, size)])

    def joined(self, x, length, size):
        m = self.m
        return m.node("Reshape", [x, m.ints(self.batch * self.heads, length, size)]) if self.flat else x

    def scaled(self, x, factor):
        m = self.m
        if self.chance(0.5):
            return m.node("Mul", [x, m.constant(np.float32(factor))])
        return m.node("Div", [x, m.constant(np.float32(1 / factor))])

    def window(self):
        """bool [rows, keys]: a causal or sliding window that leaves every row a key, or None."""
        i, j = np.arange(self.rows)[:, None] + self.past, np.arange(self.keys)[None]
        seen = j <= i
        if self.chance(0.4):
            seen = seen & (j > i - int(self.m.rng.integers(1, 5)))
        return seen if seen.any(1).all() else None

    def masked(self, scores):
        m, rng = self.m, self.m.rng
        kind = rng.choice(["none", "window", "where", "added", "computed", "bias"])
        seen = self.window() if kind == "window" else rng.random((self.rows, self.keys)) < 0.7
        if kind == "none" or seen is None:
            return scores
        if kind != "window" and self.chance(0.5):
            seen = rng.random((self.batch, 1, 1, self.keys)) < 0.7
        if kind != "window":
            seen[..., 0] = True
        fill = np.float32(rng.choice([LOWEST, -np.inf]))
        if kind == "where" or (kind == "window" and self.chance(0.5)):
            return m.node("Where", [m.constant(seen), scores, m.constant(fill)])
        if kind == "computed":
            seen = m.input(f"{self.prefix}_seen", seen)
            bias = m.node("Where", [seen, m.constant(np.float32(0)), m.constant(fill)])
        elif kind == "bias":
            bias = m.random(f"{self.prefix}_bias", 1, self.heads, self.rows, self.keys)
        else:
            bias = m.constant(np.where(seen, 0, fill).astype(np.float32))
        return m.node("Add", [scores, bias])

    def scores(self, q, k):
        m, scale = self.m, self.size ** -0.5
        place = m.rng.choice(["query", "both", "product", "none"])
        if place != "product" and place != "none":
            q = self.scaled(q, scale if place == "query" else scale ** 0.5)
        k = m.node("Transpose", [k], perm=[0, 2, 1] if self.flat else [0, 1, 3, 2])
        if place == "both":
            k = self.scaled(k, scale ** 0.5)
        scores = m.node("MatMul", [q, k])
        if place == "product":
            scores = self.scaled(scores, scale)
        if self.chance(0.2):
            scores = self.scaled(m.node("Tanh", [self.scaled(scores, 0.5)]), 2)
        return scores

    def write(self):
        """The name of the result."""
        m = self.m
        q = self.operand("q", self.heads, self.rows, self.size)
        k = self.repeated(self.operand("k", self.groups, self.keys, self.size), self.keys, self.size)
        v = self.repeated(self.operand("v", self.groups, self.keys, self.values), self.keys, self.values)
        q, k, v = (self.joined(t, length, size) for t, length, size in (
            (q, self.rows, self.size), (k, self.keys, self.size), (v, self.keys, self.values)))
        scores = self.scores(q, k)
        parted = m.ints(self.batch, self.heads, self.rows, self.keys)
        scores = self.masked(m.node("Reshape", [scores, parted]) if self.flat else scores)
        scores = self.joined(scores, self.rows, self.keys)
        weights = m.node("Softmax", [scores], axis=-1)
        if self.chance(0.2):
            zero = m.constant(np.float32(0))
            weights = m.node("Where", [m.node("IsNaN", [weights]), zero, weights])
        y = m.node("MatMul", [weights, v])
        if self.flat:
            y = m.node("Reshape", [y, m.ints(self.batch, self.heads, self.rows, self.values)])
        if self.chance(0.5):
            return y
        y = m.node("Transpose", [y], perm=[0, 2, 1, 3])
        return m.node("Reshape", [y, m.ints(self.batch, self.rows, self.heads * self.values)])


def model(seed, blocks):
    m = Model(seed)
    return m.case([Block(m, f"b{i}").write() for i in range(blocks)])
