#!/usr/bin/env python3
"""Float ONNX models with the shapes of well-known networks, the same bytes every time.

  bench/shaped_models.py OUT_DIR [--only mobilenet_v2,resnet50,bert_base,unet] [--open-batch]

The weights are random, so the results mean nothing. The layers, their extents and their operators are those
that PyTorch's exporter gives for these networks in evaluation mode, and those decide how long a run takes and
how an engine has to treat it: a comparison needs no weights from elsewhere. Inputs are static, with batch 1, or
with --open-batch have an open first extent, which aicf-compile --shapes binds.
bench/compare_quantized.py --exports OUT_DIR takes the models.

Needs onnx and numpy from PyPI.
"""
import argparse
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# What a layer's weights multiply the mean square of its input by. A rectifier halves it, so what precedes one
# doubles it. What is added to a stream again and again is made smaller, or the stream grows with the depth.
RECTIFIED, LINEAR, BRANCH = 2.0, 1.0, 0.25


class Network:
    """An ONNX graph that grows node by node. A tensor is the name of a value."""

    open_batch = False

    def __init__(self, seed=0):
        self.random = np.random.default_rng(seed)
        self.nodes, self.initializers = [], []

    def constant(self, name, value):
        self.initializers.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, op, inputs, name, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def normal(self, shape, deviation):
        return self.random.standard_normal(shape, np.float32) * np.float32(deviation)

    def weight(self, name, shape, fan_in, gain):
        """Weights that multiply the mean square of `fan_in` inputs each by `gain`."""
        return self.constant(f"{name}.weight", self.normal(shape, np.sqrt(gain / fan_in)))

    def bias(self, name, width):
        """What a folded batch normalisation leaves: a small bias of each channel."""
        return self.constant(f"{name}.bias", self.normal(width, 0.1))

    def conv(self, x, name, channels, width, size=1, stride=1, groups=1, gain=RECTIFIED):
        """A convolution whose output has the input's extents, divided by the stride."""
        inputs_each = channels // groups
        weight = self.weight(name, (width, inputs_each, size, size), inputs_each * size * size, gain)
        return self.node("Conv", [x, weight, self.bias(name, width)], name, dilations=[1, 1], group=groups,
                         kernel_shape=[size, size], pads=[size // 2] * 4, strides=[stride, stride])

    def relu(self, x):
        return self.node("Relu", [x], f"{x}.relu")

    def relu6(self, x):
        low = self.constant(f"{x}.low", np.float32(0))
        return self.node("Clip", [x, low, self.constant(f"{x}.high", np.float32(6))], f"{x}.relu6")

    def classifier(self, x, channels, classes=1000):
        pooled = self.node("GlobalAveragePool", [x], "pooled")
        flat = self.node("Flatten", [pooled], "flat", axis=1)
        weight = self.weight("classifier", (classes, channels), channels, LINEAR)
        return self.node("Gemm", [flat, weight, self.bias("classifier", classes)], "logits", transB=1)


# MobileNet V2, torchvision's list of layers.

# Of each stage: how many times its blocks widen the channels, channels, blocks, the first block's stride.
MOBILENET_STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                    (6, 320, 1, 1))


def inverted_residual(net, x, name, channels, width, stride, expansion):
    """Widened, filtered channel by channel, and narrowed without a rectifier."""
    wide, y = channels * expansion, x
    residual = stride == 1 and channels == width
    if expansion != 1:
        y = net.relu6(net.conv(y, f"{name}.expand", channels, wide))
    y = net.relu6(net.conv(y, f"{name}.depthwise", wide, wide, 3, stride, groups=wide))
    y = net.conv(y, f"{name}.project", wide, width, gain=BRANCH if residual else LINEAR)
    return net.node("Add", [x, y], f"{name}.sum") if residual else y


def mobilenet_v2():
    net = Network()
    x, channels = net.relu6(net.conv("image", "stem", 3, 32, 3, 2)), 32
    for stage, (expansion, width, blocks, stride) in enumerate(MOBILENET_STAGES):
        for block in range(blocks):
            step = stride if block == 0 else 1
            x = inverted_residual(net, x, f"stage{stage}.{block}", channels, width, step, expansion)
            channels = width
    logits = net.classifier(net.relu6(net.conv(x, "head", channels, 1280)), 1280)
    return model_of(net, "mobilenet_v2", {"image": [1, 3, 224, 224]}, {logits: [1, 1000]})


# ResNet-50, torchvision's list of layers.

RESNET_STAGES = ((64, 3), (128, 4), (256, 6), (512, 3))  # inner channels and blocks of each stage
RESNET_EXPANSION = 4


def bottleneck(net, x, name, channels, inner, stride):
    """torchvision's form, which has the stride in the 3x3 convolution."""
    width = inner * RESNET_EXPANSION
    y = net.relu(net.conv(x, f"{name}.conv1", channels, inner))
    y = net.relu(net.conv(y, f"{name}.conv2", inner, inner, 3, stride))
    y = net.conv(y, f"{name}.conv3", inner, width, gain=BRANCH)
    if stride != 1 or channels != width:
        x = net.conv(x, f"{name}.downsample", channels, width, stride=stride, gain=LINEAR)
    return net.relu(net.node("Add", [y, x], f"{name}.sum"))


def resnet50():
    net = Network()
    x = net.relu(net.conv("image", "stem", 3, 64, 7, 2))
    x, channels = net.node("MaxPool", [x], "stem.pool", kernel_shape=[3, 3], pads=[1] * 4, strides=[2, 2]), 64
    for stage, (inner, blocks) in enumerate(RESNET_STAGES):
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            x = bottleneck(net, x, f"layer{stage + 1}.{block}", channels, inner, stride)
            channels = inner * RESNET_EXPANSION
    return model_of(net, "resnet50", {"image": [1, 3, 224, 224]}, {net.classifier(x, channels): [1, 1000]})


# BERT base without the embedding of tokens, which is no work, and without a task's head.

LAYERS, TOKENS, HIDDEN, HEADS, INNER = 12, 128, 768, 12, 3072


def dense(net, x, name, channels, width):
    """A linear layer of an input of rank 3: the exporter transposes the weight and adds the bias apart."""
    weight = net.weight(name, (channels, width), channels, LINEAR)
    product = net.node("MatMul", [x, weight], f"{name}.product")
    return net.node("Add", [net.bias(name, width), product], name)


def reshaped(net, x, name, shape):
    """The first extent is the batch's; 0 keeps it."""
    shape = [0, *shape[1:]] if net.open_batch else shape
    return net.node("Reshape", [x, net.constant(f"{name}.shape", np.array(shape, np.int64))], name)


def normalized(net, x, name):
    scale = net.constant(f"{name}.scale", 1 + net.normal(HIDDEN, 0.1))
    return net.node("LayerNormalization", [x, scale, net.bias(name, HIDDEN)], name, axis=-1, epsilon=1e-12)


def heads(net, x, name, order):
    """One of queries, keys and values, split into heads. The exporter merges the keys' two transpositions."""
    split = reshaped(net, dense(net, x, name, HIDDEN, HIDDEN), f"{name}.split",
                     [1, TOKENS, HEADS, HIDDEN // HEADS])
    return net.node("Transpose", [split], f"{name}.heads", perm=order)


def attention(net, x, name):
    query = heads(net, x, f"{name}.query", [0, 2, 1, 3])
    key = heads(net, x, f"{name}.key", [0, 2, 3, 1])
    value = heads(net, x, f"{name}.value", [0, 2, 1, 3])
    scores = net.node("MatMul", [query, key], f"{name}.scores")
    root = net.constant(f"{name}.root", np.float32(np.sqrt(HIDDEN // HEADS)))
    scaled = net.node("Div", [scores, root], f"{name}.scaled")
    weights = net.node("Softmax", [scaled], f"{name}.weights", axis=-1)
    context = net.node("MatMul", [weights, value], f"{name}.context")
    swapped = net.node("Transpose", [context], f"{name}.swapped", perm=[0, 2, 1, 3])
    return dense(net, reshaped(net, swapped, f"{name}.joined", [1, TOKENS, HIDDEN]), f"{name}.output", HIDDEN,
                 HIDDEN)


def gelu(net, x):
    """The exact GELU, in the operators that the exporter writes it with."""
    part = net.node("Div", [x, net.constant(f"{x}.sqrt2", np.float32(np.sqrt(2)))], f"{x}.part")
    erf = net.node("Erf", [part], f"{x}.erf")
    plus = net.node("Add", [erf, net.constant(f"{x}.one", np.float32(1))], f"{x}.plus")
    twice = net.node("Mul", [x, plus], f"{x}.twice")
    return net.node("Mul", [twice, net.constant(f"{x}.half", np.float32(0.5))], f"{x}.gelu")


def bert_base():
    net = Network()
    x = "embedded"
    for layer in range(LAYERS):
        name = f"layer{layer}"
        y = attention(net, x, f"{name}.attention")
        x = normalized(net, net.node("Add", [y, x], f"{name}.attention.sum"), f"{name}.attention.norm")
        y = gelu(net, dense(net, x, f"{name}.inner", HIDDEN, INNER))
        y = dense(net, y, f"{name}.outer", INNER, HIDDEN)
        x = normalized(net, net.node("Add", [y, x], f"{name}.sum"), f"{name}.norm")
    return model_of(net, "bert_base", {"embedded": [1, TOKENS, HIDDEN]}, {x: [1, TOKENS, HIDDEN]})


# A U-Net for segmentation: four levels, and the bottom below them.

PICTURE, BASE, LEVELS = 256, 32, 4


def twice_convolved(net, x, name, channels, width):
    x = net.relu(net.conv(x, f"{name}.conv1", channels, width, 3))
    return net.relu(net.conv(x, f"{name}.conv2", width, width, 3))


def doubled(net, x, name, channels, width):
    """Each output pixel comes from one input pixel, as the 2x2 windows do not overlap."""
    weight = net.weight(name, (channels, width, 2, 2), channels, LINEAR)
    return net.node("ConvTranspose", [x, weight, net.bias(name, width)], name, dilations=[1, 1], group=1,
                    kernel_shape=[2, 2], pads=[0] * 4, strides=[2, 2])


def unet():
    net = Network()
    x, channels, skips = "image", 3, []
    for level in range(LEVELS):
        width = BASE << level
        x, channels = twice_convolved(net, x, f"down{level}", channels, width), width
        skips.append(x)
        x = net.node("MaxPool", [x], f"down{level}.pool", kernel_shape=[2, 2], strides=[2, 2])
    x, channels = twice_convolved(net, x, "bottom", channels, BASE << LEVELS), BASE << LEVELS
    for level in reversed(range(LEVELS)):
        width = BASE << level
        up = doubled(net, x, f"up{level}.double", channels, width)
        x = net.node("Concat", [up, skips[level]], f"up{level}.concat", axis=1)
        x, channels = twice_convolved(net, x, f"up{level}", 2 * width, width), width
    mask = net.node("Sigmoid", [net.conv(x, "last", channels, 1, gain=LINEAR)], "mask")
    return model_of(net, "unet", {"image": [1, 3, PICTURE, PICTURE]}, {mask: [1, 1, PICTURE, PICTURE]})


# The command.

MODELS = {"mobilenet_v2": mobilenet_v2, "resnet50": resnet50, "bert_base": bert_base, "unet": unet}


def floats(net, extents):
    """Extents of batch 1."""
    first = "batch" if net.open_batch else 1
    return [helper.make_tensor_value_info(name, TensorProto.FLOAT, [first, *shape[1:]])
            for name, shape in extents.items()]


def model_of(net, name, inputs, outputs):
    graph = helper.make_graph(net.nodes, name, floats(net, inputs), floats(net, outputs), net.initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8,
                              producer_name="shaped_models.py")
    onnx.checker.check_model(model, full_check=True)
    return model


def names(text):
    listed = [n for n in text.split(",") if n]
    unknown = [n for n in listed if n not in MODELS]
    if unknown:
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: choose from {', '.join(MODELS)}")
    return listed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path, metavar="OUT_DIR", help="the folder to write NAME.onnx to")
    parser.add_argument("--only", type=names, default=[], metavar="NAME,...",
                        help="comma-separated, of: " + ", ".join(MODELS))
    parser.add_argument("--open-batch", action="store_true", help="leave the first extent of the inputs open")
    args = parser.parse_args()
    Network.open_batch = args.open_batch
    args.out.mkdir(parents=True, exist_ok=True)
    for name in args.only or MODELS:
        onnx.save(MODELS[name](), args.out / f"{name}.onnx")


if __name__ == "__main__":
    main()
