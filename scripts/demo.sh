#!/usr/bin/env bash
# The main job, from a fresh clone: installs what is missing, builds, compiles a text recogniser for this
# machine (the GPU if there is one), reads a line of text from a picture, and shows what it cost; then compiles a
# language model and asks it a question.
cd "$(dirname "$0")/.."
. scripts/common.sh

install_packages
build release "aicf-compile aicf-run aicf-inspect ppocr-read" -DAICF_BUILD_TESTS=OFF -DAICF_BUILD_BENCH=OFF
bin=$root/build/release/bin
models=$root/build/models/ppocr
artifact=$root/build/rec.aicf

say "fetching PP-OCRv4"
models/fetch.sh ppocr "$models"

if target=$(gpu_target); then find_nvrtc; else target=cpu; fi
say "compiling the recogniser for $target"
"$bin/aicf-compile" "$models/rec.onnx" -o "$artifact" --force --target="$target" --shapes=x:1x3x48x640

say "reading models/ppocr/data/shipped.png"
"$bin/ppocr-read" "$artifact" models/ppocr/data/shipped.png

say "what it costs"
"$bin/aicf-run" "$artifact" --memory
"$bin/aicf-inspect" "$artifact" --summary

say "fetching SmolLM2-135M-Instruct"
chat=$root/build/models/smollm2
models/fetch.sh smollm2 "$chat"

say "compiling it for $target"
"$bin/aicf-compile" "$chat/smollm2.gguf" -o "$root/build/smollm2.aicf" --force --target="$target" --context=2048

say "asking it: Why is the sky blue?"
"$bin/aicf-run" "$root/build/smollm2.aicf" --chat --prompt="Why is the sky blue?" -n 64
