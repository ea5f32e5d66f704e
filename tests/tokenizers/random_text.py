"""Random texts in all scripts, with what tokenizers find difficult."""

import random
import unicodedata

WORDS = ["the", "of", "I'm", "don't", "THEY'LL", "camelCase", "naïve", "Straße", "привет", "Ελλάδα", "שלום",
         "مرحبا", "नमस्ते", "สวัสดี", "你好世界", "こんにちは", "한국어", "ﬁne", "①②", "x=3.14e-10", "12345678", "٣٤٥",
         "a_b", "https://x.y/z?q=1", "<|end|>", "<s>", "[MASK]", "##ing", "▁", "👩‍👩‍👧", "🇩🇪", "e\u0301", "Å", "İ"]
SPACES = [" ", " ", " ", "  ", "\n", "\n\n", "\t", "\r\n", "   ", "\u00a0", "\u3000", " \n ", "\u200b", ""]
MARKS = list(".,;:!?'\"()[]{}<>/\\|@#$%^&*-+=_~`…—“”·")


def _points():
    """Characters whose category has been the same for long, so that all libraries agree about them."""
    old = unicodedata.ucd_3_2_0
    return [chr(c) for c in range(0x110000)
            if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co")
            and old.category(chr(c)) == unicodedata.category(chr(c))]


class Texts:
    def __init__(self, seed):
        self._random = random.Random(seed)
        self._points = _points()

    def _word(self):
        r = self._random
        kind = r.random()
        if kind < 0.5:
            return r.choice(WORDS)
        if kind < 0.7:
            return "".join(r.choice("etaoinshrdlu") for _ in range(r.randint(1, 9)))
        if kind < 0.8:
            return str(r.randint(0, 10 ** r.randint(1, 12)))
        if kind < 0.9:
            return "".join(r.choice(MARKS) for _ in range(r.randint(1, 4)))
        start = r.randrange(len(self._points))  # neighbours are of one script
        return "".join(self._points[(start + r.randint(0, 40)) % len(self._points)] for _ in range(r.randint(1, 6)))

    def text(self, words):
        return "".join(self._word() + self._random.choice(SPACES) for _ in range(words))

    def characters(self, count):
        return "".join(self._random.choice(self._points) for _ in range(count))

    def many(self, count):
        yield from ["", " ", "  ", "\n", " \n", "a", " a", "a ", "\u0301", "\x00", "\ufeff", "a\u0000b"]
        for i in range(count):
            yield self.characters(self._random.randint(1, 30)) if i % 4 == 0 else self.text(self._random.randint(1, 12))
