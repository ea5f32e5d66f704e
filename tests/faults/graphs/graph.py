"""A random graph as it grows: its nodes as ONNX, and what each computes, in float64.

Every node has a function of its operands' arrays, so that the whole graph can be evaluated again: with other
inputs, as the next run of a model with states, or with noise, which tells what roundings may do to a result.
"""

import numpy as np
from onnx import TensorProto, helper

from onnx_models import constant, info, whole

# Values stay of this order, so that one tolerance holds everywhere.
LARGEST = 8


class Noise:
    """A random function in place of rounding to a format: it takes every element off by up to `unit` of it, and by up to
    `least` where it is smaller than the format's normal numbers. As with roundings, equal elements are off equally,
    wherever they are, and zeros stay. So do arrays without axes: exponents and limits are numbers that every format has,
    or nothing random.

    With `fused`, about half of the arrays stay as they are, since what a fused kernel hands on in a register is not
    rounded to the format: of two equal values only one may be, and their difference is then a rounding, not 0."""

    def __init__(self, unit, least, seed, fused=False):
        self.unit, self.least, self.fused = unit, least, fused
        self.rng = np.random.default_rng(seed)
        self.salts = self.rng.integers(0, 2**63, 2, np.uint64) | np.uint64(1)

    def parts(self, array):
        """A number of [-1, 1) for each element, by a hash of its bits."""
        bits = array.astype(np.float32).view(np.uint32).astype(np.uint64)
        for salt in self.salts:
            bits = (bits ^ salt) * np.uint64(0x9E3779B97F4A7C15)
            bits ^= bits >> np.uint64(31)
        return (bits >> np.uint64(11)) * 2.0**-52 - 1

    def added(self, array):
        if not array.ndim or (self.fused and self.rng.random() < 0.5):
            return array
        size = np.where(array == 0, 0, np.maximum(self.unit * np.abs(array), self.least))
        return array + size * self.parts(array)


class Graph:
    def __init__(self, seed):
        self.rng = np.random.default_rng([20251125, seed])
        self.nodes, self.constants, self.program = [], [], []
        self.feeds, self.values, self.known, self.types = {}, {}, {}, {}
        # What the ways of compiling and running it depend on.
        self.batch = None        # extent of the first axis of every value, which no node mixes
        self.states = []         # pairs of an input and the value that is its next one
        self.changes = False     # it is also evaluated with other inputs than those it grew with
        self.smooth = True       # small changes of a value change results little
        self.opset = 18
        self.noise = None        # while it is evaluated with noise

    # Choices.

    def integer(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def chance(self, probability):
        return self.rng.random() < probability

    def choose(self, options):
        return options[self.integer(0, len(options) - 1)]

    def numbers(self, shape, low=-1, high=1):
        return self.rng.uniform(low, high, shape).astype(np.float32)

    def axis(self, v):
        """One of a value's axes that nodes may mix, or None."""
        first = 0 if self.batch is None else 1
        return self.integer(first, v.ndim - 1) if v.ndim > first else None

    # Inputs, constants and nodes.

    def input(self, name, array):
        self.feeds[name] = array
        if array.dtype == np.float32:
            self.values[name] = array.astype(np.float64)
        else:
            self.known[name] = array

    def constant(self, array):
        array = np.asarray(array)
        name = f"c{len(self.constants)}"
        self.constants.append(constant(name, array, array.dtype))
        self.known[name] = array.astype(np.float64) if array.dtype == np.float32 else array
        return name

    def integers(self, *values):
        return self.constant(np.array(values, np.int64))

    def array(self, name):
        return self.values[name] if name in self.values else self.known[name]

    def add(self, op, inputs, function, hidden=False, domain="", **attrs):
        """The name of the node's result, which is `function` of the inputs' arrays. A hidden result is of
        another type than f32, or stands for itself no value that other nodes may take."""
        return self.add_many(op, inputs, [function], hidden, domain, **attrs)[0]

    def add_many(self, op, inputs, functions, hidden=False, domain="", more_outputs=0, **attrs):
        """The names of the node's results; it has `more_outputs` behind them that nobody reads."""
        names = [f"v{len(self.program) + k}" for k in range(len(functions))]
        unread = [f"unread{len(self.nodes)}_{k}" for k in range(more_outputs)]
        self.nodes.append(helper.make_node(op, inputs, names + unread, name=f"n{len(self.nodes)}", domain=domain,
                                           **attrs))
        for name, function in zip(names, functions):
            operands = [i for i in inputs if i]
            self.program.append((name, function, operands, hidden))
            result = function(*(self.array(i) for i in operands))
            (self.known if hidden else self.values)[name] = result
        return names

    def subgraph(self, nodes, inputs, outputs, constants=()):
        return helper.make_graph(nodes, "body", inputs, outputs, list(constants))

    # Evaluation.

    def rounded(self, array):
        """An array as it is where it is stored: itself, or off by noise. `evaluate` does this to what nodes give, and
        functions of nodes with a body to its constants and to all values that the body makes."""
        return array if self.noise is None else self.noise.added(array)

    def evaluate(self, feeds, noise=None):
        """All values for these inputs, and with a Noise what roundings may make of them."""
        self.noise = noise
        # Codes and lists of integers have no roundings.
        values = {name: self.rounded(a) if a.dtype == np.float64 else a for name, a in self.known.items()
                  if name not in self.feeds}
        for name, array in feeds.items():
            values[name] = self.rounded(array.astype(np.float64)) if array.dtype == np.float32 else array
        for name, function, operands, hidden in self.program:
            result = function(*(values[i] for i in operands))
            values[name] = result if hidden else self.rounded(result)
        self.noise = None
        return values

    def outputs(self):
        """Values that nothing reads, at most four, and one of the last: also where something reads it."""
        read = {name for _, _, operands, _ in self.program for name in operands}
        made = [n for n in self.values if n not in self.feeds]
        ends = [n for n in made if n not in read][:4] or made[-1:]
        ends += [n for n in made[-3:] if n not in ends][:1]
        return ends + [present for _, present in self.states if present not in ends]

    def model(self, ends):
        inputs = []
        for name, array in self.feeds.items():
            shape = list(array.shape)
            if self.batch is not None:
                shape[0] = "n"
            inputs.append(info(name, shape, helper.np_dtype_to_tensor_dtype(array.dtype)))
        results = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ends]
        return whole(self.nodes, inputs, results, self.constants, self.opset).SerializeToString()


def bounded(g, name):
    """The value, or its hyperbolic tangent where it is large."""
    v = g.values[name]
    if v.size and not np.abs(v).max() <= LARGEST:
        return g.add("Tanh", [name], np.tanh)
    return name
