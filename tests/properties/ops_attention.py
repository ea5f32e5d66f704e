"""Attention and rotary embeddings of the standard."""

import numpy as np
from onnx import TensorProto, helper

import domains
from dtypes import precise
from ops_norm import softmax
from reference import evaluate
from registry import op
from tolerance import near


@op("Attention")
def attention(c):
    """The evaluator in float64, but for two things: it takes the root of 'scale' in float32, so the
    queries are scaled here; and it shows the raw product (mode 0) behind the softcap."""
    batch, kv = c.integer(1, 2), c.integer(1, 2)
    heads = kv * c.integer(1, 3)
    queries, keys, past = c.integer(1, 5), c.integer(1, 6), 0
    dk, dv = c.integer(1, 6), c.integer(1, 6)
    c.types["T2"] = c.dtype("T1")
    flat = c.chance(0.4)
    for shape, h in (((batch, heads, queries, dk), heads), ((batch, kv, keys, dk), kv),
                     ((batch, kv, keys, dv), kv)):
        c.draw((shape[0], shape[2], h * shape[3]) if flat else shape, "T1")
    if flat:
        c.attr(q_num_heads=heads, kv_num_heads=kv)
    cache = c.choose(["none", "none", "past", "nonpad"])
    if cache == "nonpad" and not c.has_input(6):
        cache = "past"
    if cache == "past":
        past = c.integer(1, 4)
    mask(c, batch, heads, queries, keys + past)
    if cache == "past":
        c.draw((batch, kv, past, dk), "T1"), c.draw((batch, kv, past, dv), "T1")
        c.outputs(3)
    elif cache == "nonpad":
        c.skip(), c.skip()
        # A request may have no key at all: its rows are 0, as those that a mask leaves no key.
        c.input(c.rng.integers(0, keys + 1, batch).astype(np.int64))
    attributes(c)
    if cache == "past" and c.chance(0.4):
        c.outputs(4)
        c.attr(qk_matmul_output_mode=c.integer(0, 3))
    scale = float(np.float32(c.attrs["scale"])) * np.sqrt(dk) if "scale" in c.attrs else 1.0
    scaled = {"inputs": {0: precise(c.value(0)) * scale}, "scale": None, "softmax_precision": None}
    wanted = list(evaluate(c, **scaled))
    if len(wanted) == 4 and not c.attrs["qk_matmul_output_mode"]:
        wanted[3] = evaluate(c, softcap=None, **scaled)[3]
    return [near(w, 2 + np.max(np.abs(np.where(np.isfinite(w), w, 0)), initial=0)) for w in wanted]


def mask(c, batch, heads, queries, total):
    kind = c.choose(["none", "none", "bool", "float"])
    if kind == "none":
        c.skip()
        return
    shape = c.broadcast_of((batch, heads), True) + (queries, total)
    if kind == "bool":
        c.types["U"] = np.dtype(np.bool_)
        c.input(c.rng.random(shape) < c.choose([0.3, 0.7, 1.0]))
    elif c.chance(0.4):  # numbers that hide keys, whole rows among them
        dtype = c.dtype("T1")
        c.input(np.where(c.rng.random(shape) < 0.5, c.rng.uniform(-2, 2, shape), -np.inf).astype(dtype))
    else:
        c.draw(shape, "T1")


def attributes(c):
    c.attr(**({"is_causal": 1} if c.chance(0.4) else {}))
    c.attr(**({"scale": c.uniform(0.2, 1.5)} if c.chance(0.4) else {}))
    c.attr(**({"softcap": c.uniform(0.5, 5)} if c.chance(0.3) else {}))
    c.attr(**({"softmax_precision": 1} if c.chance(0.2) and c.dtype("T1").itemsize < 8 else {}))
    for name in ("left_window_size", "right_window_size"):
        if c.has_attribute(name) and c.chance(0.2):
            c.attr(**{name: c.integer(0, 3)})


@op("RotaryEmbedding")
def rotary(c):
    batch, heads, steps = c.integer(1, 2), c.integer(1, 3), c.integer(1, 5)
    half = c.integer(1, 4)
    partial = c.chance(0.4)
    size = 2 * half + (2 * c.integer(1, 2) if partial else 0)
    flat = c.chance(0.5)
    x = c.draw((batch, steps, heads * size) if flat else (batch, heads, steps, size))
    x = x.reshape(batch, steps, heads, size) if flat else x.transpose(0, 2, 1, 3)
    indexed = c.chance(0.6)
    rows = c.integer(steps, steps + 4)
    shape = (rows, half) if indexed else (batch, steps, half)
    cos, sin = c.draw(shape, domain=domains.between, low=-1, high=1), c.draw(
        shape, domain=domains.between, low=-1, high=1)
    if indexed:
        at = c.rng.integers(0, rows, (batch, steps)).astype(np.int64)
        c.input(at)
        cos, sin = cos[at], sin[at]
    interleaved = c.chance(0.5)
    c.attr(**({"interleaved": 1} if interleaved else {}), **({"num_heads": heads} if flat else {}),
           **({"rotary_embedding_dim": 2 * half} if partial else {}))
    y = rotated(x, cos, sin, half, interleaved)
    y = y.reshape(batch, steps, -1) if flat else y.transpose(0, 2, 1, 3)
    return near(y, np.max(np.abs(x)) + 0 * y)


def rotated(x, cos, sin, half, interleaved):
    """x: (batch, steps, heads, size); cos, sin: (batch, steps, half)."""
    cos, sin = cos[:, :, None], sin[:, :, None]
    y = x.copy()
    first, second = (slice(0, 2 * half, 2), slice(1, 2 * half, 2)) if interleaved else (
        slice(0, half), slice(half, 2 * half))
    y[..., first] = cos * x[..., first] - sin * x[..., second]
    y[..., second] = sin * x[..., first] + cos * x[..., second]
    return y


def body(c, kind, name):
    """A modifier: scores * factor + shift, or the tanh of that."""
    factor = float(np.float32(c.uniform(0.5, 1.5)))
    value = helper.make_tensor("factor", kind, [], [factor])
    nodes = [helper.make_node("Mul", [name, "factor"], ["product"]),
             helper.make_node("Tanh", ["product"], ["result"])]
    info = [helper.make_tensor_value_info(n, kind, [None] * 4) for n in (name, "result")]
    graph = helper.make_graph(nodes, "modifier", info[:1], info[1:], [value])
    return graph, lambda x: np.tanh(x * factor)


@op("ai.onnx.preview.FlexAttention", oldest=1)
def flex_attention(c):
    kinds = [t for t in c.schema.type_constraints if t.type_param_str.startswith("T")]
    for constraint in kinds:
        c.types[constraint.type_param_str] = c.dtype(kinds[0].type_param_str)
    dtype = c.dtype(kinds[0].type_param_str)
    batch, kv = c.integer(1, 2), c.integer(1, 2)
    heads = kv * c.integer(1, 2)
    queries, keys, dk, dv = (c.integer(1, 5) for _ in range(4))
    q = c.draw((batch, heads, queries, dk), dtype)
    k = np.repeat(c.draw((batch, kv, keys, dk), dtype), heads // kv, 1)
    v = np.repeat(c.draw((batch, kv, keys, dv), dtype), heads // kv, 1)
    scale = 1 / np.sqrt(dk)
    if c.chance(0.5):
        scale = float(np.float32(c.uniform(0.2, 1.5)))
        c.attr(scale=scale)
    kind = TensorProto.DOUBLE if dtype == np.float64 else TensorProto.FLOAT
    scores = q @ k.swapaxes(-1, -2) * scale
    if c.chance(0.5):
        graph, function = body(c, kind, "scores")
        c.attr(score_mod=graph)
        scores = function(scores)
    weights = softmax(scores, -1)
    if c.chance(0.4):
        graph, function = body(c, kind, "weights")
        c.attr(prob_mod=graph)
        weights = function(weights)
    return near(weights @ v, 2 * np.max(np.abs(v)) * (1 + np.max(np.abs(scores))))
