#!/usr/bin/env python3
"""Exports models with torch.onnx.export(dynamo=True), compiles them unedited and compares with PyTorch.

    export.py --bin build/release/bin --out DIR [--target cuda:sm_90a] [--device cuda:0] [--only REGEX]

Random weights (nothing is downloaded), fixed seeds. Under DIR each model gets onnx/NAME/model.onnx with
its external data and cases/NAME/*.npy; manifest.json lists them as tests/models reads them. --keep
compiles and runs what an earlier call left in DIR. Needs torch, onnx, onnxscript, transformers, timm.
Exit code 1 when a model fails.
"""

import argparse
import json
import os
import re
import sys
import traceback


import toolkit


class Case:
    """A module, its inputs by name, and the names of its outputs."""

    def __init__(self, module, inputs, outputs):
        self.module, self.inputs, self.outputs = module.eval(), inputs, outputs


def first_of(module, select):
    """A module with positional inputs whose outputs are a flat tuple of tensors."""
    import torch

    class Flat(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = module

        def forward(self, *args):
            return select(self.inner, *args)

    return Flat()


def bert(base):
    import torch
    from transformers import BertConfig, BertModel

    config = BertConfig() if base else BertConfig(
        vocab_size=500, hidden_size=128, num_hidden_layers=3, num_attention_heads=4,
        intermediate_size=512, max_position_embeddings=64)
    length = 128 if base else 24
    ids = torch.randint(0, config.vocab_size, (1 if base else 2, length))
    marks = torch.ones_like(ids)
    marks[-1, length - 5:] = 0

    def call(model, input_ids, attention_mask, token_type_ids):
        out = model(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)
        return out.last_hidden_state, out.pooler_output

    inputs = {"input_ids": ids, "attention_mask": marks, "token_type_ids": torch.zeros_like(ids)}
    return Case(first_of(BertModel(config), call), inputs, ["last_hidden_state", "pooler_output"])


def vit(base, batch=None):
    import torch
    from transformers import ViTConfig, ViTForImageClassification

    config = ViTConfig(num_labels=1000) if base else ViTConfig(
        hidden_size=96, num_hidden_layers=3, num_attention_heads=3, intermediate_size=384,
        image_size=64, patch_size=16, num_labels=10)
    side = config.image_size
    call = lambda model, pixels: (model(pixel_values=pixels).logits,)
    inputs = {"pixel_values": torch.randn(batch or (1 if base else 2), 3, side, side)}
    return Case(first_of(ViTForImageClassification(config), call), inputs, ["logits"])


def gpt2(past, length):
    import torch
    from transformers import DynamicCache, GPT2Config, GPT2LMHeadModel

    config = GPT2Config(vocab_size=500, n_positions=128, n_embd=128, n_layer=3, n_head=4)
    heads, size = config.n_head, config.n_embd // config.n_head

    def call(model, input_ids, *cache):
        pairs = [(cache[2 * i], cache[2 * i + 1]) for i in range(len(cache) // 2)]
        state = DynamicCache()
        for layer, (key, value) in enumerate(pairs):
            state.update(key, value, layer)
        out = model(input_ids=input_ids, past_key_values=state if pairs else None, use_cache=True)
        made = out.past_key_values
        flat = [t for layer in range(config.n_layer) for t in layer_of(made, layer)]
        return (out.logits, *flat)

    inputs = {"input_ids": torch.randint(0, config.vocab_size, (1, length))}
    names = ["logits"]
    for layer in range(config.n_layer):
        for kind in ("key", "value"):
            if past:
                inputs[f"past_{kind}_{layer}"] = torch.randn(1, heads, past, size)
            names.append(f"present_{kind}_{layer}")
    return Case(first_of(GPT2LMHeadModel(config), call), inputs, names)


def layer_of(cache, layer):
    """Keys and values of one layer, over the forms that the cache class had."""
    if hasattr(cache, "layers"):
        return cache.layers[layer].keys, cache.layers[layer].values
    if hasattr(cache, "key_cache"):
        return cache.key_cache[layer], cache.value_cache[layer]
    return cache[layer]


def image_model(name, side):
    import timm
    import torch

    model = timm.create_model(name, pretrained=False)
    return Case(first_of(model, lambda m, x: (m(x),)), {"image": torch.randn(1, 3, side, side)}, ["logits"])


MODELS = {
    "bert_small": lambda: bert(False),
    "bert_base": lambda: bert(True),
    "vit_small": lambda: vit(False),
    "vit_base": lambda: vit(True),
    "gpt2_prompt": lambda: gpt2(0, 16),
    "gpt2_step": lambda: gpt2(31, 1),
    "convnext_atto": lambda: image_model("convnext_atto", 224),  # products as 1x1 convolutions
    "convnext_tiny": lambda: image_model("convnext_tiny", 224),  # products as MatMul, channels last
    "efficientnet_b0": lambda: image_model("efficientnet_b0", 224),
    "resnet50": lambda: image_model("resnet50", 224),
}


def spread_statistics(module):
    """Fresh batch norms are the identity, and small weights hide errors: both get random values."""
    import torch

    for part in module.modules():
        if isinstance(part, torch.nn.modules.batchnorm._BatchNorm) and part.running_var is not None:
            part.running_mean.normal_(0, 0.1)
            part.running_var.uniform_(0.5, 1.5)


def export(name, out, opset):
    """Writes the model and its case; gives the case's entry of the manifest."""
    import torch

    torch.manual_seed(20260101)
    case = MODELS[name]()
    with torch.no_grad():
        spread_statistics(case.module)
        references = case.module(*case.inputs.values())
    model_dir = os.path.join(out, "onnx", name)
    case_dir = os.path.join(out, "cases", name)
    os.makedirs(case_dir, exist_ok=True)
    names = write_model(case, model_dir, opset)
    feeds = {n: t.numpy() for n, t in zip(names, case.inputs.values())}
    results = {n: t.numpy() for n, t in zip(case.outputs, references)}
    inputs = toolkit.save(case_dir, "input", feeds)
    outputs = toolkit.save(case_dir, "output", results)
    within = lambda files: {n: f"cases/{name}/{p}" for n, p in files.items()}
    return {
        "model": f"onnx/{name}/model.onnx",
        "inputs": {n: {"file": p, "dtype": str(feeds[n].dtype), "shape": list(feeds[n].shape)}
                   for n, p in within(inputs).items()},
        "outputs": within(outputs),
        "reference": f"PyTorch {torch.__version__} CPU, float32",
    }


def write_model(case, model_dir, opset):
    """Writes model_dir/model.onnx with its external data; gives its input names, in the module's order."""
    import torch

    os.makedirs(model_dir, exist_ok=True)
    path = os.path.join(model_dir, "model.onnx")
    with torch.no_grad():
        torch.onnx.export(
            case.module, tuple(case.inputs.values()), path, dynamo=True, external_data=True,
            input_names=list(case.inputs), output_names=case.outputs, opset_version=opset)
    return input_names(path, list(case.inputs))


def input_names(path, expected):
    """The graph's own input names, in the order of the module's arguments."""
    import onnx

    graph = onnx.load(path, load_external_data=False).graph
    constants = {t.name for t in graph.initializer}
    names = [i.name for i in graph.input if i.name not in constants]
    if len(names) != len(expected):
        raise ValueError(f"{path} has inputs {names}, the module {expected}")
    return names


def check(name, entry, out, tools, tolerance):
    artifact = os.path.join(out, f"{name}.aicf")
    shapes = {n: i["shape"] for n, i in entry["inputs"].items()}
    code, text = tools.compile(os.path.join(out, entry["model"]), artifact, shapes)
    if code != 0:
        return f"aicf-compile: exit {code}: {text.strip()[-1500:]}"
    inputs = {n: i["file"] for n, i in entry["inputs"].items()}
    code, text = tools.run(out, artifact, inputs, entry["outputs"], tolerance)
    return "" if code == 0 else f"aicf-run: exit {code}: {text.strip()[-1500:]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, help="folder with the tools")
    parser.add_argument("--out", required=True, help="folder for models, cases and artifacts")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--device", help="where aicf-run runs; default: the target's")
    parser.add_argument("--opset", type=int, default=18, help="that the exporter is asked for")
    parser.add_argument("--rel", default="1e-4", help="largest error over the largest element")
    parser.add_argument("--only", help="regular expression of model names")
    parser.add_argument("--keep", action="store_true", help="use the models that DIR holds already")
    args = parser.parse_args()
    tools = toolkit.Tools(args.bin, args.target, args.device)
    manifest_path = os.path.join(args.out, "manifest.json")
    manifest = {}
    if os.path.exists(manifest_path):
        with open(manifest_path) as f:
            manifest = json.load(f)
    failed = 0
    for name in MODELS:
        if args.only and not re.search(args.only, name):
            continue
        why = ""
        try:
            if not (args.keep and name in manifest):
                manifest[name] = export(name, args.out, args.opset)
                with open(manifest_path, "w") as f:
                    json.dump(manifest, f, indent=1)
            why = check(name, manifest[name], args.out, tools, [f"--rel={args.rel}"])
        except Exception:  # one model that does not export says nothing about the others
            why = traceback.format_exc()[-2500:]
        steps = len(tools.steps(os.path.join(args.out, f"{name}.aicf"))) if not why else 0
        print(f"FAIL {name}\n{why}" if why else f"PASS {name} ({steps} steps)", flush=True)
        failed += bool(why)
    print(f"{failed} failed" if failed else "all passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
