#!/usr/bin/env bash
# Installs a build into a temporary prefix, moves that, and uses it as strangers do: every header alone,
# projects in C++ and C with find_package and with pkg-config, the installed tools.
#   run.sh BUILD_DIR ONNX_PROTO_DIR
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1 onnx_proto=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
step() { echo "== $*"; }

step "install, and move the prefix"
for component in runtime development tools; do
  cmake --install "$build" --prefix "$work/first" --component $component >/dev/null
done
prefix=$work/elsewhere
mv "$work/first" "$prefix"
libdir=$(dirname "$(find "$prefix" -name libaicf.so)")

step "sonames carry a version"
for library in aicf aicf_cuda; do
  soname=$(readelf -d "$libdir/lib$library.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
  [[ $soname =~ ^lib$library\.so\.[0-9]+\.[0-9]+$ ]] || { echo "soname '$soname'"; exit 1; }
  [ -e "$libdir/$soname" ] || { echo "$soname is not installed"; exit 1; }
done

step "every header compiles alone, and names only installed ones"
strict=(-Wall -Wextra -Wpedantic -Werror -fsyntax-only -I "$prefix/include")
for header in "$prefix"/include/aicf/*.h; do
  name=aicf/$(basename "$header")
  echo "#include <$name>" >"$work/alone.cc"
  g++ -std=c++20 "${strict[@]}" "$work/alone.cc"
  if [[ $name = aicf/*_c.h ]]; then
    g++ -std=c++17 "${strict[@]}" "$work/alone.cc"
    gcc -std=c99 "${strict[@]}" -x c "$work/alone.cc"
  fi
done
if grep -rnE '#include "(base|runtime|schema|kernels|compiler)/' "$prefix/include"; then exit 1; fi

step "every function of the C headers is exported by the libraries that have it"
exported() { nm -D --defined-only "$libdir/lib$1.so" | awk '{print $3}'; }
exported aicf >"$work/exported.aicf"
exported aicf_cuda >"$work/exported.aicf_cuda"
for header in "$prefix"/include/aicf/*_c.h; do
  libraries="aicf aicf_cuda"
  grep -q 'Part of libaicf,' "$header" && libraries=aicf
  declared=$(sed 's/ \*.*//' "$header" | grep -oE '\baicf_\w+\(' | tr -d '(' | sort -u)
  [ -n "$declared" ]
  for library in $libraries; do
    for function in $declared; do
      grep -qx "$function" "$work/exported.$library" || { echo "lib$library.so has no $function"; exit 1; }
    done
  done
done

step "an artifact by the installed compiler"
protoc --encode=onnx.ModelProto -I "$onnx_proto" onnx/onnx.proto <"$here/twice.txtpb" >"$work/twice.onnx"
"$prefix/bin/aicf-compile" "$work/twice.onnx" -o "$work/twice.aicf" >/dev/null
"$prefix/bin/aicf-inspect" "$work/twice.aicf" --verify
"$prefix/bin/aicf-sign" --new-key="$work/key.pem" --public-key="$work/key.pub.pem"
"$prefix/bin/aicf-sign" "$work/twice.aicf" --key="$work/key.pem" -o "$work/signed.aicf"
"$prefix/bin/aicf-inspect" "$work/signed.aicf" --verify --require-signature="$work/key.pub.pem"

step "find_package, from C++ and C"
export CMAKE_PREFIX_PATH=$prefix
cmake -S "$here/project" -B "$work/project" >/dev/null
cmake --build "$work/project" >/dev/null
for program in outside_cpp outside_allocator outside_c outside_cuda; do "$work/project/$program" "$work/twice.aicf"; done

step "find_package, without a C++ compiler"
cmake -S "$here/c_project" -B "$work/c_project" >/dev/null
cmake --build "$work/c_project" >/dev/null
"$work/c_project/outside_c" "$work/twice.aicf"

step "another minor version is refused"
for version in 0.1 0.99; do
  mkdir -p "$work/asks"
  printf 'cmake_minimum_required(VERSION 3.22)\nproject(asks)\nfind_package(aicf %s REQUIRED)\n' \
    $version >"$work/asks/CMakeLists.txt"
  found=yes
  cmake -S "$work/asks" -B "$work/asks-$version" >/dev/null 2>&1 || found=no
  echo "$version $found"
done | diff - <(printf '0.1 yes\n0.99 no\n')

step "pkg-config, from C++ and C"
export PKG_CONFIG_PATH=$libdir/pkgconfig
read -ra flags < <(pkg-config --cflags --libs aicf)
g++ -std=c++20 "$here/project/main.cc" "${flags[@]}" -Wl,-rpath,"$libdir" -o "$work/pkg_cpp"
gcc -std=c99 "$here/project/main.c" "${flags[@]}" -Wl,-rpath,"$libdir" -o "$work/pkg_c"
"$work/pkg_cpp" "$work/twice.aicf"
"$work/pkg_c" "$work/twice.aicf"
pkg-config --exists aicf_cuda
