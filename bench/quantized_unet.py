#!/usr/bin/env python3
"""A U-Net of about 110 dynamically quantised convolutions, the same bytes every time.

  bench/quantized_unet.py OUT.onnx [--size 1024] [--width 8]

What an image segmentation network becomes under onnxruntime.quantization.quantize_dynamic: the input of every
convolution is quantised when it is known (DynamicQuantizeLinear), the convolution is one of integers, and
Cast, Mul and Add make floats of its sums again. The weights are random, so its picture means nothing;
its shapes and its operators are those of networks that people run. The input is 1x3xSIZExSIZE.

Needs onnx and numpy from PyPI.
"""
import argparse
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# Convolutions of each level on the way down, and again on the way up. Level 0 has the input's extents, each
# further one half of them. Few lie where the picture is largest, as in the networks that this stands for.
CONVOLUTIONS = (2, 8, 12, 12, 12)
BOTTOM = 16
WIDTHS = (1, 2, 4, 8, 8, 8)  # channels of each level and of the bottom, in units of the network's width


class Network:
    """An ONNX graph that grows node by node. A tensor is the name of a value."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.initializers, self.convolutions = [], [], 0

    def constant(self, name, value):
        self.initializers.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, op, inputs, name, outputs=1, **attributes):
        names = [name] if outputs == 1 else [f"{name}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, name=name, **attributes))
        return name if outputs == 1 else names

    def weights(self, name, shape):
        """Quantised weights of one scale for all channels. They keep the variance of what passes a Relu."""
        fan_in = np.prod(shape[1:])
        real = self.random.standard_normal(shape) * np.sqrt(2 / fan_in)
        scale = np.float32(np.abs(real).max() / 127)
        return (self.constant(f"{name}_quantized", np.rint(real / scale).astype(np.int8)),
                self.constant(f"{name}_scale", scale), self.constant(f"{name}_zero_point", np.int8(0)))

    def convolution(self, x, channels, width, relu=True):
        """The nodes that quantize_dynamic makes of a convolution with bias, in its order."""
        name = f"conv{self.convolutions}"
        self.convolutions += 1
        weights, weight_scale, weight_zero = self.weights(f"{name}_weight", (width, channels, 3, 3))
        bias = self.random.uniform(-0.1, 0.1, (1, width, 1, 1)).astype(np.float32)
        quantized, scale, zero = self.node("DynamicQuantizeLinear", [x], f"{name}_input", outputs=3)
        scales = self.node("Mul", [scale, weight_scale], f"{name}_scales")
        sums = self.node("ConvInteger", [quantized, weights, zero, weight_zero], f"{name}_sums",
                         kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        real = self.node("Cast", [sums], f"{name}_cast", to=TensorProto.FLOAT)
        scaled = self.node("Mul", [real, scales], f"{name}_scaled")
        y = self.node("Add", [scaled, self.constant(f"{name}_bias", bias)], f"{name}_biased")
        return self.node("Relu", [y], f"{name}_relu") if relu else y

    def block(self, x, channels, width, count):
        for _ in range(count):
            x, channels = self.convolution(x, channels, width), width
        return x

    def halved(self, x, level):
        return self.node("MaxPool", [x], f"pool{level}", kernel_shape=[2, 2], strides=[2, 2])

    def doubled(self, x, level):
        return self.node("Resize", [x, "", "doubling"], f"resize{level}", mode="nearest",
                         nearest_mode="floor", coordinate_transformation_mode="asymmetric")


def build(size, width=8, seed=0):
    """The model for an input of 1x3xSIZExSIZE, with `width` channels where the picture is largest."""
    if size <= 0 or size % 2 ** len(CONVOLUTIONS):
        raise ValueError(f"the size is {size}; it has to be a multiple of {2 ** len(CONVOLUTIONS)}")
    net = Network(seed)
    net.constant("doubling", np.array([1, 1, 2, 2], np.float32))
    widths = [width * w for w in WIDTHS]
    x, channels, skips = "image", 3, []
    for level, count in enumerate(CONVOLUTIONS):
        x, channels = net.block(x, channels, widths[level], count), widths[level]
        skips.append(x)
        x = net.halved(x, level)
    x = net.block(x, channels, widths[-1], BOTTOM)
    for level, count in reversed(list(enumerate(CONVOLUTIONS))):
        x = net.node("Concat", [skips[level], net.doubled(x, level)], f"concat{level}", axis=1)
        x = net.block(x, widths[level] + widths[level + 1], widths[level], count)
    net.node("Sigmoid", [net.convolution(x, width, 1, relu=False)], "mask")
    return model_of(net, size)


def model_of(net, size):
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, size, size])
    mask = helper.make_tensor_value_info("mask", TensorProto.FLOAT, [1, 1, size, size])
    graph = helper.make_graph(net.nodes, "quantized_unet", [image], [mask], net.initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8,
                              producer_name="quantized_unet.py")
    onnx.checker.check_model(model)
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path, help="the ONNX file to write")
    parser.add_argument("--size", type=int, default=1024, help="height and width of the input; default 1024")
    parser.add_argument("--width", type=int, default=8,
                        help="channels where the picture is largest; default 8")
    args = parser.parse_args()
    try:
        onnx.save(build(args.size, args.width), args.out)
    except ValueError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
