#include "compiler/tune/bench_data.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "base/float16.h"
#include "kernels/abi/append.h"
#include "kernels/abi/attention.h"

namespace aicf::tune {
namespace {

using abi::Family;
using abi::Problem;
using abi::View;

/// A linear congruential sequence: cheap, and the same everywhere.
class Sequence {
 public:
  explicit Sequence(uint64_t seed) : state_(seed * 2654435761u + 1) {}
  uint32_t Next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state_ >> 33);
  }
  /// In (-1, 1), a multiple of 2^-12 that is not 0: exact in f16.
  float Real() {
    const auto whole = static_cast<int>(Next() % 8190) - 4095;
    return static_cast<float>(whole >= 0 ? whole + 1 : whole) / 4096.0f;
  }

 private:
  uint64_t state_;
};

template <class T>
void Store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

/// A number as a model's activations and weights are.
void StoreNumber(DType dtype, Sequence& sequence, std::byte* to) {
  switch (dtype) {
    case DType::kF32:
      return Store(to, sequence.Real());
    case DType::kF64:
      return Store(to, static_cast<double>(sequence.Real()));
    case DType::kF16:
      return Store(to, F32ToF16(sequence.Real()));
    case DType::kBF16:
      return Store(to, F32ToBF16(sequence.Real()));
    case DType::kBool:
      return Store(to, static_cast<uint8_t>(sequence.Next() & 1));
    default:
      break;
  }
  // Small and not 0, for divisors; float8 and float4: bit patterns of ordinary positive numbers.
  const bool tiny = dtype == DType::kI2 || dtype == DType::kU2;
  const uint32_t mask = tiny ? 0 : DTypeBytes(dtype) > 1 || !IsStorageOnly(dtype) ? 63 : 3;
  const uint64_t value = 1 + (sequence.Next() & mask);
  std::memcpy(to, &value, static_cast<size_t>(DTypeBytes(dtype)));  // little-endian
}

void StoreInteger(DType dtype, int64_t value, std::byte* to) {
  std::memcpy(to, &value, static_cast<size_t>(DTypeBytes(dtype)));
}

void StoreReal(DType dtype, double value, std::byte* to) {
  if (dtype == DType::kF32) Store(to, static_cast<float>(value));
  if (dtype == DType::kF64) Store(to, value);
  if (dtype == DType::kF16) Store(to, F32ToF16(static_cast<float>(value)));
  if (dtype == DType::kBF16) Store(to, F32ToBF16(static_cast<float>(value)));
}

/// Calls f(coordinates, bytes of the element) for every element of the view.
void ForEachElement(const View& view, std::byte* buffer,
                    const std::function<void(const Dims&, std::byte*)>& f) {
  const int64_t count = abi::ElementsOf(view), bytes = DTypeBytes(view.dtype);
  Dims at = view.shape;
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, offset = view.offset;
    for (int d = view.shape.rank() - 1; d >= 0; --d) {
      at[d] = rest % view.shape[d];
      rest /= view.shape[d];
      offset += at[d] * view.strides[d];
    }
    f(at, buffer + offset * bytes);
  }
}

/// The extent that bounds the index at `at` of a gather or a scatter.
int64_t IndexLimit(const Problem& p, const Dims& at) {
  const Dims& data = p.inputs[0].shape;
  if (p.family == Family::kGather) {
    const auto& a = p.as<abi::GatherAttrs>();
    if (a.kind != abi::GatherKind::kPoints) return data[static_cast<int>(a.axis)];
    return data[static_cast<int>(a.batch_axes + at[at.rank() - 1])];
  }
  const auto& a = p.as<abi::ScatterAttrs>();
  return data[static_cast<int>(a.kind == abi::ScatterKind::kPoints ? at[at.rank() - 1] : a.axis)];
}

void FillIndices(const Problem& p, Sequence& sequence, std::byte* buffer) {
  const View& view = p.inputs[1];
  ForEachElement(view, buffer, [&](const Dims& at, std::byte* to) {
    const int64_t limit = std::max<int64_t>(1, IndexLimit(p, at));
    const int64_t index = (int64_t{sequence.Next()} << 20 ^ sequence.Next()) % limit;
    StoreInteger(view.dtype, index, to);
  });
}

/// Boxes x1 y1 x2 y2, half to all of the picture large.
void FillBoxes(const Problem& p, Sequence& sequence, std::byte* buffer) {
  const View& view = p.inputs[1];
  const Dims& x = p.inputs[0].shape;
  const double scale = std::max(1e-6, p.as<abi::RoiAttrs>().spatial_scale);
  ForEachElement(view, buffer, [&](const Dims& at, std::byte* to) {
    const int64_t column = at[at.rank() - 1];
    const auto extent = static_cast<double>(x[column % 2 == 0 ? 3 : 2]);
    const double part = (sequence.Real() + 1) / 8 + (column < 2 ? 0.0 : 0.75);
    StoreReal(view.dtype, part * extent / scale, to);
  });
}

/// limit, overlap and score of non-maximum suppression.
bool FillNms(const Problem& p, int input, std::byte* buffer) {
  if (p.family != Family::kNms || input < 2) return false;
  const View& view = p.inputs[static_cast<size_t>(input)];
  const Dims& scores = p.inputs[1].shape;
  const int64_t lines = std::max<int64_t>(1, scores[0] * scores[1]);
  ForEachElement(view, buffer, [&](const Dims&, std::byte* to) {
    if (input == 2)
      StoreInteger(view.dtype, std::max<int64_t>(1, p.outputs[0].shape[0] / lines), to);
    if (input > 2) StoreReal(view.dtype, input == 3 ? 0.5 : 0.1, to);
  });
  return true;
}

/// Every sequence at its full length.
bool FillLengths(const Problem& p, int input, std::byte* buffer) {
  if (p.family != Family::kRecurrent || !p.as<abi::RecurrentAttrs>().lengths) return false;
  if (input != p.core_inputs - 1) return false;
  const View& view = p.inputs[static_cast<size_t>(input)];
  ForEachElement(view, buffer, [&](const Dims&, std::byte* to) {
    StoreInteger(view.dtype, p.inputs[0].shape[0], to);
  });
  return true;
}

/// Attention over full caches: every key valid, every page another one, the last row at the last
/// key. A row that is appended takes the place of the last key.
bool FillAttention(const Problem& p, int input, std::byte* buffer) {
  if (p.family != Family::kAttention) return false;
  const abi::AttentionShape s = abi::AttentionShapeOf(p);
  const bool known =
      input == s.lengths || input == s.table || input == s.origins || input == s.places;
  if (input < 3 || !known) return false;
  const View& view = p.inputs[static_cast<size_t>(input)];
  const int64_t pages = s.page > 0 ? s.keys / s.page : 0, pool = std::max<int64_t>(1, s.pool);
  ForEachElement(view, buffer, [&](const Dims& at, std::byte* to) {
    int64_t value = input == s.lengths ? s.keys : s.keys - s.rows;
    if (input == s.table) value = (at[0] * pages + at[1]) % pool;
    if (input == s.places) {
      value = at[2] == 0 ? (at[0] * pages + std::max<int64_t>(0, pages - 1)) % pool : s.page - 1;
    }
    StoreInteger(view.dtype, value, to);
  });
  return true;
}

/// Rows for the first places of the cache, one after the other.
bool FillPlaces(const Problem& p, int input, std::byte* buffer) {
  if (p.family != Family::kAppend || input != static_cast<int>(abi::kAppendPlaces)) return false;
  const View& view = p.inputs[abi::kAppendPlaces];
  const int64_t page = std::max<int64_t>(1, p.inputs[abi::kAppendKeys].shape[1]);
  ForEachElement(view, buffer, [&](const Dims& at, std::byte* to) {
    const int64_t row = at[0] * view.shape[1] + at[1];
    StoreInteger(view.dtype, at[2] == 0 ? row / page : row % page, to);
  });
  return true;
}

bool FillSpecial(const Problem& p, int input, Sequence& sequence, std::byte* buffer) {
  const bool indexed = p.family == Family::kGather || p.family == Family::kScatter;
  if (indexed && input == 1) return FillIndices(p, sequence, buffer), true;
  if (p.family == Family::kRoi && input == 1) return FillBoxes(p, sequence, buffer), true;
  if (p.family == Family::kRoi && input == 2) {
    const View& view = p.inputs[2];
    const auto batch = static_cast<uint32_t>(std::max<int64_t>(1, p.inputs[0].shape[0]));
    ForEachElement(view, buffer, [&](const Dims&, std::byte* to) {
      StoreInteger(view.dtype, sequence.Next() % batch, to);
    });
    return true;
  }
  return FillNms(p, input, buffer) || FillLengths(p, input, buffer) ||
         FillAttention(p, input, buffer) || FillPlaces(p, input, buffer);
}

}  // namespace

uint64_t BufferBytes(const View& view) {
  const Result<abi::Extent> extent = abi::ExtentOf(view);
  return extent.ok() ? static_cast<uint64_t>(extent->end) : 0;
}

std::vector<std::byte> BenchData(const Problem& problem, int input) {
  const View& view = problem.inputs[static_cast<size_t>(input)];
  std::vector<std::byte> data(BufferBytes(view));
  Sequence sequence(static_cast<uint64_t>(input) + 7);
  const auto bytes = static_cast<size_t>(DTypeBytes(view.dtype));
  for (size_t at = 0; at + bytes <= data.size(); at += bytes) {
    StoreNumber(view.dtype, sequence, &data[at]);
  }
  FillSpecial(problem, input, sequence, data.data());
  return data;
}

}  // namespace aicf::tune
