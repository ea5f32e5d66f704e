#!/usr/bin/env python3
"""Architectures that nobody here chose: torchvision's, one of every timm module, and those of transformers.

    zoo.py --bin build/release/bin --out DIR [--target cuda:sm_90a] [--device cuda:0] [--jobs 14]
           [--only REGEX] [--seconds 540]

Each gets random weights, is exported by torch.onnx.export(dynamo=True), compiled unedited, run, and compared
with PyTorch (export.py does one model; this does the lot in parallel). A model is one of

    pass     its outputs are within --rel of PyTorch's
    fail     it compiled to something wrong, or did not compile
    peer     PyTorch itself could not build or export it: the last line of its error is kept
    late     the time was over before it was its turn

DIR/zoo.json has all of them, the last line counts them. Exit code 1 when one fails.
Needs torch, torchvision, timm, transformers, onnx, onnxscript.
"""

import argparse
import concurrent.futures
import json
import multiprocessing
import os
import re
import shutil
import signal
import sys
import time

import export
import toolkit

LARGEST_PARAMETERS = 120e6  # architectures, not sizes: larger ones are left out and counted

# Of a timm module's models the one whose name sounds smallest stands for the module.
SMALL_WORDS = ["test_", "atto", "femto", "pico", "nano", "xxtiny", "xtiny", "xxs", "tiny", "_xs", "mini", "_s0",
               "_b0", "_t0", "_t", "lite", "small", "_s", "18", "26", "_b1", "b0"]


def torchvision_names():
    import torchvision

    names = torchvision.models.list_models(module=torchvision.models)
    names += torchvision.models.list_models(module=torchvision.models.segmentation)
    names += torchvision.models.list_models(module=torchvision.models.video)
    return [f"torchvision/{name}" for name in names]


def timm_names():
    import timm

    def smallness(name):
        places = [i for i, word in enumerate(SMALL_WORDS) if word in name]
        return (min(places, default=len(SMALL_WORDS)), len(name), name)

    chosen = []
    for module in timm.list_modules():
        models = timm.list_models(module=module)
        if models:
            chosen.append(f"timm/{min(models, key=smallness)}")
    return chosen


# Class of transformers: kind of input. Sizes are SMALL's, as far as its configuration knows them.
TRANSFORMERS = {
    "AlbertModel": "tokens", "BertModel": "tokens", "BloomModel": "tokens", "CamembertModel": "tokens",
    "ConvBertModel": "tokens", "CTRLModel": "tokens", "DebertaV2Model": "tokens", "DistilBertModel": "tokens",
    "ElectraModel": "tokens", "ErnieModel": "tokens", "FalconModel": "tokens", "FNetModel": "tokens",
    "GemmaModel": "tokens", "GPT2Model": "tokens", "GPTJModel": "tokens", "GPTNeoModel": "tokens",
    "GPTNeoXModel": "tokens", "LlamaModel": "tokens", "MistralModel": "tokens", "MobileBertModel": "tokens",
    "MPNetModel": "tokens", "OPTModel": "tokens", "PhiModel": "tokens", "Qwen2Model": "tokens",
    "RobertaModel": "tokens", "RoFormerModel": "tokens", "SqueezeBertModel": "tokens", "T5EncoderModel": "tokens",
    "XLMRobertaModel": "tokens", "BeitModel": "pixels", "DeiTModel": "pixels", "Dinov2Model": "pixels",
    "SwinModel": "pixels", "ViTModel": "pixels", "ViTMAEModel": "pixels", "YolosModel": "pixels",
    "Wav2Vec2Model": "sound", "HubertModel": "sound",
}
SMALL = {"vocab_size": 500, "hidden_size": 64, "d_model": 64, "n_embd": 64, "embedding_size": 64, "dim": 64,
         "num_hidden_layers": 2, "n_layer": 2, "n_layers": 2, "num_layers": 2, "num_attention_heads": 4, "n_head": 4,
         "n_heads": 4, "num_heads": [2, 4], "intermediate_size": 128, "ffn_dim": 128, "d_ff": 128,
         "image_size": 64, "patch_size": 8, "num_key_value_heads": 4, "head_dim": 16}


def transformer(name):
    import torch
    import transformers

    cls = getattr(transformers, name)
    config = cls.config_class()
    for key, value in SMALL.items():
        old = getattr(config, key, None)
        if old is not None and isinstance(old, type(value)):
            setattr(config, key, value)
    config.use_cache = False
    module = cls._from_config(config, attn_implementation="sdpa") if cls._supports_sdpa else cls(config)
    kind = TRANSFORMERS[name]
    if kind == "tokens":
        call, given = (lambda m, ids: (m(input_ids=ids)[0],)), torch.randint(2, 400, (2, 24))
    elif kind == "pixels":
        size = config.image_size if isinstance(config.image_size, int) else config.image_size[0]
        call, given = (lambda m, x: (m(pixel_values=x)[0],)), torch.randn(1, 3, size, size)
    else:
        call, given = (lambda m, x: (m(input_values=x)[0],)), torch.randn(1, 8000)
    return export.Case(export.first_of(module, call), {"given": given}, ["made"])


def torchvision_case(name):
    import torch
    import torchvision

    module = torchvision.models.get_model(name, weights=None, **({"weights_backbone": None} if name.startswith(
        ("deeplab", "fcn", "lraspp")) else {}))
    if name in torchvision.models.list_models(module=torchvision.models.video):
        shape = (1, 3, 16, 224, 224) if name.startswith(("mvit", "swin")) else (1, 3, 8, 112, 112)
    else:
        shape = (1, 3, 299, 299) if name.startswith("inception") else (1, 3, 224, 224)

    def call(model, x):
        out = model(x)
        return (out["out"] if isinstance(out, dict) else out,)

    return export.Case(export.first_of(module, call), {"image": torch.randn(shape)}, ["made"])


def timm_case(name):
    import timm
    import torch

    module = timm.create_model(name, pretrained=False)
    shape = module.default_cfg.get("input_size", (3, 224, 224))
    return export.Case(export.first_of(module, lambda m, x: (m(x),)), {"image": torch.randn(1, *shape)}, ["made"])


def make(name):
    library, model = name.split("/", 1)
    case = {"torchvision": torchvision_case, "timm": timm_case, "transformers": transformer}[library](model)
    count = sum(p.numel() for p in case.module.parameters())
    if count > LARGEST_PARAMETERS:
        raise ValueError(f"{count / 1e6:.0f} million parameters are more than this looks at")
    return case


def last_line(text):
    lines = [line for line in str(text).strip().splitlines() if line.strip()]
    return lines[-1][-300:] if lines else ""


def one(name, args):
    """(name, outcome, detail) of one architecture; its files are removed again."""
    import torch

    torch.set_num_threads(1)
    if time.time() > args.end:
        return name, "late", ""
    signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(TimeoutError("took too long")))
    signal.alarm(args.each)
    key = name.replace("/", "__")
    out = os.path.join(args.out, key)
    try:
        try:
            export.MODELS[key] = lambda: make(name)
            entry = export.export(key, out, args.opset)
        except Exception as error:  # not this project's: no model, no export
            return name, "peer", last_line(f"{type(error).__name__}: {error}")
        tools = toolkit.Tools(args.bin, args.target, args.device)
        why = export.check(key, entry, out, tools, [f"--rel={args.rel}"])
        return name, "fail" if why else "pass", why[-700:]
    except Exception as error:
        return name, "fail", last_line(f"{type(error).__name__}: {error}")
    finally:
        signal.alarm(0)
        shutil.rmtree(out, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, help="folder with the tools")
    parser.add_argument("--out", required=True, help="folder for models while they are looked at, and zoo.json")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--device", help="where aicf-run runs; default: the target's")
    parser.add_argument("--opset", type=int, default=18)
    parser.add_argument("--rel", default="1e-4", help="largest error over the largest element")
    parser.add_argument("--only", help="regular expression of names")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--each", type=int, default=240, help="seconds that one architecture may take")
    parser.add_argument("--seconds", type=int, default=540, help="no architecture is begun after so long")
    args = parser.parse_args()
    args.end = time.time() + args.seconds
    names = torchvision_names() + timm_names() + [f"transformers/{name}" for name in TRANSFORMERS]
    names = [name for name in names if not args.only or re.search(args.only, name)]
    os.makedirs(args.out, exist_ok=True)
    rows = []
    with concurrent.futures.ProcessPoolExecutor(args.jobs, multiprocessing.get_context("spawn")) as pool:
        for row in concurrent.futures.as_completed([pool.submit(one, name, args) for name in names]):
            rows.append(row.result())
            name, outcome, detail = rows[-1]
            print(f"{outcome:5} {name} {detail if outcome != 'pass' else ''}".rstrip(), flush=True)
    with open(os.path.join(args.out, "zoo.json"), "w") as f:
        json.dump(sorted(rows), f, indent=1)
    counts = {kind: sum(row[1] == kind for row in rows) for kind in ("pass", "fail", "peer", "late")}
    print(f"{len(rows)} architectures: " + ", ".join(f"{n} {kind}" for kind, n in counts.items()))
    return 1 if counts["fail"] else 0


if __name__ == "__main__":
    sys.exit(main())
