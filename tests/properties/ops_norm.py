"""Normalisations, softmaxes and losses."""

import numpy as np

import domains
from ops_unary import maybe
from registry import op
from tolerance import exact, near


def epsilon(c, default=1e-5):
    return maybe(c, "epsilon", float(np.float32(default)), 1e-4, 0.1)


def spread(size, shape):
    """One value per channel, shaped to broadcast over (N, C, ...)."""
    return np.reshape(size, (-1,) + (1,) * (len(shape) - 2))


@op("BatchNormalization", also=(14,))
def batch_norm(c):
    shape = (c.integer(1, 3), c.integer(1, 5)) + c.shape(0, 3, 60, zero=0)
    channels = (shape[1],)
    x = c.draw(shape)
    second = "T1" if c.version >= 15 else "T"
    third = "T2" if c.version >= 15 else "U" if c.version >= 14 else "T"
    scale, bias = c.draw(channels, second), c.draw(channels, second)
    mean = c.draw(channels, third)
    var = c.draw(channels, third, domain=domains.between, low=0.3, high=2)
    eps = epsilon(c)
    c.attr(**({"momentum": 0.7} if c.chance(0.3) else {}))
    wide = [spread(v, shape) for v in (scale, bias, mean, var)]
    if c.version < 14 or c.chance(0.7):
        factor = wide[0] / np.sqrt(wide[3] + eps)
        return near((x - wide[2]) * factor + wide[1],
                    (np.abs(x) + np.abs(wide[2])) * np.abs(factor) + np.abs(wide[1]))
    return batch_norm_training(c, x, wide, mean, var, eps)


def batch_norm_training(c, x, wide, mean, var, eps):
    c.attr(training_mode=1)
    momentum = c.attrs.get("momentum", float(np.float32(0.9)))
    momentum = float(np.float32(momentum))
    axes = tuple(i for i in range(x.ndim) if i != 1)
    now, spread_now = x.mean(axes), x.var(axes)
    shape = x.shape
    factor = wide[0] / np.sqrt(spread(spread_now, shape) + eps)
    y = (x - spread(now, shape)) * factor + wide[1]
    c.outputs(3)
    size = (np.abs(x) + np.abs(spread(now, shape))) * np.abs(factor) + np.abs(wide[1])
    # A variance is known to the rounding of the squares, and y is as uncertain as its root.
    return [near(y, size * (1 + np.max(np.abs(factor)))),
            near(mean * momentum + now * (1 - momentum), 1 + np.abs(mean)),
            near(var * momentum + spread_now * (1 - momentum), 1 + np.abs(var))]


def normalized(x, axes, eps, centred=True):
    """Normalised values, and the scale of their error."""
    mean = x.mean(axes, keepdims=True) if centred else 0.0
    factor = 1 / np.sqrt(np.mean((x - mean) ** 2, axes, keepdims=True) + eps)
    top = np.max(np.abs(x), axes, keepdims=True) + np.abs(mean)
    return (x - mean) * factor, top * factor * (1 + top * factor)


@op("InstanceNormalization", oldest=1)
def instance_norm(c):
    shape = (c.integer(1, 2), c.integer(1, 4)) + c.shape(1, 3, 60, zero=0)
    x = c.draw(shape)
    scale, bias = c.draw((shape[1],)), c.draw((shape[1],))
    y, size = normalized(x, tuple(range(2, len(shape))), epsilon(c))
    scale, bias = spread(scale, shape), spread(bias, shape)
    return near(y * scale + bias, size * np.abs(scale) + np.abs(bias))


@op("GroupNormalization", also=(18,))
def group_norm(c):
    groups, per = c.integer(1, 3), c.integer(1, 3)
    shape = (c.integer(1, 2), groups * per) + c.shape(1, 3, 40, zero=0)
    x = c.draw(shape)
    by_channel = c.version >= 21  # before, a scale and a bias belong to a group
    count = shape[1] if by_channel else groups
    scale, bias = c.draw((count,)), c.draw((count,))
    c.attr(num_groups=groups)
    y, size = normalized(x.reshape(shape[0], groups, -1), (2,), epsilon(c))
    scale, bias = (spread(v if by_channel else np.repeat(v, per), shape) for v in (scale, bias))
    return near(y.reshape(shape) * scale + bias,
                size.repeat(x[0].size // groups, 2).reshape(shape) * np.abs(scale) + np.abs(bias))


@op("LayerNormalization")
def layer_norm(c):
    shape = c.shape(1, 4, zero=0)
    x = c.draw(shape)
    axis = c.axis(len(shape))
    c.attr(**({"axis": axis} if axis != -1 or c.chance(0.4) else {}))
    axis %= len(shape)
    scale = c.draw(c.choose([shape[axis:]] * 2 + [c.broadcast_of(shape[axis:], False)]))
    bias = c.draw(shape[axis:]) if c.chance(0.6) else np.zeros(())
    eps = epsilon(c)
    y, size = normalized(x, tuple(range(axis, len(shape))), eps)
    result = near(y * scale + bias, np.broadcast_to(size, shape) * np.abs(scale) + np.abs(bias))
    if c.chance(0.6):
        return result
    c.outputs(3)
    axes = tuple(range(axis, len(shape)))
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    top = np.max(np.abs(x), axes, keepdims=True)
    deviation = 1 / np.sqrt(var + eps)
    return [result, near(mean, top), near(deviation, deviation * (1 + (top * deviation) ** 2))]


def rms_norm(c):
    shape = c.shape(1, 4, zero=0)
    x = c.draw(shape)
    axis = c.axis(len(shape))
    c.attr(**({"axis": axis} if axis != -1 or c.chance(0.4) else {}))
    axis %= len(shape)
    scale = c.draw(shape[axis:], "V")
    y, size = normalized(x, tuple(range(axis, len(shape))), epsilon(c), centred=False)
    return near(y * scale, np.broadcast_to(size, shape) * np.abs(scale))


op("RMSNormalization")(rms_norm)


@op("MeanVarianceNormalization", oldest=9)
def mean_variance(c):
    shape = (c.integer(1, 3), c.integer(1, 4), c.integer(2, 5), c.integer(1, 5))
    axes = (0, 2, 3)
    if c.chance(0.6):
        shape = c.shape(2, 4, zero=0)
        axes = tuple(sorted(int(a) for a in c.rng.permutation(len(shape))[:c.integer(1, len(shape))]))
        c.attr(axes=list(axes))
    x = c.draw(shape)
    x = c.rewrite(x + np.indices(shape).sum(0) % 2)  # no line is constant, but where it has one element
    mean = x.mean(axes, keepdims=True)
    deviation = np.sqrt(np.mean((x - mean) ** 2, axes, keepdims=True))
    y = (x - mean) / (deviation + 1e-9)
    if np.min(deviation, initial=1) < 1e-3:
        return exact(np.zeros(shape)) if np.all(deviation == 0) else None
    top = np.max(np.abs(x), axes, keepdims=True) / deviation
    return near(y, top * (1 + top))


@op("LpNormalization", oldest=1)
def lp_norm(c):
    shape = c.shape(1, 4, zero=0)
    x = c.draw(shape, domain=domains.nonzero)
    axis, p = c.axis(len(shape)), c.choose([1, 2])
    c.attr(**({"axis": axis} if axis != -1 or c.chance(0.5) else {}))
    c.attr(**({"p": p} if p != 2 or c.chance(0.5) else {}))
    y = x / (np.sum(np.abs(x) ** p, axis, keepdims=True) ** (1 / p))
    return near(y, np.abs(y))


def softmax(x, axis):
    e = np.exp(x - np.max(x, axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def softmax_case(name):
    @op(name, oldest=1, also=(11, 1))
    def make(c):
        shape = c.shape(1, 4, zero=0)
        x = c.draw(shape, scale=c.choose([1.0, 6.0]))
        axis = c.axis(len(shape)) if c.version >= 11 else c.integer(0, len(shape) - 1)
        default = -1 if c.version >= 13 else 1
        if default == 1 and len(shape) == 1:
            axis = 0
        c.attr(**({"axis": axis} if axis != default or c.chance(0.5) else {}))
        flat = x
        if c.version < 13:  # everything from the axis on is one line
            flat, axis = x.reshape(int(np.prod(shape[:axis % len(shape)])), -1), 1
        if name == "Hardmax":
            y = (np.arange(flat.shape[axis]).reshape([-1 if i == axis % flat.ndim else 1
                                                      for i in range(flat.ndim)])
                 == np.expand_dims(np.argmax(flat, axis), axis)).astype(np.float64)
            return exact(y.reshape(shape))
        y = softmax(flat, axis)
        top = np.max(np.abs(flat))
        if name == "LogSoftmax":
            y = flat - flat.max(axis, keepdims=True)
            y = y - np.log(np.exp(y).sum(axis, keepdims=True))
            return near(y.reshape(shape), np.broadcast_to(1 + top, shape))
        return near(y.reshape(shape), (y * (1 + top)).reshape(shape))


for _name in ("Softmax", "LogSoftmax", "Hardmax"):
    softmax_case(_name)


def reduced(c, loss, weight):
    """Sum, mean or nothing, and the attribute."""
    how = c.choose(["mean", "sum", "none", None])
    c.attr(**({"reduction": how} if how else {}))
    if how == "none":
        return loss
    return loss.sum() / weight.sum() if how in ("mean", None) else loss.sum()


def targets(c, shape, classes):
    """Labels, now and then the ignored one; operand, labels, which count."""
    labels = c.rng.integers(0, classes, shape)
    keep = np.ones(shape, bool)
    if c.chance(0.5):
        ignored = c.choose([-1, 0, 255])
        c.attr(ignore_index=ignored)
        if ignored != 0:
            labels = np.where(c.rng.random(shape) < 0.3, ignored, labels)
            labels.reshape(-1)[:1] = 0
        elif classes > 1:
            labels.reshape(-1)[:1] = 1
        else:
            del c.attrs["ignore_index"]
            ignored = -100
        keep = labels != ignored
    c.input(labels.astype(c.dtype("Tind")))
    return np.where(keep, labels, 0), keep


def loss_of(c, log_probability, shape, labels_and_keep, magnitude):
    labels, keep = labels_and_keep
    weight = keep.astype(np.float64)
    if c.chance(0.5):
        table = c.draw((shape[1],), domain=domains.between, low=0.2, high=2)
        weight = weight * table[labels]
    picked = np.take_along_axis(log_probability, np.expand_dims(labels, 1), 1)[:, 0]
    loss = reduced(c, -picked * weight, weight)
    size = magnitude * np.max(weight) * (1 if c.attrs.get("reduction", "mean") != "sum" else weight.size)
    return near(loss, size)


@op("NegativeLogLikelihoodLoss")
def nll_loss(c):
    shape = (c.integer(1, 4), c.integer(1, 5)) + c.shape(0, 2, 12, zero=0)
    x = c.draw(shape)
    labels = targets(c, shape[:1] + shape[2:], shape[1])
    return loss_of(c, x, shape, labels, np.max(np.abs(x)))


@op("SoftmaxCrossEntropyLoss")
def softmax_loss(c):
    shape = (c.integer(1, 4), c.integer(1, 5)) + c.shape(0, 2, 12, zero=0)
    x = c.draw(shape)
    labels = targets(c, shape[:1] + shape[2:], shape[1])
    y = x - x.max(1, keepdims=True)
    y = y - np.log(np.exp(y).sum(1, keepdims=True))
    top = 1 + np.max(np.abs(x))
    loss = loss_of(c, y, shape, labels, 2 * top)
    if c.chance(0.5):
        return loss
    c.outputs(2)
    return [loss, near(y, np.broadcast_to(top, shape))]


@op("Dropout", oldest=1)
def dropout(c):
    """Inference: the input itself, and a mask of ones."""
    x = c.draw(c.shape())
    if c.has_input(1) and c.chance(0.6):
        c.input(np.array(c.uniform(0, 0.9), np.float32), True)
        if c.chance(0.5):
            c.input(np.array(False), True)
    elif c.has_attribute("ratio") and c.chance(0.5):
        c.attr(ratio=c.uniform(0, 0.9))
    if c.version < 7:
        c.attr(is_test=1)
    if c.version < 7 or c.chance(0.5):  # older forms leave the mask unfilled
        return exact(x)
    c.outputs(2)
    # Before opset 10 the mask has the input's type.
    return [exact(x), np.ones(x.shape, bool) if c.version >= 10 else exact(np.ones(x.shape))]
