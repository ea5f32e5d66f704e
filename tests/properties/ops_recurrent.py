"""RNN, GRU and LSTM, and attention over a recurrent state, written as loops over time."""

import numpy as np

from ops_unary import sigmoid, softplus
from registry import op
from tolerance import near

ACTIVATIONS = {
    "Tanh": lambda x, a, b: np.tanh(x), "Sigmoid": lambda x, a, b: sigmoid(x),
    "Relu": lambda x, a, b: np.maximum(x, 0), "Softsign": lambda x, a, b: x / (1 + np.abs(x)),
    "Softplus": lambda x, a, b: softplus(x), "LeakyRelu": lambda x, a, b: np.where(x < 0, a * x, x),
    "Elu": lambda x, a, b: np.where(x < 0, a * np.expm1(np.minimum(x, 0)), x),
    "HardSigmoid": lambda x, a, b: np.clip(a * x + b, 0, 1), "Affine": lambda x, a, b: a * x + b,
    "ScaledTanh": lambda x, a, b: a * np.tanh(b * x),
}
USES_ALPHA = ("LeakyRelu", "Elu", "HardSigmoid", "Affine", "ScaledTanh")
USES_BETA = ("HardSigmoid", "Affine", "ScaledTanh")
BOUNDED = ("HardSigmoid", "Sigmoid", "Softsign", "Tanh")  # of gates: others let the state grow at will


class Recurrent:
    """What the three ops have in common: operands, directions, lengths, layout."""

    def __init__(self, c, gates, defaults):
        self.c = c
        self.steps, self.batch = c.integer(1, 6), c.integer(1, 3)
        self.inner, self.hidden = c.integer(1, 6), c.integer(1, 6)
        self.direction = c.choose(["forward", "reverse", "bidirectional"])
        self.count = 2 if self.direction == "bidirectional" else 1
        self.batch_first = c.has_attribute("layout") and c.chance(0.3)
        x_shape = (self.steps, self.batch, self.inner)
        x = c.draw(self.outer(x_shape))
        self.x = np.swapaxes(x, 0, 1) if self.batch_first else x
        scale = 0.5
        self.w = c.draw((self.count, gates * self.hidden, self.inner), scale=scale)
        self.r = c.draw((self.count, gates * self.hidden, self.hidden), scale=scale)
        self.bias = np.zeros((self.count, 2 * gates * self.hidden))
        if c.chance(0.6):
            self.bias = c.draw(self.bias.shape)
        else:
            c.skip()
        self.lengths = np.full(self.batch, self.steps)
        if c.chance(0.5):
            self.lengths = c.rng.integers(1, self.steps + 1, self.batch)
            c.input(self.lengths.astype(np.int32))
        else:
            c.skip()
        c.attr(hidden_size=self.hidden)
        if self.direction != "forward" or c.chance(0.3):
            c.attr(direction=self.direction)
        if self.batch_first:
            c.attr(layout=1)
        self.clip = None
        if c.chance(0.2):
            self.clip = float(np.float32(c.uniform(0.3, 2)))
            c.attr(clip=self.clip)
        self.functions = self.activations(defaults)

    def outer(self, shape):
        return (shape[1], shape[0], *shape[2:]) if self.batch_first else shape

    def state(self):
        """An initial state, given or zero: (directions, batch, hidden)."""
        shape = (self.count, self.batch, self.hidden)
        if self.c.chance(0.5):
            self.c.skip()
            return np.zeros(shape)
        given = self.c.draw(self.outer(shape))
        return np.swapaxes(given, 0, 1) if self.batch_first else given

    def activations(self, defaults):
        c = self.c
        if c.chance(0.6):
            return [[lambda x, n=n: ACTIVATIONS[n](x, 0, 0) for n in defaults] for _ in range(self.count)]
        names = [c.choose(BOUNDED if d == "Sigmoid" else sorted(ACTIVATIONS))
                 for _ in range(self.count) for d in defaults]
        alphas = [float(np.float32(c.uniform(0.1, 0.9))) for n in names if n in USES_ALPHA]
        betas = [float(np.float32(c.uniform(0.1, 0.9))) for n in names if n in USES_BETA]
        c.attr(activations=names, **({"activation_alpha": alphas} if alphas else {}),
               **({"activation_beta": betas} if betas else {}))
        made, alphas, betas = [], iter(alphas), iter(betas)
        for n in names:
            a = next(alphas) if n in USES_ALPHA else 0
            b = next(betas) if n in USES_BETA else 0
            made.append(lambda x, n=n, a=a, b=b: ACTIVATIONS[n](x, a, b))
        size = len(defaults)
        return [made[d * size:(d + 1) * size] for d in range(self.count)]

    def clipped(self, x):
        return x if self.clip is None else np.clip(x, -self.clip, self.clip)

    def run(self, states, step):
        """step(direction, x, states) -> states, the first of which is the output. All outputs."""
        y = np.zeros((self.steps, self.count, self.batch, self.hidden))
        last = [s.copy() for s in states]
        for d in range(self.count):
            backwards = self.direction == "reverse" or d == 1
            for b in range(self.batch):
                length = int(self.lengths[b])
                now = [s[d, b] for s in states]
                for t in (range(length - 1, -1, -1) if backwards else range(length)):
                    now = step(d, self.x[t, b], now)
                    y[t, d, b] = now[0]
                for s, value in zip(last, now):
                    s[d, b] = value
        if self.batch_first:
            return [y.transpose(2, 0, 1, 3)] + [np.swapaxes(s, 0, 1) for s in last]
        return [y] + last

    def results(self, outputs):
        # An error of a gate grows with the length of its sum and from step to step.
        size = (1 + self.steps) * (1 + max(np.max(np.abs(o), initial=0) for o in outputs))
        self.c.outputs(len(outputs))
        return [near(o, size) for o in outputs]


@op("RNN")
def rnn(c):
    m = Recurrent(c, 1, ["Tanh"])
    h = m.state()
    n = m.hidden

    def step(d, x, state):
        bias = m.bias[d, :n] + m.bias[d, n:]
        return [m.functions[d][0](m.clipped(m.w[d] @ x + m.r[d] @ state[0] + bias))]

    return m.results(m.run([h], step))


@op("GRU")
def gru(c):
    m = Recurrent(c, 3, ["Sigmoid", "Tanh"])
    h = m.state()
    n = m.hidden
    linear = c.chance(0.5)
    c.attr(**({"linear_before_reset": 1} if linear else {}))

    def step(d, x, state):
        f, g = m.functions[d]
        wx, wb, rb = m.w[d] @ x, m.bias[d, :3 * n], m.bias[d, 3 * n:]
        z = f(m.clipped(wx[:n] + m.r[d, :n] @ state[0] + wb[:n] + rb[:n]))
        r = f(m.clipped(wx[n:2 * n] + m.r[d, n:2 * n] @ state[0] + wb[n:2 * n] + rb[n:2 * n]))
        if linear:
            inner = r * (m.r[d, 2 * n:] @ state[0] + rb[2 * n:])
        else:
            inner = m.r[d, 2 * n:] @ (r * state[0]) + rb[2 * n:]
        new = g(m.clipped(wx[2 * n:] + inner + wb[2 * n:]))
        return [(1 - z) * new + z * state[0]]

    return m.results(m.run([h], step))


@op("LSTM")
def lstm(c):
    m = Recurrent(c, 4, ["Sigmoid", "Tanh", "Tanh"])
    h, cell = m.state(), m.state()
    n = m.hidden
    peep = np.zeros((m.count, 3 * n))
    if c.chance(0.4):
        peep = c.draw(peep.shape)
    coupled = c.chance(0.2)
    c.attr(**({"input_forget": 1} if coupled else {}))

    def step(d, x, state):
        f, g, out = m.functions[d]
        gates = m.w[d] @ x + m.r[d] @ state[0] + m.bias[d, :4 * n] + m.bias[d, 4 * n:]
        i = f(m.clipped(gates[:n] + peep[d, :n] * state[1]))
        forget = 1 - i if coupled else f(m.clipped(gates[2 * n:3 * n] + peep[d, 2 * n:] * state[1]))
        new = forget * state[1] + i * g(m.clipped(gates[3 * n:]))
        o = f(m.clipped(gates[n:2 * n] + peep[d, n:2 * n] * new))
        return [o * out(new), new]

    return m.results(m.run([h, cell], step))


@op("LinearAttention")
def linear_attention(c):
    rule = c.choose(["linear", "gated", "delta", "gated_delta"])
    batch, steps, kv = c.integer(1, 2), c.integer(1, 5), c.integer(1, 3)
    heads = kv * c.integer(1, 2)
    dk, dv = c.integer(1, 4), c.integer(1, 4)
    q = c.draw((batch, steps, heads * dk)).reshape(batch, steps, heads, dk)
    k = c.draw((batch, steps, kv * dk), scale=0.5).reshape(batch, steps, kv, dk)
    v = c.draw((batch, steps, kv * dv)).reshape(batch, steps, kv, dv)
    state = np.zeros((batch, kv, dk, dv))
    if c.chance(0.5):
        state = c.draw(state.shape, "S")
    else:
        c.skip()
    decay, beta = np.zeros((batch, steps, kv, 1)), np.ones((batch, steps, kv))
    if rule.startswith("gated"):
        each = c.chance(0.5)
        shape = (batch, steps, kv * dk) if each else (batch, steps, kv)
        decay = -np.abs(c.draw(shape))
        decay = c.rewrite(decay).reshape(batch, steps, kv, -1)
    else:
        c.skip()
    if rule.endswith("delta"):
        beta = c.draw((batch, steps, kv if c.chance(0.6) else 1))
        beta = np.broadcast_to(c.rewrite(sigmoid(beta)), (batch, steps, kv))
    c.attr(q_num_heads=heads, kv_num_heads=kv)
    c.attr(**({"update_rule": rule} if rule != "gated_delta" or c.chance(0.5) else {}))
    scale = 1 / np.sqrt(dk)
    if c.chance(0.4):
        scale = float(np.float32(c.uniform(0.2, 2)))
        c.attr(scale=scale)
    y = np.zeros((batch, steps, heads, dv))
    for t in range(steps):
        state = state * np.exp(decay[:, t])[..., None] if rule.startswith("gated") else state
        value = v[:, t]
        if rule.endswith("delta"):
            value = beta[:, t][..., None] * (value - np.einsum("bhkv,bhk->bhv", state, k[:, t]))
        state = state + np.einsum("bhk,bhv->bhkv", k[:, t], value)
        shared = np.repeat(state, heads // kv, 1)
        y[:, t] = scale * np.einsum("bhkv,bhk->bhv", shared, q[:, t])
    size = 1 + np.max(np.abs(y)) + np.max(np.abs(state))
    c.outputs(2)
    return [near(y.reshape(batch, steps, -1), 4 * size), near(state, 4 * size)]
