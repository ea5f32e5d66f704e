#include <cstring>
#include <utility>

#include "base/float16.h"
#include "base/float8.h"
#include "tools/aicf-run/tensors.h"
#include "tools/common/flags.h"
#include "tools/common/npy.h"

namespace aicf::tools {
namespace {

/// SplitMix64: the same numbers on every machine and standard library.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// Uniform in [-1, 1).
  double Real() { return static_cast<double>(Next() >> 11) * 0x1p-52 - 1; }

 private:
  uint64_t state_;
};

/// Integers stay small: they are mostly indices, lengths and token ids.
std::string_view OriginOf(DType dtype) {
  if (IsFloat(dtype)) return "random in [-1, 1)";
  if (dtype == DType::kBool || IsStorageOnly(dtype)) return "random";
  return DTypeBytes(dtype) == 1 ? "random bytes" : "random in [0, 10)";
}

/// Lowest and highest value of an integer below 8 bits.
std::pair<int, int> RangeOf(DType dtype) {
  const int bits = dtype == DType::kI4 || dtype == DType::kU4 ? 4 : 2;
  if (KindOf(dtype) == DTypeKind::kSigned) return {-(1 << (bits - 1)), (1 << (bits - 1)) - 1};
  return {0, (1 << bits) - 1};
}

int SmallInteger(uint64_t random, DType dtype) {
  const auto [low, high] = RangeOf(dtype);
  return low + static_cast<int>(random % static_cast<uint64_t>(high - low + 1));
}

template <class T>
T Draw(Random& random, DType dtype) {
  if (dtype == DType::kF16) return static_cast<T>(F32ToF16(static_cast<float>(random.Real())));
  if (dtype == DType::kBF16) return static_cast<T>(F32ToBF16(static_cast<float>(random.Real())));
  if (IsFloat(dtype) && IsStorageOnly(dtype)) {
    return static_cast<T>(F32ToFloat8(static_cast<float>(random.Real()), dtype));
  }
  if (IsFloat(dtype)) return static_cast<T>(random.Real());
  if (IsStorageOnly(dtype)) return static_cast<T>(SmallInteger(random.Next(), dtype));
  if (dtype == DType::kBool) return static_cast<T>(random.Next() & 1);
  return static_cast<T>(DTypeBytes(dtype) == 1 ? random.Next() : random.Next() % 10);
}

InputSource MakeUp(const TensorInfo& info, uint64_t seed) {
  InputSource source{info, std::vector<std::byte>(info.bytes), std::string(OriginOf(info.dtype))};
  Random random(seed);
  VisitStorage(info.dtype, [&](auto sample) {
    for (uint64_t at = 0; at < info.bytes; at += sizeof sample) {
      sample = Draw<decltype(sample)>(random, info.dtype);
      std::memcpy(&source.data[at], &sample, sizeof sample);
    }
  });
  return source;
}

/// Integers below 8 bits travel in bytes, which could hold more.
Status CheckRange(const TensorInfo& info, const NpyArray& array, const std::string& path) {
  if (!IsStorageOnly(info.dtype) || IsFloat(info.dtype)) return OkStatus();
  const auto [low, high] = RangeOf(info.dtype);
  const bool is_signed = low < 0;
  for (std::byte b : array.data) {
    const int value = is_signed ? static_cast<int8_t>(b) : std::to_integer<int>(b);
    if (value >= low && value <= high) continue;
    return Error(Code::kInvalidArgument, "input '", info.name, "': ", path, " holds ", value,
                 ", which is no ", DTypeName(info.dtype));
  }
  return OkStatus();
}

Result<InputSource> ReadInput(const TensorInfo& info, const std::string& path) {
  AICF_ASSIGN_OR_RETURN(NpyArray array, ReadNpy(path));
  if (array.dtype != NpyDType(info.dtype) || !(array.shape == info.shape)) {
    return Error(Code::kInvalidArgument, "input '", info.name, "': expected ",
                 DTypeName(info.dtype), " ", ToString(info.shape), ", ", path, " holds ",
                 DTypeName(array.dtype), " ", ToString(array.shape));
  }
  AICF_RETURN_IF_ERROR(CheckRange(info, array, path));
  return InputSource{info, std::move(array.data), path};
}

/// Whether a replay can give the output this shape.
bool MayHaveShape(const TensorInfo& info, Dims shape) {
  const int axis = info.dynamic_axis;
  if (axis >= 0 && shape.rank() == info.shape.rank() && shape[axis] <= info.shape[axis]) {
    shape[axis] = info.shape[axis];
  }
  return shape == info.shape;
}

std::vector<std::string> NamesOf(const std::vector<TensorInfo>& tensors) {
  std::vector<std::string> names;
  names.reserve(tensors.size());
  for (const TensorInfo& t : tensors) names.push_back(t.name);
  return names;
}

}  // namespace

Result<std::vector<InputSource>> GatherInputs(const std::vector<TensorInfo>& inputs,
                                              const std::vector<std::string>& load_inputs) {
  AICF_ASSIGN_OR_RETURN(const auto files,
                        ParseNamedFiles("--load-inputs", load_inputs, NamesOf(inputs)));
  std::vector<InputSource> sources;
  for (const TensorInfo& info : inputs) {
    const auto file = files.find(info.name);
    if (file == files.end()) {
      sources.push_back(MakeUp(info, sources.size()));
      continue;
    }
    AICF_ASSIGN_OR_RETURN(InputSource source, ReadInput(info, file->second));
    sources.push_back(std::move(source));
  }
  return sources;
}

Result<std::vector<Reference>> LoadReferences(const std::vector<TensorInfo>& outputs,
                                              const std::vector<std::string>& load_ref_outputs) {
  AICF_ASSIGN_OR_RETURN(const auto files,
                        ParseNamedFiles("--load-ref-outputs", load_ref_outputs, NamesOf(outputs)));
  std::vector<Reference> references;
  for (const TensorInfo& info : outputs) {
    const auto file = files.find(info.name);
    if (file == files.end()) continue;
    AICF_ASSIGN_OR_RETURN(NpyArray array, ReadNpy(file->second));
    if (!MayHaveShape(info, array.shape)) {
      return Error(Code::kInvalidArgument, "output '", info.name, "': expected ",
                   ToString(info.shape), ", ", file->second, " holds ", ToString(array.shape));
    }
    const bool same = array.dtype == NpyDType(info.dtype);
    references.push_back(
        {info, file->second, same ? info.dtype : array.dtype, array.shape, std::move(array.data)});
  }
  return references;
}

}  // namespace aicf::tools
