"""A random graph from its seed."""

import numpy as np

import steps_layers
import steps_more
import steps_simple
from graph import Graph, bounded

FAMILIES = (steps_simple.STEPS, steps_simple.STEPS, steps_layers.STEPS, steps_layers.STEPS, steps_more.STEPS)


def start(g):
    """Inputs; one graph of eight has a batch axis, one of eight a state."""
    kind = g.integer(0, 7)
    g.changes = kind in (0, 1)
    if kind == 0:
        g.batch = g.integer(2, 5)
    for k in range(g.integer(1, 2)):
        shape = [g.integer(1, 6) for _ in range(g.choose((1, 2, 3, 3, 4, 4)))]
        if g.batch is not None:
            shape = [g.batch] + (shape[1:] or [g.integer(1, 6)])
        g.input(f"x{k}", g.numbers(shape))
    if kind == 1:
        g.input("past", np.zeros(g.choose(list(g.values.values())).shape, np.float32))


def finish(g):
    """A next value for the state."""
    if not any(name not in g.feeds for name in g.values):
        g.add("Relu", ["x0"], lambda a: np.maximum(a, 0))
    if "past" in g.feeds:
        shape = g.feeds["past"].shape
        fits = [n for n, v in g.values.items() if v.shape == shape and n != "past"]
        made = g.add("Add", ["past", g.choose(fits)], np.add)
        g.states.append(("past", g.add("Tanh", [made], np.tanh)))


def grow(g):
    names = list(g.values)
    recent = names[-4:] if g.chance(0.8) else names
    x = g.choose(recent)
    made = g.choose(g.choose(FAMILIES))(g, x, g.values[x])
    if made is not None and made in g.values:
        bounded(g, made)


def grown(seed):
    g = Graph(seed)
    start(g)
    for _ in range(g.integer(3, 25)):
        grow(g)
    finish(g)
    return g
