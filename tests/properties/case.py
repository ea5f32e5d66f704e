"""One random instance of an op: what its generator calls. A generator chooses shapes, attributes and
inputs, and returns the expected outputs (see tolerance.py; a plain array means "function" for floats)."""

import numpy as np
from onnx import helper

import domains
from dtypes import COMPUTE, STORAGE, is_float, numpy_type, precise
from sources import Source, kind_of, repeated_shape
from tolerance import Expected

# Domains whose values may be alike.
REPEATABLE = (domains.ordinary, domains.between, domains.nonzero, domains.whole_range)

SIZES = (1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 17, 19, 32, 33)


class Case:
    """prefix: starts every name of the instance, so that instances share one graph."""

    def __init__(self, schema, index, seed, storage=False):
        self.schema, self.index, self.seed = schema, index, seed
        self.rng = np.random.default_rng(seed)
        self.prefix = f"i{index}_"
        self.storage = storage
        self.types, self.attrs = {}, {}
        self.feeds, self.constants, self.order = {}, {}, []
        self.nodes, self.output_names, self.output_count = [], None, 1
        self.left_out = ()
        # A fifth of the instances look as most models do: which operands are constants, none, all but
        # the first, or all, and everything dense. In the others each operand has a source of its own.
        self.constant_from = self.choose([99] * 6 + [1] * 3 + [0])
        self.plain = index % 5 == 4
        self.free, self.sources, self.kinds = {}, [], {}

    # Choices.
    def choose(self, options):
        return options[int(self.rng.integers(len(options)))]

    def chance(self, p):
        return self.rng.random() < p

    def integer(self, low, high):
        """Both ends included."""
        return int(self.rng.integers(low, high + 1))

    def uniform(self, low, high):
        return round(float(self.rng.uniform(low, high)), 4)

    @property
    def version(self):
        return self.schema.since_version

    def has_attribute(self, name):
        return name in self.schema.attributes

    def has_input(self, position):
        return position < len(self.schema.inputs)

    def allowed(self, parameter):
        """numpy types that the schema's type parameter and the support table have in common."""
        for constraint in self.schema.type_constraints:
            if constraint.type_param_str == parameter:
                names = [t[7:-1] for t in constraint.allowed_type_strs if t.startswith("tensor(")]
                known = [n for n in names if n in COMPUTE or (self.storage and n in STORAGE)]
                return [numpy_type(n) for n in sorted(known)]
        raise KeyError(f"{self.schema.name} has no type parameter {parameter}")

    def dtype(self, parameter="T", among=None):
        """The type chosen for a parameter. Instances take the allowed ones in turn, float32 more often."""
        if parameter not in self.types:
            options = self.allowed(parameter)
            if among:
                options = [t for t in options if among(t)]
            if np.dtype(np.float32) in options and self.index % 3 == 1:
                self.types[parameter] = np.dtype(np.float32)
            else:
                turn = self.index - (self.index + 1) // 3
                self.types[parameter] = options[turn % len(options)]
        return self.types[parameter]

    def shape(self, low=0, high=4, most=400, zero=0.06):
        """Random extents: now and then an axis is empty."""
        rank = self.integer(low, high)
        dims = [self.choose(SIZES) for _ in range(rank)]
        while np.prod(dims, dtype=np.int64) > most:
            dims[int(np.argmax(dims))] = self.choose((1, 2, 3))
        if rank and self.chance(zero):
            dims[self.integer(0, rank - 1)] = 0
        return tuple(dims)

    def broadcast_of(self, shape, missing=True):
        """A shape that broadcasts to the given one."""
        dims = [1 if self.chance(0.3) else d for d in shape]
        return tuple(dims[self.integer(0, len(dims)) if missing and self.chance(0.3) else 0:])

    def axis(self, rank, low=0):
        """An axis in [low, rank), half of the time counted from the end."""
        axis = self.integer(low, rank - 1)
        return axis - rank if self.chance(0.4) else axis

    # Building.
    def input(self, array, constant=None):
        """The next operand; returns its values in the precision of references."""
        array = np.asarray(array)
        name = f"{self.prefix}x{len(self.order)}"
        if constant is None:
            self.free[name] = len(self.order)
            constant = self.plain and len([n for n in self.order if n]) >= self.constant_from
        (self.constants if constant else self.feeds)[name] = array
        self.order.append(name)
        return precise(array)

    def draw(self, shape, parameter="T", domain=domains.ordinary, constant=None, **options):
        """The next operand with random values of a type parameter's type (or of a given type)."""
        dtype = self.dtype(parameter) if isinstance(parameter, str) else np.dtype(parameter)
        few = None
        if constant is None and not self.plain and domain in REPEATABLE and self.next_kind() == "repeated":
            few = repeated_shape(self, shape)
        if few is None:
            return self.input(domain(self.rng, shape, dtype, **options), constant)
        return self.input(np.broadcast_to(domain(self.rng, few, dtype, **options), shape), constant)

    def next_kind(self):
        """What the operand that is made next comes from (sources.py)."""
        return kind_of(self.schema.name, self.index, len(self.order))

    def rewrite(self, values):
        """Gives the operand that was just made other values of its type."""
        store = self.feeds if self.order[-1] in self.feeds else self.constants
        store[self.order[-1]] = np.asarray(values).astype(store[self.order[-1]].dtype)
        return precise(store[self.order[-1]])

    def value(self, position):
        """The array of an operand."""
        name = self.order[position]
        return self.feeds[name] if name in self.feeds else self.constants[name]

    def skip(self):
        """The next operand is left out."""
        self.order.append("")

    def attr(self, **attrs):
        self.attrs.update(attrs)

    def outputs(self, count):
        self.output_count = count

    def leave_out(self, *positions):
        """Outputs that the node does not name."""
        self.left_out = positions

    def node(self, op, inputs, outputs, domain="", **attrs):
        """One node of an instance that is more than one node; names get the prefix where they lack it."""
        own = [n if not n or n.startswith(self.prefix) else self.prefix + n for n in inputs]
        out = [n if not n else self.prefix + n for n in outputs]
        self.nodes.append(helper.make_node(op, own, out, domain=domain, **attrs))
        return out

    def result(self, *names):
        self.output_names = [self.prefix + n for n in names]

    def finish(self, expected):
        """Called by the framework with what the generator returned."""
        if self.output_names is None:
            self.output_names = ["" if i in self.left_out else f"{self.prefix}y{i}"
                                 for i in range(self.output_count)]
        if not self.nodes:
            while self.order and not self.order[-1]:
                self.order.pop()
            self.nodes = [helper.make_node(self.schema.name, self.order, self.output_names,
                                           domain=self.schema.domain, **self.attrs)]
        expected = list(expected) if isinstance(expected, (list, tuple)) else [expected]
        self.expected = [as_expected(e) for e in expected]
        self.find_sources()

    def find_sources(self):
        """Puts nodes in front of the operands that do not come as they are."""
        for name, position in self.free.items():
            constant = name in self.constants
            array = (self.constants if constant else self.feeds).pop(name)
            source = Source(self, name, array, constant, self.opset)
            source.make("fed" if self.plain else kind_of(self.schema.name, self.index, position))
            self.feeds.update(source.feeds), self.constants.update(source.constants)
            self.sources += source.nodes
            self.kinds[position] = source.kinds

    def output_type(self, position):
        """numpy type of an output where the schema decides it; None otherwise."""
        wanted = self.expected[position]
        if wanted is not None and not is_float(wanted.values.dtype):
            return wanted.values.dtype
        if len(self.nodes) == 1 and position < len(self.schema.outputs):
            return self.types.get(self.schema.outputs[position].type_str)
        return None

    def typed(self, array, parameter="T"):
        return np.asarray(array).astype(self.dtype(parameter))


def as_expected(value):
    if value is None or isinstance(value, Expected):
        return value
    value = np.asarray(value)
    return Expected(value, "function" if is_float(value.dtype) else "exact")
