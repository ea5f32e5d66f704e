"""huggingface.py FOLDER: trains tokenizers of every kind on random text and writes, for each, its
tokenizer.json and texts with their ids and what these decode to (huggingface_test.cc reads them)."""

import json
import pathlib
import struct
import sys

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from random_text import Texts

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
TEXTS = 400


def byte_level(texts, pre, normalizer=None, ignore_merges=False, bos=False):
    tokenizer = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    tokenizer.pre_tokenizer = pre
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=700, special_tokens=["<|end|>", "<s>"], show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(texts, trainer)
    if bos:
        tokenizer.post_processor = template(tokenizer, "<s> $A", ["<s>"])
    return tokenizer


def template(tokenizer, single, names):
    return processors.TemplateProcessing(single=single, special_tokens=[(n, tokenizer.token_to_id(n)) for n in names])


def split(expression, behavior="isolated"):
    return pre_tokenizers.Split(Regex(expression), behavior)


def sentencepiece(texts, pre, prefix, fallback):
    """Merges of characters; with tokens for bytes where `fallback` is set."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    steps = ([normalizers.Prepend("▁")] if prefix else []) + [normalizers.Replace(" ", "▁")]
    if pre is None:
        tokenizer.normalizer = normalizers.Sequence(steps)
    else:
        tokenizer.pre_tokenizer = pre
    trainer = trainers.BpeTrainer(vocab_size=500, special_tokens=["<unk>", "<s>", "<|end|>"], limit_alphabet=90,
                                  show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    if fallback:
        data = json.loads(tokenizer.to_str())
        vocab = data["model"]["vocab"]
        for byte in range(256):
            vocab[f"<0x{byte:02X}>"] = len(vocab)
        data["model"]["byte_fallback"] = True
        tokenizer = Tokenizer.from_str(json.dumps(data))
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
                                          + ([decoders.Strip(" ", 1, 0)] if prefix or pre else []))
    tokenizer.post_processor = template(tokenizer, "<s> $A", ["<s>"])
    return tokenizer


def unigram(texts, normalizer):
    tokenizer = Tokenizer(models.Unigram())
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    # Every character of the training text is a token, so there are few of them; the others are unknown.
    texts = ["".join(c for c in text if ord(c) < 0x250) for text in texts]
    trainer = trainers.UnigramTrainer(vocab_size=1200, special_tokens=["<unk>", "<s>", "<|end|>"], unk_token="<unk>",
                                      show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    # Models have scores in 32 bits, whatever a file prints; two ways to split a text that are equally good
    # then differ by the same roundings.
    data = json.loads(tokenizer.to_str())
    for row in data["model"]["vocab"]:
        row[1] = struct.unpack("f", struct.pack("f", row[1]))[0]
    tokenizer = Tokenizer.from_str(json.dumps(data))
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = template(tokenizer, "$A <|end|>", ["<|end|>"])
    return tokenizer


def wordpiece(texts, lowercase):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=900, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
                                        limit_alphabet=300, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.decoder = decoders.WordPiece(cleanup=False)
    tokenizer.post_processor = template(tokenizer, "[CLS] $A [SEP]", ["[CLS]", "[SEP]"])
    return tokenizer


def all_tokenizers(texts):
    level = pre_tokenizers.ByteLevel
    yield "gpt2", byte_level(texts, level(add_prefix_space=False))
    yield "prefixed", byte_level(texts, level(add_prefix_space=True), bos=True)
    yield "llama3", byte_level(texts, pre_tokenizers.Sequence([split(LLAMA3), level(add_prefix_space=False, use_regex=False)]),
                               ignore_merges=True, bos=True)
    yield "digits", byte_level(texts, pre_tokenizers.Sequence([pre_tokenizers.Digits(True), level(add_prefix_space=False)]))
    yield "nfc", byte_level(texts, pre_tokenizers.Sequence([split(LLAMA3), level(add_prefix_space=False, use_regex=False)]),
                            normalizers.NFC())
    yield "removed", byte_level(texts, pre_tokenizers.Sequence([split(r"\s+", "removed"), level(add_prefix_space=False)]))
    yield "nfkd", byte_level(texts, level(add_prefix_space=False),
                             normalizers.Sequence([normalizers.NFKD(), normalizers.Lowercase()]))
    yield "llama2", sentencepiece(texts, None, True, True)
    yield "gemma", sentencepiece(texts, None, False, True)
    yield "unknown", sentencepiece(texts, pre_tokenizers.Metaspace(prepend_scheme="first"), False, False)
    yield "unigram", unigram(texts, None)
    yield "unigram_nfkc", unigram(texts, normalizers.NFKC())
    yield "bert", wordpiece(texts, True)
    yield "bert_cased", wordpiece(texts, False)


def cases(name, tokenizer, texts):
    for text in texts:
        for special in (False, True):
            # The library's Unigram takes special tokens from a user's text whatever the flag says.
            if name.startswith("unigram") and not special and any(t in text for t in ("<s>", "<|end|>", "<unk>")):
                continue
            # The flag says whether special tokens are text like any other.
            tokenizer.encode_special_tokens = not special
            ids = tokenizer.encode(text, add_special_tokens=special).ids
            decoded = tokenizer.decode(ids, skip_special_tokens=special)
            yield {"text": text, "special": special, "ids": ids, "decoded": decoded}


def main():
    folder = pathlib.Path(sys.argv[1])
    # Merges never make a special token of what a user wrote: a vocabulary that does so is refused.
    training = [t.replace("<s>", "").replace("<|end|>", "") for t in Texts(1).many(3000)]
    for name, tokenizer in all_tokenizers(training):
        tokenizer.add_tokens([AddedToken("(((", normalized=False), AddedToken("Word", single_word=True, normalized=False)])
        tokenizer.add_special_tokens([AddedToken("<|strip|>", lstrip=True, rstrip=True, normalized=False)])
        (folder / f"{name}.json").write_text(tokenizer.to_str(), encoding="utf-8")
        texts = [*Texts(2).many(TEXTS), "a <|strip|> b", " <|strip|>", "(((a((((", "Word Wordy aWord (Word)", "a<s> b"]
        with open(folder / f"{name}.cases", "w", encoding="utf-8") as out:
            for case in cases(name, tokenizer, texts):
                out.write(json.dumps(case) + "\n")


if __name__ == "__main__":
    main()
