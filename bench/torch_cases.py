"""The models that compare_torch.py measures: random weights with fixed seeds, nothing is downloaded.

A case is tests/exporters/export.py's Case: a module in evaluation mode, its inputs by name, its outputs' names.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "exporters"))

import export  # noqa: E402  (the path above makes it importable)
import zoo  # noqa: E402

SEED = 20260101


def bert(batch, length, large=False):
    """BERT's encoder over whole sequences: token ids are its only input, so nothing is masked."""
    import torch
    from transformers import BertConfig, BertModel

    sizes = dict(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096)
    config = BertConfig(**(sizes if large else {}))
    model = BertModel(config, add_pooling_layer=False)
    ids = torch.randint(0, config.vocab_size, (batch, length))
    call = lambda m, input_ids: (m(input_ids=input_ids).last_hidden_state,)
    return export.Case(export.first_of(model, call), {"input_ids": ids}, ["last_hidden_state"])


def image(name, batch=1):
    """A torchvision classifier on pictures of 224 x 224."""
    import torch

    case = zoo.torchvision_case(name)
    case.inputs = {"image": torch.randn(batch, 3, 224, 224)}
    return case


def unet_block():
    """The first block of a latent diffusion U-Net at 512 x 512 pixels: residual convolutions that a time
    embedding shifts, then attention over the picture's 4096 positions and over 77 words."""
    import torch

    import torch_unet

    inputs = {
        "latent": torch.randn(1, 320, 64, 64),
        "time": torch.randn(1, 1280),
        "words": torch.randn(1, 77, 768),
    }
    return export.Case(torch_unet.Block(320, 1280, 768, heads=8), inputs, ["made"])


CASES = {
    "bert_base_b1": lambda: bert(1, 128),
    "bert_base_b32": lambda: bert(32, 128),
    "bert_large_s384_b8": lambda: bert(8, 384, large=True),
    "resnet50_b1": lambda: image("resnet50"),
    "resnet50_b32": lambda: image("resnet50", 32),
    "vit_b16_b1": lambda: export.vit(True),
    "vit_b16_b32": lambda: export.vit(True, 32),
    "efficientnet_b0_b1": lambda: image("efficientnet_b0"),
    "convnext_tiny_b1": lambda: image("convnext_tiny"),
    "swin_t_b1": lambda: image("swin_t"),
    "mobilenet_v3_b1": lambda: image("mobilenet_v3_large"),
    "densenet121_b1": lambda: image("densenet121"),
    "unet_block_b1": unet_block,
}


def fit_batch_norms(case):
    """Gives every batch norm the statistics of what it sees, as training does.

    With fresh statistics the activations of a deep residual net grow from block to block until they leave
    the range of fp16, for every library alike. One picture is enough, and the same in every process."""
    import torch

    norms = [m for m in case.module.modules() if isinstance(m, torch.nn.modules.batchnorm._BatchNorm)]
    if not norms:
        return
    for norm in norms:
        norm.train()
        norm.momentum = 1.0
    with torch.no_grad():
        case.module(*(t[:1] for t in case.inputs.values()))
    for norm in norms:
        norm.eval()


def make(name):
    """The case `name` in float32 on the CPU; equal in every process of one machine."""
    import torch

    torch.manual_seed(SEED)
    case = CASES[name]()
    fit_batch_norms(case)
    return case
