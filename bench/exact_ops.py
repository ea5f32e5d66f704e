"""What ONNX says of an op, in float64 and int64: for quantized_exact.py.

Codes of 8 bits, their scales and their products by a scale are exact in float64, and so are sums of products
of codes; what rounds, does so at 2^-53. The ops below are those that the standard's own evaluator (onnx.reference)
would take too long for, or would round to the model's types; it evaluates all others, fed in float64.
"""
import warnings

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

FLOATS = {TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BFLOAT16}
BLOCK = 1 << 24  # elements of unfolded windows that are held at once


def wide(array):
    """Floats in float64, everything else as it is."""
    array = np.asarray(array)
    return array.astype(np.float64) if array.dtype.kind == "f" or array.dtype.name == "bfloat16" else array


class Quantised:
    """Codes, and the real numbers that they are roundings of: x / scale + zero point."""

    def __init__(self, real, dtype):
        info = np.iinfo(dtype)
        self.real = np.clip(real, info.min, info.max)
        self.codes = np.rint(self.real).astype(dtype)


def attributes(node):
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


def along(parameter, rank, axis):
    """A scale or zero point, shaped to broadcast against the data."""
    parameter = np.asarray(parameter)
    if parameter.size == 1:
        return parameter.reshape(())
    return parameter.reshape([-1 if i == axis % rank else 1 for i in range(rank)])


def quantise(x, scale, zero, axis):
    """Rounding half to even comes before the zero point; that an integer is added does not move a tie, but
    an odd one would move which neighbour is even."""
    rank = np.ndim(x)
    zero = np.uint8(0) if zero is None else zero
    offset = along(zero, rank, axis).astype(np.float64)
    found = Quantised(x / along(scale, rank, axis) + offset, zero.dtype)
    info = np.iinfo(zero.dtype)
    found.codes = np.clip(np.rint(x / along(scale, rank, axis)) + offset, info.min, info.max).astype(zero.dtype)
    return found


def quantize_linear(a, x, scale, zero=None):
    return [quantise(x, scale, zero, a.get("axis", 1))]


def dequantize_linear(a, codes, scale, zero=None):
    axis, rank = a.get("axis", 1), np.ndim(codes)
    offset = 0.0 if zero is None else along(zero, rank, axis).astype(np.float64)
    return [(codes.astype(np.float64) - offset) * along(scale, rank, axis)]


def dynamic_quantize_linear(a, x):
    low, high = min(0.0, x.min()), max(0.0, x.max())
    scale = (high - low) / 255 or 1.0
    zero = Quantised(np.float64(-low / scale), np.uint8)
    return [quantise(x, np.float64(scale), zero.codes, 0), np.float64(scale), zero]


# Windows.

def window_of(a, x, kernel):
    """(strides, dilations, pads before, pads after) of a node's window."""
    rank = len(kernel)
    strides, dilations = a.get("strides", [1] * rank), a.get("dilations", [1] * rank)
    pads = a.get("pads", [0] * 2 * rank)
    mode = a.get("auto_pad", b"NOTSET").decode()
    if not mode.startswith("SAME"):
        return strides, dilations, pads[:rank], pads[rank:]
    begin, end = [], []
    for n, k, s, d in zip(x.shape[2:], kernel, strides, dilations):
        total = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
        less = total // 2
        begin.append(less if mode == "SAME_UPPER" else total - less)
        end.append(total - begin[-1])
    return strides, dilations, begin, end


def windows(x, kernel, strides, dilations, begin, end, value):
    """A view with axes N, C, output..., kernel... of x padded with a value."""
    padded = np.pad(x, [(0, 0), (0, 0), *zip(begin, end)], constant_values=value)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    view = sliding_window_view(padded, reach, axis=tuple(range(2, x.ndim)))
    steps = [slice(None, None, s) for s in strides] + [slice(None, None, d) for d in dilations]
    return view[(slice(None), slice(None), *steps)]


def convolve(a, x, w):
    """In float64, row by row of the output as far as memory goes."""
    rank, group = w.ndim - 2, a.get("group", 1)
    view = windows(x, w.shape[2:], *window_of(a, x, w.shape[2:]), 0)
    n, out, per = x.shape[0], view.shape[2:2 + rank], w.shape[0] // group
    taps, take = w[0].size, w.shape[1]
    y = np.empty((n, w.shape[0], *out))
    rows = max(1, BLOCK // max(1, taps * int(np.prod(out[1:]))))
    for image in range(n):
        for g in range(group):
            filters = w[g * per:(g + 1) * per].reshape(per, taps)
            piece = view[image, g * take:(g + 1) * take]
            for row in range(0, out[0], rows):
                part = np.moveaxis(piece[:, row:row + rows], range(1, 1 + rank), range(-rank, 0))
                shape = part.shape[-rank:]
                product = filters @ part.reshape(taps, -1)
                y[image, g * per:(g + 1) * per, row:row + rows] = product.reshape(per, *shape)
    return y


def conv(a, x, w, bias=None):
    y = convolve(a, x, w)
    return [y if bias is None else y + along(bias, y.ndim, 1)]


def conv_integer(a, x, w, x_zero=None, w_zero=None):
    x = x.astype(np.float64) - (0 if x_zero is None else float(np.ravel(x_zero)[0]))
    w = w.astype(np.float64) - (0 if w_zero is None else along(w_zero, w.ndim, 0).astype(np.float64))
    return [convolve(a, x, w).astype(np.int64)]


def matmul_integer(a, x, w, x_zero=None, w_zero=None):
    x = x.astype(np.float64) - (0 if x_zero is None else along(x_zero, x.ndim, -2).astype(np.float64))
    w = w.astype(np.float64) - (0 if w_zero is None else along(w_zero, w.ndim, -1).astype(np.float64))
    return [(x @ w).astype(np.int64)]


def conv_transpose(a, x, w, bias=None):
    rank, group = w.ndim - 2, a.get("group", 1)
    strides, dilations = a.get("strides", [1] * rank), a.get("dilations", [1] * rank)
    pads, more = a.get("pads", [0] * 2 * rank), a.get("output_padding", [0] * rank)
    if a.get("auto_pad", b"NOTSET") != b"NOTSET" or "output_shape" in a:
        raise NotImplementedError("ConvTranspose with auto_pad or output_shape")
    whole = [(n - 1) * s + (k - 1) * d + 1 + m
             for n, s, k, d, m in zip(x.shape[2:], strides, w.shape[2:], dilations, more)]
    take, per = w.shape[0] // group, w.shape[1]
    y = np.zeros((x.shape[0], group * per, *whole))
    for tap in np.ndindex(*w.shape[2:]):
        places = tuple(slice(t * d, t * d + (n - 1) * s + 1, s)
                       for t, d, n, s in zip(tap, dilations, x.shape[2:], strides))
        for g in range(group):
            piece = np.einsum("nc...,cm->nm...", x[:, g * take:(g + 1) * take],
                              w[(slice(g * take, (g + 1) * take), slice(None), *tap)])
            y[(slice(None), slice(g * per, (g + 1) * per), *places)] += piece
    kept = tuple(slice(b, n - e) for b, e, n in zip(pads[:rank], pads[rank:], whole))
    y = y[(slice(None), slice(None), *kept)]
    return [y if bias is None else y + along(bias, y.ndim, 1)]


def pool(a, x, value, reduce):
    kernel = a["kernel_shape"]
    strides, dilations, begin, end = window_of(a, x, kernel)
    if a.get("ceil_mode", 0):
        # Positions that only rounding up adds; a window that would start behind the data is none.
        end = list(end)
        for i, (n, k, s, d) in enumerate(zip(x.shape[2:], kernel, strides, dilations)):
            free = n + begin[i] + end[i] - (k - 1) * d - 1
            count = -(-free // s) + 1
            count -= (count - 1) * s >= n + begin[i]
            end[i] += max(0, (count - 1) * s - free)
    view = windows(x, kernel, strides, dilations, begin, end, value)
    return reduce(view, tuple(range(-len(kernel), 0)))


def max_pool(a, x):
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    return [pool(a, x, lowest, np.max)]


def average_pool(a, x):
    total = pool(a, x, 0.0, np.sum)
    if a.get("count_include_pad", 0) and not a.get("ceil_mode", 0):
        return [total / float(np.prod(a["kernel_shape"]))]
    if a.get("count_include_pad", 0):
        raise NotImplementedError("AveragePool with count_include_pad and ceil_mode")
    return [total / pool(a, np.ones(x.shape), 0.0, np.sum)]


def global_pool(reduce):
    return lambda a, x: [reduce(x, axis=tuple(range(2, x.ndim)), keepdims=True)]


# Resize: one axis after the other.

def resized_axis(mode, coordinate, rounding, extent, out, scale):
    """A matrix [out, extent] that interpolates along an axis."""
    at = np.arange(out, dtype=np.float64)
    if coordinate == "align_corners":
        x = at * (extent - 1) / (out - 1) if out > 1 else np.zeros(out)
    elif coordinate == "asymmetric":
        x = at / scale
    elif coordinate in ("half_pixel", "pytorch_half_pixel"):
        x = (at + 0.5) / scale - 0.5 if coordinate == "half_pixel" or out > 1 else np.zeros(out)
    else:
        raise NotImplementedError(f"Resize with {coordinate}")
    matrix = np.zeros((out, extent))
    rows = np.arange(out)
    if mode == "nearest":
        x = {"round_prefer_floor": np.ceil(x - 0.5), "round_prefer_ceil": np.floor(x + 0.5),
             "floor": np.floor(x), "ceil": np.ceil(x)}[rounding]
        matrix[rows, np.clip(x, 0, extent - 1).astype(int)] = 1
        return matrix
    if mode != "linear":
        raise NotImplementedError(f"Resize in mode {mode}")
    x = np.clip(x, 0, extent - 1)
    low = np.floor(x).astype(int)
    np.add.at(matrix, (rows, low), 1 - (x - low))
    np.add.at(matrix, (rows, np.minimum(low + 1, extent - 1)), x - low)
    return matrix


def resize(a, x, roi=None, scales=None, sizes=None):
    mode = a.get("mode", b"nearest").decode()
    coordinate = a.get("coordinate_transformation_mode", b"half_pixel").decode()
    rounding = a.get("nearest_mode", b"round_prefer_floor").decode()
    if "axes" in a or a.get("antialias", 0) or a.get("keep_aspect_ratio_policy", b"stretch") != b"stretch":
        raise NotImplementedError("Resize with axes, antialias or keep_aspect_ratio_policy")
    for axis, extent in enumerate(x.shape):
        given = scales is not None and np.size(scales) > 0
        out = int(np.floor(extent * scales[axis])) if given else int(sizes[axis])
        scale = float(scales[axis]) if given else out / extent
        if out != extent or scale != 1:
            matrix = resized_axis(mode, coordinate, rounding, extent, out, scale)
            x = np.moveaxis(np.tensordot(matrix, x, (1, axis)), 0, axis)
    return [x]


def squeeze(a, x, axes=None):
    """In both forms: the reference overlooks an attribute of a node by itself."""
    axes = a.get("axes") if axes is None else axes
    return [np.squeeze(x) if axes is None else np.squeeze(x, tuple(int(i) for i in axes))]


def unsqueeze(a, x, axes=None):
    return [np.expand_dims(x, tuple(int(i) for i in (a["axes"] if axes is None else axes)))]


def cast(a, x):
    if a["to"] in FLOATS:
        return [x.astype(np.float64)]
    return [x.astype(helper.tensor_dtype_to_np_dtype(a["to"]))]


def dynamic_product(x, w, scale, zero):
    codes, step, offset = dynamic_quantize_linear({}, x)
    w = w.astype(np.float64) - (0 if zero is None else zero.astype(np.float64))
    return (codes.codes.astype(np.float64) - offset.codes) @ w * (step * scale)


LSTM = [b"sigmoid", b"tanh", b"tanh"]


def dynamic_quantize_lstm(a, x, w, r, b=None, lengths=None, h=None, cell=None, peep=None, w_scale=None, w_zero=None,
                          r_scale=None, r_zero=None):
    """com.microsoft's: input and hidden state are quantised by their own range before each product."""
    own_functions = [f.lower() for f in a.get("activations", [])] not in ([], LSTM * r.shape[0])
    if own_functions or lengths is not None or peep is not None or a.get("clip", 0) or a.get("input_forget", 0):
        raise NotImplementedError("DynamicQuantizeLSTM with more than its default equations")
    steps, n, hidden = x.shape[0], x.shape[1], r.shape[1]
    y = np.zeros((steps, r.shape[0], n, hidden))
    h, cell = (np.zeros(y.shape[1:]) if v is None else v.copy() for v in (h, cell))
    for d in range(r.shape[0]):
        back = d == 1 or a.get("direction", b"forward") == b"reverse"
        own = dynamic_product(x.reshape(steps * n, -1), w[d], w_scale[d], w_zero[d]).reshape(steps, n, -1)
        if b is not None:
            own = own + b[d, :4 * hidden] + b[d, 4 * hidden:]
        for t in range(steps)[::-1 if back else 1]:
            gates = own[t] + dynamic_product(h[d], r[d], r_scale[d], r_zero[d])
            i, o, f, g = np.split(gates, 4, 1)
            i, o, f = (1 / (1 + np.exp(-v)) for v in (i, o, f))
            cell[d] = f * cell[d] + i * np.tanh(g)
            h[d] = y[t, d] = o * np.tanh(cell[d])
    return [y, h, cell]


OPS = {"QuantizeLinear": quantize_linear, "DequantizeLinear": dequantize_linear, "Cast": cast,
       "DynamicQuantizeLinear": dynamic_quantize_linear, "Conv": conv, "ConvInteger": conv_integer,
       "MatMulInteger": matmul_integer, "ConvTranspose": conv_transpose, "MaxPool": max_pool,
       "AveragePool": average_pool, "Resize": resize, "Squeeze": squeeze, "Unsqueeze": unsqueeze,
       "GlobalMaxPool": global_pool(np.max), "GlobalAveragePool": global_pool(np.mean)}
CONTRIB = {"DynamicQuantizeLSTM": dynamic_quantize_lstm}


def promoted(node):
    """The node with float tensors among its attributes in float64."""
    copy = type(node)()
    copy.CopyFrom(node)
    for attribute in copy.attribute:
        if attribute.HasField("t") and attribute.t.data_type in FLOATS:
            attribute.t.CopyFrom(numpy_helper.from_array(wide(numpy_helper.to_array(attribute.t))))
        if attribute.HasField("g") or attribute.graphs:
            raise NotImplementedError(f"{node.op_type}: bodies are not evaluated")
    return copy


def by_reference(node, inputs, opsets):
    names = [n for n in node.input if n]
    feeds = dict(zip(names, (v for v in inputs if v is not None)))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return ReferenceEvaluator(promoted(node), opsets=opsets).run(None, feeds)


def evaluate(node, inputs, opsets):
    """The node's outputs: arrays, and Quantised where codes are made. None stands for an absent input.
    Raises NotImplementedError with what it has no exact form of."""
    own = (OPS if node.domain in ("", "ai.onnx") else CONTRIB).get(node.op_type)
    if own:
        while inputs and inputs[-1] is None:
            inputs = inputs[:-1]
        return own(attributes(node), *inputs)
    if node.domain not in ("", "ai.onnx"):
        raise NotImplementedError(f"{node.domain}.{node.op_type}")
    return [wide(v) for v in by_reference(node, inputs, opsets)]
