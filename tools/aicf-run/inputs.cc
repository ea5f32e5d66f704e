#include <cstring>

#include "base/float16.h"
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
  if (dtype == DType::kBool) return "random";
  return DTypeBytes(dtype) == 1 ? "random bytes" : "random in [0, 10)";
}

template <class T>
T Draw(Random& random, DType dtype) {
  if (dtype == DType::kF16) return static_cast<T>(F32ToF16(static_cast<float>(random.Real())));
  if (dtype == DType::kBF16) return static_cast<T>(F32ToBF16(static_cast<float>(random.Real())));
  if (IsFloat(dtype)) return static_cast<T>(random.Real());
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

Result<InputSource> ReadInput(const TensorInfo& info, const std::string& path) {
  AICF_ASSIGN_OR_RETURN(NpyArray array, ReadNpy(path));
  const bool bf16_bits = info.dtype == DType::kBF16 && array.dtype == DType::kU16;
  if ((array.dtype != info.dtype && !bf16_bits) || !(array.shape == info.shape)) {
    return Error(Code::kInvalidArgument, "input '", info.name, "': expected ",
                 DTypeName(info.dtype), " ", ToString(info.shape), ", ", path, " holds ",
                 DTypeName(array.dtype), " ", ToString(array.shape));
  }
  return InputSource{info, std::move(array.data), path};
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
    if (!(array.shape == info.shape)) {
      return Error(Code::kInvalidArgument, "output '", info.name, "': expected ",
                   ToString(info.shape), ", ", file->second, " holds ", ToString(array.shape));
    }
    const bool bf16_bits = info.dtype == DType::kBF16 && array.dtype == DType::kU16;
    references.push_back(
        {info, file->second, bf16_bits ? DType::kBF16 : array.dtype, std::move(array.data)});
  }
  return references;
}

}  // namespace aicf::tools
