# Shared by the scripts: where things are, and what a build needs. Sourced, not run.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=$root/build/downloads

packages=(
  ca-certificates g++ cmake ninja-build ccache git zstd pkg-config
  libflatbuffers-dev flatbuffers-compiler libprotobuf-dev protobuf-compiler libonnx-dev
  libonnx-testdata
  libcli11-dev libspdlog-dev libgtest-dev libbenchmark-dev libblis-pthread-dev libxxhash-dev
  nlohmann-json3-dev libpcre2-dev libutf8proc-dev libsodium-dev libpng-dev zlib1g-dev python3 python3-dev python3-pip python3-venv
)

# What only tests need: the report's page is driven in a browser, and libFuzzer comes with Clang.
test_packages=(chromium chromium-driver fonts-dejavu-core clang libclang-rt-14-dev)

say() { printf '== %s\n' "$*"; }

# install_packages [more...]: installs what is missing with the system's package manager; asks nothing.
install_packages() {
  local missing=() p
  for p in "${packages[@]}" "$@"; do
    dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
  done
  [ ${#missing[@]} = 0 ] && return
  say "installing ${missing[*]}"
  local as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo -n)
  export DEBIAN_FRONTEND=noninteractive
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# Device code is compiled with NVRTC. A machine without the CUDA toolkit takes it from PyPI.
find_nvrtc() {
  local found
  for found in "${CUDA_HOME:-/usr/local/cuda}"/lib64/libnvrtc.so.13 \
               "$cache"/nvrtc/nvidia/cu13/lib/libnvrtc.so.13; do
    if [ -e "$found" ]; then export AICF_NVRTC=$found; return; fi
  done
  say "fetching NVRTC"
  mkdir -p "$cache"
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest "$cache" \
    nvidia-cuda-nvrtc==13.0.88
  mkdir -p "$cache/nvrtc"
  python3 -m zipfile -e "$cache"/nvidia_cuda_nvrtc-13.0.88-*.whl "$cache/nvrtc"
  rm "$cache"/nvidia_cuda_nvrtc-13.0.88-*.whl
  export AICF_NVRTC=$cache/nvrtc/nvidia/cu13/lib/libnvrtc.so.13
}

# The interpreter of tests/properties, tests/tokenizers and the Python package: its packages, pinned, in an
# environment of the build folder.
find_python() {
  local wanted venv=$root/build/venv
  wanted=$(cat "$root"/tests/{properties,tokenizers}/requirements.txt "$root/python/requirements.txt")
  if [ "$wanted" != "$(cat "$venv/requirements.txt" 2>/dev/null)" ]; then
    say "fetching numpy, onnx, tokenizers, nanobind and pytest"
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: \
      --requirement "$root/tests/properties/requirements.txt" \
      --requirement "$root/python/requirements.txt"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: --no-deps \
      --requirement "$root/tests/tokenizers/requirements.txt"
    printf '%s\n' "$wanted" >"$venv/requirements.txt"
  fi
  export AICF_PYTHON=$venv/bin/python
}

# unpacked PATH: the folder itself, or where an archive's only folder was unpacked to, once per archive.
unpacked() {
  if [ -d "$1" ]; then
    (cd "$1" && pwd)
    return
  fi
  if [ ! -f "$1" ]; then
    echo "$1 is no folder and no archive" >&2
    return 1
  fi
  local name to
  name=$(basename "$1")
  to=$root/build/data/${name%%.*}
  if [ ! -e "$to/.complete" ] || [ "$1" -nt "$to/.complete" ]; then
    rm -rf "$to"
    mkdir -p "$to"
    case $name in
      *.zst) tar --zstd -xf "$1" -C "$to" ;;
      *) tar -xf "$1" -C "$to" ;;
    esac
    touch "$to/.complete"
  fi
  local inside=("$to"/*)
  if [ ${#inside[@]} != 1 ] || [ ! -d "${inside[0]}" ]; then
    echo "$1: expected an archive of one folder" >&2
    return 1
  fi
  echo "${inside[0]}"
}

# gpu_target: what aicf-compile calls the first GPU; fails where there is none, or none that it compiles for.
gpu_target() {
  local capability
  capability=$(nvidia-smi --id=0 --query-gpu=compute_cap --format=csv,noheader 2>/dev/null) || return 1
  case $capability in
    9.0) echo cuda:sm_90a ;;
    10.0) echo cuda:sm_100a ;;
    8.0 | 8.6 | 8.9 | 12.0) echo "cuda:sm_${capability/./}" ;;
    *) return 1 ;;
  esac
}

# build PRESET "TARGETS" [cmake options]: configures and builds; output only when it fails.
build() {
  local preset=$1 targets=$2 log
  shift 2
  log=$root/build/$preset.log
  mkdir -p "$root/build"
  say "building ($preset)"
  # shellcheck disable=SC2086 # a list of targets
  if ! { cmake -S "$root" --preset "$preset" "$@" &&
         cmake --build "$root/build/$preset" --parallel "$(nproc)" --target $targets; } >"$log" 2>&1; then
    tail -n 60 "$log" >&2
    exit 1
  fi
}
