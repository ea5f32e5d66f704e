"""Random windows over spatial axes, and the plain loops over them that references are made of."""

import itertools

import numpy as np


class Window:
    """Kernel, strides, dilations and pads of a case's spatial axes."""

    def __init__(self, c, spatial, kernel, dilated=True, auto=True):
        rank = len(kernel)
        self.kernel = kernel
        self.strides = [c.choose([1, 1, 2, 3]) for _ in kernel]
        self.dilations = [c.choose([1, 1, 1, 2, 3]) if dilated else 1 for _ in kernel]
        self.reach = [(k - 1) * d + 1 for k, d in zip(kernel, self.dilations)]
        self.mode = c.choose(["NOTSET"] * 5 + ["SAME_UPPER", "SAME_LOWER", "VALID"]) if auto else "NOTSET"
        self.begin, self.end = [0] * rank, [0] * rank
        for i in range(rank):
            if self.mode == "NOTSET":
                self.begin[i], self.end[i] = (c.integer(0, min(2, kernel[i] - 1)) for _ in range(2))
            elif self.mode.startswith("SAME"):
                out = -(-spatial[i] // self.strides[i])
                total = max((out - 1) * self.strides[i] + self.reach[i] - spatial[i], 0)
                less, more = total // 2, total - total // 2
                upper = self.mode == "SAME_UPPER"
                self.begin[i], self.end[i] = (less, more) if upper else (more, less)

    def fits(self, spatial):
        return all(s + b + e >= r for s, b, e, r in zip(spatial, self.begin, self.end, self.reach))

    def attributes(self, c, kernel=True):
        attrs = {"kernel_shape": self.kernel} if kernel else {}
        attrs.update({"strides": self.strides} if set(self.strides) != {1} or c.chance(0.3) else {})
        attrs.update({"dilations": self.dilations} if set(self.dilations) != {1} else {})
        if self.mode != "NOTSET":
            attrs["auto_pad"] = self.mode
        elif any(self.begin + self.end) or c.chance(0.3):
            attrs["pads"] = self.begin + self.end
        return attrs

    def outputs(self, spatial, ceil=False):
        sizes = []
        for s, b, e, r, t in zip(spatial, self.begin, self.end, self.reach, self.strides):
            free = s + b + e - r
            size = (-(-free // t) if ceil else free // t) + 1
            if ceil and (size - 1) * t >= s + b:  # no window starts in the padding at the end
                size -= 1
            sizes.append(size)
        return sizes

    def positions(self):
        return itertools.product(*[range(k) for k in self.kernel])

    def pick(self, padded, at, out):
        """The element at kernel position `at` of every window. padded: axes (N, C, spatial...)."""
        where = [slice(a * d, a * d + (o - 1) * t + 1, t)
                 for a, d, o, t in zip(at, self.dilations, out, self.strides)]
        return padded[(slice(None), slice(None), *where)]

    def pad(self, x, value, extra=None):
        extra = extra or [0] * len(self.begin)
        widths = [(0, 0), (0, 0)] + [(b, e + m) for b, e, m in zip(self.begin, self.end, extra)]
        return np.pad(x, widths, constant_values=value)


def random_window(c, low=1, high=3, largest=3, **options):
    """(spatial extents, window) that fit each other."""
    while True:
        rank = c.choose([low, 2, 2, high])
        spatial = [c.integer(1, 9 if rank < 3 else 5) for _ in range(rank)]
        window = Window(c, spatial, [c.integer(1, largest) for _ in range(rank)], **options)
        if window.fits(spatial):
            return spatial, window


def convolve(x, w, window, group):
    """x: (N, C, ...), w: (M, C / group, ...)."""
    out = window.outputs(x.shape[2:])
    padded = window.pad(x, 0)
    n, m = x.shape[0], w.shape[0]
    y = np.zeros((n, m, *out), x.dtype)
    per, take = m // group, x.shape[1] // group
    for at in window.positions():
        piece = window.pick(padded, at, out)
        for g in range(group):
            weights = w[(slice(g * per, (g + 1) * per), slice(None), *at)]
            y[:, g * per:(g + 1) * per] += np.einsum("nc...,mc->nm...", piece[:, g * take:(g + 1) * take],
                                                     weights)
    return y
