"""Matrix products and what is made of them."""

import numpy as np

import domains
import extremes
from dtypes import is_float
from ops_unary import maybe
from registry import op
from tolerance import exact, near


def matrix_shapes(c, zero=0.05):
    """Shapes of two operands of a matrix product in numpy's sense."""
    m, k, n = (c.choose([1, 2, 3, 5, 8, 17, 33]) for _ in range(3))
    k = 0 if c.chance(zero) else c.choose([1, 2, 5, 16, 31, 64, 70])
    batch = c.shape(0, 2, 12, zero=0)
    a, b = c.broadcast_of(batch) + (m, k), c.broadcast_of(batch) + (k, n)
    if c.chance(0.1):
        a = (k,)
    if c.chance(0.1):
        b = (k,)
    return a, b


def product(a, b):
    if is_float(a.dtype):
        return near(np.matmul(a, b), np.matmul(np.abs(a), np.abs(b)))
    return exact(np.matmul(a.astype(np.int64), b.astype(np.int64)))


@op("MatMul", oldest=1)
def matmul(c):
    a, b = matrix_shapes(c)
    x, y = c.draw(a), c.draw(b)
    result = product(x, y)
    return result if is_float(c.dtype()) else exact(result.values.astype(c.dtype()))


@op("Gemm")
def gemm(c):
    m, n = c.choose([1, 2, 3, 7, 16, 33]), c.choose([1, 2, 5, 8, 19])
    k = 0 if c.chance(0.04) else c.choose([1, 3, 8, 30, 65])
    ta, tb = c.chance(0.4), c.chance(0.5)
    a, b = c.draw((k, m) if ta else (m, k)), c.draw((n, k) if tb else (k, n))
    c.attr(**({"transA": 1} if ta else {}), **({"transB": 1} if tb else {}))
    whole = not is_float(c.dtype())
    alpha = 1.0 if whole else maybe(c, "alpha", 1.0, -2, 2)
    beta = 1.0 if whole else maybe(c, "beta", 1.0, -2, 2)
    a, b = (a.T if ta else a), (b.T if tb else b)
    bias = np.zeros(())
    if c.version < 11 or c.chance(0.7):
        bias = c.draw(c.choose([(m, n), (n,), (1, n), (m, 1), (1, 1), (1,), ()]))
    if whole:
        y = a.astype(np.int64) @ b.astype(np.int64) + bias.astype(np.int64)
        return exact(y.astype(c.dtype()))
    return near(alpha * (a @ b) + beta * bias,
                np.abs(alpha) * (np.abs(a) @ np.abs(b)) + np.abs(beta * bias))


@op("MatMulInteger")
def matmul_integer(c):
    m, k, n = c.integer(1, 9), c.choose([1, 4, 15, 40]), c.integer(1, 9)
    batch = c.shape(0, 2, 9, zero=0)
    a = c.draw(c.broadcast_of(batch) + (m, k), "T1", domain=domains.whole_range).astype(np.int64)
    b = c.draw(c.broadcast_of(batch) + (k, n), "T2", domain=domains.whole_range).astype(np.int64)
    if c.chance(0.7):
        rows = c.chance(0.3)
        zero = c.input(extremes.zero_points(c, (m,) if rows else (), c.dtype("T1"))).astype(np.int64)
        a = a - (zero[:, None] if rows else zero)
        if c.chance(0.7):
            columns = c.chance(0.4)
            b = b - c.input(extremes.zero_points(c, (n,) if columns else (), c.dtype("T2"))).astype(np.int64)
    elif c.chance(0.3):
        c.skip()
        b = b - c.input(extremes.zero_points(c, (), c.dtype("T2"))).astype(np.int64)
    return np.matmul(a, b).astype(np.int32)


EQUATIONS = [
    "ij,jk->ik", "ij,jk", "bij,bjk->bik", "ij->ji", "ij->i", "ij->",
    "i,j->ij", "i,i->", "ii->i", "ii", "bhqd,bhkd->bhqk", "bqhd,bkhd->bhqk",
    "...ij,...jk->...ik", "...i->...", "ij,ij->ij", "abc,cd,de->abe", "i,ij,j->",
    "bij, bj -> bi", "aib,ajb->abij", "ba->ab", "abc->cb", "...a,a...->...",
]


@op("Einsum")
def einsum(c):
    equation = EQUATIONS[c.integer(0, len(EQUATIONS) - 1)]
    sizes = {letter: c.choose([1, 2, 3, 5, 7]) for letter in "abcdehijkq"}
    dots = c.shape(0, 2, 6, zero=0)
    operands = []
    for term in equation.split("->")[0].split(","):
        shape = []
        for part in term.strip().replace("...", "."):
            shape += list(dots) if part == "." else [sizes[part]]
        operands.append(c.draw(tuple(shape)))
    c.attr(equation=equation)
    if not is_float(c.dtype()):
        return exact(np.einsum(equation, *[o.astype(np.int64) for o in operands]).astype(c.dtype()))
    return near(np.einsum(equation, *operands), np.einsum(equation, *[np.abs(o) for o in operands]))


@op("Det")
def det(c):
    n = c.integer(1, 5)
    x = c.draw(c.shape(0, 2, 8, zero=0.05) + (n, n))
    scale = np.prod(np.sqrt(np.sum(x * x, -1)), -1) * n  # Hadamard's bound, times the elimination's steps
    return near(np.linalg.det(x), scale)
