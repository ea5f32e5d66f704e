"""Ops of one operand, element by element."""

import math

import numpy as np

import domains
from dtypes import is_float
from registry import op
from tolerance import exact, near, rounded

ERF = np.vectorize(math.erf, otypes=[np.float64])


def sigmoid(x):
    return np.where(x >= 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


# name -> (reference, lower, upper) of ops whose result is a library function of the input.
FUNCTIONS = {
    "Acos": (np.arccos, -1, 1), "Acosh": (np.arccosh, 1, 9), "Asin": (np.arcsin, -1, 1),
    "Asinh": (np.arcsinh, -9, 9), "Atan": (np.arctan, -9, 9), "Atanh": (np.arctanh, -0.98, 0.98),
    "Cos": (np.cos, -9, 9), "Cosh": (np.cosh, -6, 6), "Erf": (ERF, -4, 4), "Exp": (np.exp, -9, 9),
    "Log": (np.log, 0.01, 20), "Sigmoid": (sigmoid, -15, 15), "Sin": (np.sin, -9, 9),
    "Sinh": (np.sinh, -6, 6), "Softplus": (softplus, -15, 15), "Sqrt": (np.sqrt, 0, 20),
    "Reciprocal": (np.reciprocal, 0.1, 9), "Tan": (np.tan, -1.4, 1.4), "Tanh": (np.tanh, -9, 9),
    "Softsign": (lambda x: x / (1 + np.abs(x)), -9, 9),
    "Mish": (lambda x: x * np.tanh(softplus(x)), -9, 9),
    "HardSwish": (lambda x: x * np.clip(x / 6 + 0.5, 0, 1), -9, 9),
}


def add_function(name, function, low, high):
    @op(name, oldest=6)
    def make(c):
        extreme = name not in ("HardSwish", "Mish", "Softsign") and c.chance(0.2)
        if extreme:  # also where the result is infinite, not a number, or next to nothing
            x = c.draw(c.shape(), domain=domains.extreme)
        else:
            x = c.draw(c.shape(), domain=domains.between, low=low, high=high)
        with np.errstate(all="ignore"):
            # x / 6 + 1/2 cancels near -3, like the tails of Mish's sum of exponentials.
            return near(function(x), np.abs(x)) if name in ("HardSwish", "Mish") else function(x)


for _name, (_function, _low, _high) in FUNCTIONS.items():
    add_function(_name, _function, _low, _high)


# Ops that no rounding enters.
EXACT = {
    "Abs": np.abs, "Neg": np.negative, "Sign": np.sign, "Ceil": np.ceil, "Floor": np.floor,
    "Round": np.rint, "Relu": lambda x: np.maximum(x, 0),
}


def add_exact(name, function):
    @op(name, oldest=6)
    def make(c):
        domain = domains.special if c.chance(0.2) and is_float(c.dtype()) else domains.ordinary
        if name == "Round" and c.chance(0.5):
            domain = domains.halves  # ties go to the even number
        x = c.draw(c.shape(), domain=domain)
        with np.errstate(all="ignore"):
            return exact(function(x))


for _name, _function in EXACT.items():
    add_exact(_name, _function)


@op("Not")
def logical_not(c):
    return ~c.draw(c.shape(), np.bool_)


@op("BitwiseNot")
def bitwise_not(c):
    return ~c.draw(c.shape(), domain=domains.whole_range)


@op("IsNaN")
def is_nan(c):
    return np.isnan(c.draw(c.shape(), "T1", domain=domains.special))


@op("IsInf")
def is_inf(c):
    x = c.draw(c.shape(), "T1", domain=domains.special)
    negative, positive = c.choose([(1, 1), (1, 0), (0, 1), (0, 0)])
    if (negative, positive) != (1, 1) or c.chance(0.5):
        c.attr(detect_negative=negative, detect_positive=positive)
    return (np.isposinf(x) & bool(positive)) | (np.isneginf(x) & bool(negative))


@op("Celu")
def celu(c):
    x = c.draw(c.shape(), domain=domains.ordinary, scale=3.0)
    alpha = maybe(c, "alpha", 1.0, 0.3, 3)
    return near(np.maximum(x, 0) + np.minimum(0, alpha * np.expm1(x / alpha)), alpha)


@op("Elu", oldest=6)
def elu(c):
    x = c.draw(c.shape(), scale=3.0)
    alpha = maybe(c, "alpha", 1.0, 0.3, 3)
    return near(np.where(x < 0, alpha * np.expm1(x), x), alpha)


@op("Selu", oldest=6)
def selu(c):
    x = c.draw(c.shape(), scale=3.0)
    alpha = maybe(c, "alpha", float(np.float32(1.67326319217681884765625)), 1, 2)
    gamma = maybe(c, "gamma", float(np.float32(1.05070102214813232421875)), 1, 2)
    return near(gamma * np.where(x <= 0, alpha * np.expm1(x), x), alpha * gamma)


@op("LeakyRelu", oldest=6)
def leaky_relu(c):
    x = c.draw(c.shape(), scale=3.0)
    alpha = maybe(c, "alpha", float(np.float32(0.01)), -1, 2)
    return rounded(np.where(x < 0, alpha * x, x))


@op("HardSigmoid", oldest=6)
def hard_sigmoid(c):
    x = c.draw(c.shape(), scale=3.0)
    alpha = maybe(c, "alpha", float(np.float32(0.2)), 0.05, 1)
    beta = maybe(c, "beta", 0.5, -0.5, 1)
    return near(np.clip(alpha * x + beta, 0, 1), np.abs(alpha * x) + abs(beta))


@op("ThresholdedRelu")
def thresholded_relu(c):
    alpha = maybe(c, "alpha", 1.0, -1, 2)
    x = c.draw(c.shape(), domain=domains.away_from, points=[alpha])
    return exact(np.where(x > alpha, x, 0))


@op("Shrink")
def shrink(c):
    lambd = maybe(c, "lambd", 0.5, 0, 2)
    bias = maybe(c, "bias", 0.0, 0, 1)
    if is_float(c.dtype()):
        x = c.draw(c.shape(), domain=domains.away_from, points=[lambd, -lambd])
        return near(np.where(x < -lambd, x + bias, np.where(x > lambd, x - bias, 0)), np.abs(x) + bias)
    bias = float(round(bias))
    c.attr(bias=bias)
    x = c.draw(c.shape())
    signed = x.astype(np.int64)
    if np.dtype(c.dtype()).kind == "u":  # x - bias of an unsigned number below the bias is not defined
        bias = 0.0
        c.attr(bias=bias)
    values = np.where(signed < -lambd, signed + bias, np.where(signed > lambd, signed - bias, 0))
    return exact(values.astype(c.dtype()))


@op("Swish")
def swish(c):
    x = c.draw(c.shape(), scale=3.0)
    alpha = maybe(c, "alpha", 1.0, 0.3, 3)
    return near(x * sigmoid(alpha * x), np.abs(x))


@op("Gelu")
def gelu(c):
    x = c.draw(c.shape(), scale=2.0)
    if c.chance(0.5):
        c.attr(approximate="tanh")
        return near(gelu_tanh(x), np.abs(x))
    c.attr(**({"approximate": "none"} if c.chance(0.5) else {}))
    return near(gelu_erf(x), np.abs(x))


def gelu_erf(x):
    return 0.5 * x * (1 + ERF(x / math.sqrt(2)))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def maybe(c, name, default, low, high):
    """A float attribute, given or left at its default; its value as float32 holds it."""
    if c.chance(0.3):
        return default
    value = float(np.float32(c.uniform(low, high)))
    c.attr(**{name: value})
    return value


@op("Identity", storage=True, oldest=1)
def identity(c):
    named = [t.type_param_str for t in c.schema.type_constraints]
    return exact(c.draw(c.shape(), "V" if "V" in named else "T"))
