"""Fourier transforms and windows."""

import numpy as np

from dtypes import element, is_float, numpy_type
from registry import op
from tolerance import near


@op("DFT")
def dft(c):
    rank = c.integer(2, 4)
    dims = [c.integer(1, 9) for _ in range(rank - 1)]
    inverse = c.chance(0.4)
    onesided = c.chance(0.35)
    is_real = c.chance(0.5) if not onesided else not inverse
    axis = c.integer(0, rank - 2)
    length = c.integer(1, 12) if c.chance(0.5) else None
    if onesided and inverse:  # the input holds the first half of a symmetric spectrum
        length = c.integer(1, 10)
        dims[axis] = length // 2 + 1
    x = c.draw((*dims, 1 if is_real else 2), "T1")
    signal = x[..., 0] if is_real else x[..., 0] + 1j * x[..., 1]
    if length is None:
        c.skip()
        length = dims[axis]
    else:
        c.input(np.array(length, np.int64), True)
    given = axis - rank if c.chance(0.4) else axis
    if c.has_attribute("axis"):
        c.attr(axis=given)
    elif given != -2 or c.chance(0.5):
        c.input(np.array(given, np.int64), True)
    c.attr(**({"inverse": 1} if inverse else {}), **({"onesided": 1} if onesided else {}))
    y = transformed(signal, length, axis, inverse, onesided)
    return near(y, np.abs(signal).sum(axis).max() * np.ones(()))


def transformed(signal, length, axis, inverse, onesided):
    if onesided and inverse:
        return np.fft.irfft(signal, length, axis)[..., None]
    y = (np.fft.ifft if inverse else np.fft.fft)(signal, length, axis)
    if onesided:
        y = np.take(y, range(length // 2 + 1), axis)
    return np.stack([y.real, y.imag], -1)


@op("STFT")
def stft(c):
    batch, total, step = c.integer(1, 2), c.integer(8, 40), c.integer(1, 7)
    length = c.integer(1, 8)
    is_real = c.chance(0.7)
    x = c.draw((batch, total, 1 if is_real else 2), "T1")
    c.input(np.array(step, np.int64), True)
    window, form = np.ones(length), c.choose(["window", "length", "both"])
    if form == "length":
        c.skip()
    else:
        window = c.draw((length,), "T1")
    if form != "window":
        c.input(np.array(length, np.int64), True)
    onesided = is_real and c.chance(0.6)
    if not onesided or c.chance(0.4):
        c.attr(onesided=int(onesided))
    signal = x[..., 0] if is_real else x[..., 0] + 1j * x[..., 1]
    frames = 1 + (total - length) // step
    cut = np.stack([signal[:, f * step:f * step + length] * window for f in range(frames)], 1)
    y = np.fft.fft(cut, axis=-1)
    y = y[..., :length // 2 + 1] if onesided else y
    return near(np.stack([y.real, y.imag], -1), np.abs(cut).sum(-1).max())


def window_op(name, function):
    @op(name)
    def make(c):
        size = c.integer(1, 30)
        c.input(np.array(size).astype(c.dtype("T1")), True)
        periodic = c.chance(0.6)
        c.attr(**({"periodic": int(periodic)} if not periodic or c.chance(0.4) else {}))
        kind = np.dtype(np.float32)
        if c.chance(0.6):
            kind = c.choose([t for t in c.allowed("T2") if is_float(t)])
            c.attr(output_datatype=element(kind))
        c.types["T2"] = kind
        if not periodic and size == 1:
            size = 2  # the denominator is 0; excluded
            c.rewrite(np.array(size))
        y = function(2 * np.pi * np.arange(size) / (size if periodic else size - 1))
        return near(y, 1)


window_op("HannWindow", lambda t: 0.5 - 0.5 * np.cos(t))
window_op("HammingWindow", lambda t: 25 / 46 - 21 / 46 * np.cos(t))
window_op("BlackmanWindow", lambda t: 0.42 - 0.5 * np.cos(t) + 0.08 * np.cos(2 * t))


@op("MelWeightMatrix")
def mel_weights(c):
    """Plain loops over the standard's text: bins are floors, so the edges are kept away from whole bins."""
    while True:
        bins, length, rate = c.integer(1, 8), c.choose([16, 32, 63, 64]), c.choose([8000, 16000])
        low, high = c.uniform(0, 500), c.uniform(2000, rate / 2)
        low, high = float(np.float32(low)), float(np.float32(high))
        mel = 2595 * np.log10(1 + np.array([low, high]) / 700)
        points = mel[0] + np.arange(bins + 2) * (mel[1] - mel[0]) / (bins + 2)
        position = (length + 1) * (700 * (10 ** (points / 2595) - 1)) / rate
        if np.all(np.abs(position - np.rint(position)) > 1e-3):
            break
    for value, kind in ((bins, "T1"), (length, "T1"), (rate, "T1"), (low, "T2"), (high, "T2")):
        dtype = c.dtype("T1") if kind == "T1" else np.dtype(np.float32)
        c.input(np.array(value).astype(dtype), True)
    kind = np.dtype(np.float32)
    if c.chance(0.5):
        kind = c.choose([numpy_type(n) for n in ("float", "double", "float16")])
        c.attr(output_datatype=element(kind))
    c.types["T3"] = kind
    at = np.floor(position).astype(int)
    y = np.zeros((length // 2 + 1, bins))
    for i in range(bins):
        left, middle, right = at[i:i + 3]
        for j in range(left, middle + 1) if middle > left else ():
            y[j, i] = (j - left) / (middle - left)
        if middle == left:
            y[middle, i] = 1
        for j in range(middle, right):
            y[j, i] = (right - j) / (right - middle)
    return near(y, 1)
