#!/usr/bin/env python3
"""Samples for the PP-OCR models: lines of text for the recogniser, pages of lines for the detector.

  bench/ppocr_samples.py OUT --count 32 [--seed 0] [--height 48] [--width 640] [--page 640] [--fit]

Writes OUT/rec/NN.npy (1 x 3 x height x width) and OUT/det/NN.npy (1 x 3 x page x page), which
aicf-compile --calibrate=OUT/rec takes as they are, and OUT/texts.json with what stands in each.
Lines are words and numbers in the fonts that this machine has, of different sizes and colours, on grounds with
noise, blurred here and there, as photographs of labels are.

Needs numpy and Pillow from PyPI, and TrueType fonts below /usr/share/fonts.
"""
import argparse
import json
import pathlib

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

WORDS = """engine invoice total shipped received weight number model serial date street station delivery order
November March Friday paid quantity litre metre copper valve pressure north customer account balance Berlin Oslo
warranty return fragile keep dry handle with care batch expires 2026 1024 17.50 No. A-113 kg mm 98% 230V""".split()


def fonts():
    found = sorted(pathlib.Path("/usr/share/fonts").rglob("*.ttf"))
    if not found:
        raise SystemExit("there is no TrueType font below /usr/share/fonts")
    return found


def text_of(random, words):
    return " ".join(random.choice(WORDS) for _ in range(words))


def colours(random):
    """A ground and an ink that can be told apart."""
    ground = random.integers(150, 256, 3)
    ink = random.integers(0, 90, 3)
    return (ground, ink) if random.random() < 0.8 else (ink, ground)


def drawn(random, text, font, ground, ink):
    left, top, right, bottom = font.getbbox(text)
    size = (right - left + int(random.integers(8, 30)), bottom - top + int(random.integers(8, 20)))
    image = Image.new("RGB", size, tuple(int(c) for c in ground))
    ImageDraw.Draw(image).text((4 - left, 4 - top), text, tuple(int(c) for c in ink), font=font)
    return image


def spoiled(random, image):
    """With noise, and blurred in one of three cases."""
    if random.random() < 0.33:
        image = image.filter(ImageFilter.GaussianBlur(float(random.uniform(0.3, 1.2))))
    pixels = np.asarray(image, np.float32)
    noise = random.normal(0, random.uniform(0, 12), pixels.shape)
    return np.clip(pixels + noise, 0, 255).astype(np.uint8)


def line(random, faces, args):
    """A line as the recogniser takes it (models/ppocr/recognizer.h), and its text. It is squeezed into the width, or
    with --fit loses words until it need not be."""
    text = text_of(random, int(random.integers(1, 6)))
    font = ImageFont.truetype(str(faces[random.integers(len(faces))]), int(random.integers(24, 60)))
    ground, ink = colours(random)
    image = drawn(random, text, font, ground, ink)
    while args.fit and " " in text and image.width * args.height > args.width * image.height:
        text = text.rsplit(" ", 1)[0]
        image = drawn(random, text, font, ground, ink)
    pixels = spoiled(random, image)
    height, width = pixels.shape[:2]
    wide = min(args.width, max(1, round(width * args.height / height)))
    scaled = np.asarray(Image.fromarray(pixels).resize((wide, args.height), Image.BILINEAR), np.float32)
    out = np.zeros((1, 3, args.height, args.width), np.float32)
    out[0, :, :, :wide] = (scaled / 127.5 - 1).transpose(2, 0, 1)[::-1]
    return out, text


def page(random, faces, args):
    """A page as the detector takes it: blue, green, red, less the mean over the deviation."""
    ground, ink = colours(random)
    image = Image.new("RGB", (args.page, args.page), tuple(int(c) for c in ground))
    y, texts = int(random.integers(5, 60)), []
    while y < args.page - 60:
        font = ImageFont.truetype(str(faces[random.integers(len(faces))]), int(random.integers(14, 44)))
        texts.append(text_of(random, int(random.integers(1, 5))))
        piece = drawn(random, texts[-1], font, ground, ink)
        image.paste(piece, (int(random.integers(0, 120)), y))
        y += piece.height + int(random.integers(4, 60))
    pixels = spoiled(random, image).astype(np.float32)[:, :, ::-1] / 255
    mean, deviation = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
    return ((pixels - mean) / deviation).transpose(2, 0, 1)[None].astype(np.float32), texts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--height", type=int, default=48)
    parser.add_argument("--width", type=int, default=640)
    parser.add_argument("--page", type=int, default=640)
    parser.add_argument("--fit", action="store_true", help="lines of so many words as fit without being squeezed")
    args = parser.parse_args()
    random, faces, texts = np.random.default_rng(args.seed), fonts(), {}
    for kind, make in (("rec", line), ("det", page)):
        folder = args.out / kind
        folder.mkdir(parents=True, exist_ok=True)
        for i in range(args.count):
            sample, texts[f"{kind}/{i:02}"] = make(random, faces, args)
            np.save(folder / f"{i:02}.npy", sample)
    (args.out / "texts.json").write_text(json.dumps(texts, indent=1))


if __name__ == "__main__":
    main()
