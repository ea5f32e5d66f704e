"""write_cases.py FOLDER [REGEX]: saves small models with random weights as transformers does, and beside each what
it computes from random tokens in float64 (../transformers_test.cc reads them).

A case is FOLDER/NAME with the model's own files, case.json, tokens.npy, and logits.npy of every position
(decoders) or embeddings.npy of several lengths (encoders).
"""

import json
import pathlib
import re
import sys

import numpy as np
import tokenizers
import torch
import transformers

from models import DECODERS, ENCODERS

TOKENS = 70  # of a text
EMBEDDED = (1, 2, 7, 31, 32, 33, 50)  # tokens of the texts that encoders embed


def randomize(model, seed):
    """Weights of a size at which every part of the model matters, and a wrong one shows."""
    torch.manual_seed(seed)
    for name, weight in model.named_parameters():
        values = torch.randn_like(weight)
        if weight.ndim == 1:
            # Norms scale by about 1, whether they keep that or what it differs by.
            values = 0.2 * values + weight.mean().round()
        elif not re.search("embed|wte|wpe|lm_head", name):
            values *= (weight.shape[0] if "c_" in name else weight.shape[1]) ** -0.5
        weight.data.copy_(values)


def logits_of(model, tokens):
    with torch.no_grad():
        return model(input_ids=torch.from_numpy(tokens)[None].long(), use_cache=False).logits[0].double().numpy()


def decoder_results(kind, model, tokens, folder):
    """Writes the logits; gives the largest error of transformers' own in bf16, of a row by its largest logit."""
    logits = logits_of(model, tokens)
    np.save(folder / "logits.npy", logits.astype(np.float32))
    narrow = logits_of(kind.from_pretrained(folder, dtype=torch.bfloat16, attn_implementation="eager").eval(), tokens)
    return float((np.abs(narrow - logits).max(-1) / np.abs(logits).max(-1)).max())


def encoder_results(model, tokens, folder, normalized):
    rows = []
    model = getattr(model, "bert", model)  # without a head
    for length in EMBEDDED:
        with torch.no_grad():
            states = model(input_ids=torch.from_numpy(tokens[:length])[None].long()).last_hidden_state[0]
        row = states.mean(0)
        rows.append((row / row.norm() if normalized else row).numpy())
    np.save(folder / "embeddings.npy", np.stack(rows).astype(np.float32))
    np.save(folder / "lengths.npy", np.array(EMBEDDED, np.int32))


def add_tokenizer(folder, older):
    """Words of the letters a to h, as BERT's tokenizer takes them apart."""
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"] + list("abcdefgh") + ["##" + c for c in "abcdefgh"]
    vocabulary = {token: i for i, token in enumerate(tokens)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(tokens[:4])
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    if older:
        tokenizer.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.save(str(folder / "tokenizer.json"))
    return tokenizer


def save(name, case, folder, seed):
    config = case.config()
    kind = getattr(transformers, case.model)
    model = kind._from_config(config)
    randomize(model, seed)
    model.to(case.dtype).save_pretrained(folder, max_shard_size=case.shard)
    # Read again: to() has rounded the frequencies of rotary positions, too.
    model = kind.from_pretrained(folder, dtype=torch.float64, attn_implementation="eager").eval()
    if case.edit:
        edited = json.loads((folder / "config.json").read_text())
        case.edit(edited)
        (folder / "config.json").write_text(json.dumps(edited))
    for path, text in case.files.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(json.dumps(text))
    about = {"context": case.context}
    if name in ENCODERS:
        text = "Cab, feed a bad egg!"
        about |= {"text": text, "ids": add_tokenizer(folder, older=name == "bert").encode(text).ids}
    vocabulary = config.get_text_config().vocab_size
    # The last ids of some models stand for images.
    tokens = np.random.default_rng(seed).integers(0, vocabulary - 10, TOKENS).astype(np.int32)[:case.context]
    np.save(folder / "tokens.npy", tokens)
    if name in DECODERS:
        about["bf16_error"] = decoder_results(kind, model, tokens, folder)
    else:
        encoder_results(model, tokens, folder, case.normalized)
    (folder / "case.json").write_text(json.dumps(about))


def main():
    root = pathlib.Path(sys.argv[1])
    wanted = re.compile(sys.argv[2] if len(sys.argv) > 2 else "")
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    for seed, (name, case) in enumerate((DECODERS | ENCODERS).items()):
        if not wanted.search(name):
            continue
        folder = root / name
        folder.mkdir()
        save(name, case, folder, seed)


main()
