"""com.microsoft: attention with its caches, rotary embeddings and the embedding layer."""

import numpy as np

from foreign import contrib
from ops_attention import rotated
from ops_norm import normalized, softmax
from ops_unary import maybe
from tolerance import near

FLOATS = ["float", "float16"]


def heads_of(x, heads):
    """[B, S, heads * size] as [B, heads, S, size]."""
    return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)


def merged(x):
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


def attend(q, k, v, scale, bias=0.0, allowed=True):
    """All of [B, heads, ..]; the scores and the merged result."""
    share = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, share, 1), np.repeat(v, share, 1)
    scores = q @ k.swapaxes(-1, -2) * scale + bias
    weights = softmax(np.where(allowed, scores, -np.inf), -1)
    return scores, merged(weights @ v)


def causal(queries, keys, past):
    return np.arange(keys) <= np.arange(queries)[:, None] + past


def size_of(*arrays):
    return 2 + 2 * sum(np.max(np.abs(a), initial=0) for a in arrays)


@contrib("MultiHeadAttention", FLOATS)
def multi_head(c):
    batch, heads, size = c.integer(1, 2), c.integer(1, 3), c.integer(1, 5)
    queries, keys = c.integer(1, 5), c.integer(1, 6)
    past = c.integer(1, 4) if c.chance(0.3) else 0
    width = heads * size
    q, k = c.draw((batch, queries, width)), c.draw((batch, keys, width))
    v = c.draw((batch, keys, width))
    if c.chance(0.5):
        bias = c.draw((3 * width,))
        q, k, v = q + bias[:width], k + bias[width:2 * width], v + bias[2 * width:]
    else:
        c.skip()
    q, k, v = (heads_of(t, heads) for t in (q, k, v))
    c.skip()
    added = np.zeros(())
    if c.chance(0.4):
        added = c.draw((batch, heads, queries, keys + past))
    else:
        c.skip()
    if past:
        k = np.concatenate([c.draw((batch, heads, past, size)), k], 2)
        v = np.concatenate([c.draw((batch, heads, past, size)), v], 2)
    one_way = c.chance(0.3)
    c.attr(num_heads=heads, **({"unidirectional": 1} if one_way else {}))
    scale = 1 / np.sqrt(size)
    if c.chance(0.3):
        scale = float(np.float32(c.uniform(0.2, 1)))
        c.attr(scale=scale)
    scores, y = attend(q, k, v, scale, added, causal(queries, keys + past, past) if one_way else True)
    scale_of = size_of(v, scores)
    if not past:
        return near(y, scale_of)
    c.outputs(3)
    return [near(y, scale_of), near(k, 4 + np.abs(k)), near(v, 4 + np.abs(v))]


@contrib("Attention", FLOATS)
def attention(c):
    batch, heads, size, steps = c.integer(1, 2), c.integer(1, 3), c.integer(1, 4), c.integer(1, 5)
    inner, width = c.integer(1, 6), heads * size
    v_width = heads * c.integer(1, 4) if c.chance(0.3) else width
    x, w = c.draw((batch, steps, inner)), c.draw((inner, 2 * width + v_width), scale=0.5)
    every = x @ w
    if c.chance(0.6):
        every = every + c.draw((2 * width + v_width,))
    else:
        c.skip()
    c.attr(num_heads=heads)
    if v_width != width:
        c.attr(qkv_hidden_sizes=[width, width, v_width])
    q, k, v = (heads_of(t, heads) for t in np.split(every, [width, 2 * width], -1))
    added, least = np.zeros(()), -10000.0
    if c.chance(0.4):  # lengths of the rows
        lengths = c.rng.integers(1, steps + 1, batch)
        c.input(lengths.astype(np.int32))
        added = np.where(np.arange(steps) < lengths[:, None], 0, least)[:, None, None]
    one_way = c.chance(0.4)
    c.attr(**({"unidirectional": 1} if one_way else {}))
    scores, y = attend(q, k, v, 1 / np.sqrt(size), added, causal(steps, steps, 0) if one_way else True)
    return near(y, size_of(v, np.where(scores < -1000, 0, scores)) * (1 + np.max(np.abs(every))))


@contrib("GroupQueryAttention", FLOATS)
def group_query(c):
    """A cache that grows: the past's length is its extent, and every row is full."""
    batch, groups, half, steps = c.integer(1, 2), c.integer(1, 2), c.integer(1, 3), c.integer(1, 4)
    heads, size = groups * c.integer(1, 3), 2 * half
    past = c.integer(1, 4) if c.chance(0.5) else 0
    if past:
        steps = 1
    total = past + steps
    q = heads_of(c.draw((batch, steps, heads * size)), heads)
    k = heads_of(c.draw((batch, steps, groups * size)), groups)
    v = heads_of(c.draw((batch, steps, groups * size)), groups)
    old = None
    if past:
        old = c.draw((batch, groups, past, size)), c.draw((batch, groups, past, size))
    else:
        c.skip(), c.skip()
    c.input(np.full(batch, total - 1, np.int32))
    c.input(np.array(total, np.int32), True)
    rotary = c.chance(0.5)
    c.attr(num_heads=heads, kv_num_heads=groups)
    if rotary:
        interleaved = c.chance(0.5)
        angles = c.rng.uniform(-3, 3, (total + 3, half))
        cos = c.input(np.cos(angles).astype(c.dtype()))
        sin = c.input(np.sin(angles).astype(c.dtype()))
        at = np.broadcast_to(np.arange(past, total), (batch, steps))
        c.attr(do_rotary=1, **({"rotary_interleaved": 1} if interleaved else {}))
        q, k = (rotated(t.transpose(0, 2, 1, 3), cos[at], sin[at], half, interleaved).transpose(0, 2, 1, 3)
                for t in (q, k))
    if old:
        k, v = np.concatenate([old[0], k], 2), np.concatenate([old[1], v], 2)
    allowed = causal(steps, total, past)
    if c.chance(0.3):
        window = c.integer(1, 4)
        c.attr(local_window_size=window)
        allowed = allowed & (np.arange(total) > np.arange(steps)[:, None] + past - window)
    scores, y = attend(q, k, v, 1 / np.sqrt(size), 0.0, allowed)
    c.outputs(3)
    return [near(y, size_of(v, scores)), near(k, 4 + np.abs(k)), near(v, 0 * v)]


@contrib("RotaryEmbedding", FLOATS)
def rotary(c):
    """Position ids of one offset ([1]) or of every token."""
    batch, heads, steps, half = c.integer(1, 2), c.integer(1, 3), c.integer(1, 5), c.integer(1, 4)
    size = 2 * half
    flat = c.chance(0.6)
    x = c.draw((batch, steps, heads * size) if flat else (batch, heads, steps, size))
    x = x.reshape(batch, steps, heads, size) if flat else x.transpose(0, 2, 1, 3)
    rows = steps + c.integer(0, 4)
    if c.chance(0.5):
        start = c.integer(0, rows - steps)
        c.input(np.array([start], np.int64))
        at = np.broadcast_to(np.arange(start, start + steps), (batch, steps))
    else:
        at = c.rng.integers(0, rows, (batch, steps))
        c.input(at.astype(np.int64))
    angles = c.rng.uniform(-3, 3, (rows, half))
    cos, sin = c.input(np.cos(angles).astype(c.dtype())), c.input(np.sin(angles).astype(c.dtype()))
    interleaved = c.chance(0.5)
    c.attr(**({"interleaved": 1} if interleaved else {}))
    y = rotated(x, cos[at], sin[at], half, interleaved)
    y = y.reshape(batch, steps, -1) if flat else y.transpose(0, 2, 1, 3)
    return near(y, np.max(np.abs(x)))


@contrib("EmbedLayerNormalization", FLOATS)
def embed(c):
    batch, steps, width = c.integer(1, 3), c.integer(1, 6), c.integer(5, 16)
    words, places = c.integer(2, 9), steps + c.integer(0, 3)
    ids = c.rng.integers(0, words, (batch, steps))
    c.input(ids.astype(np.int32))
    segmented = c.chance(0.5)
    segments = c.rng.integers(0, 2, (batch, steps))
    if segmented:
        c.input(segments.astype(np.int32))
    else:
        c.skip()
    total = c.draw((words, width))[ids]
    total = total + c.draw((places, width))[:steps]
    if segmented:
        total = total + c.draw((2, width))[segments]
    else:
        c.skip()
    gamma, beta = c.draw((width,)), c.draw((width,))
    masked = c.chance(0.5)
    counts = np.zeros(batch, np.int32)
    if masked:
        mask = (np.arange(steps) < c.rng.integers(0, steps + 1, batch)[:, None]).astype(np.int32)
        c.input(mask)
        counts = mask.sum(1).astype(np.int32)
    eps = maybe(c, "epsilon", float(np.float32(1e-12)), 1e-3, 0.1)
    y, size = normalized(total, (2,), eps)
    c.outputs(2)
    return [near(y * gamma + beta, (1 + size) * (1 + np.abs(gamma)) + np.abs(beta)), counts]
