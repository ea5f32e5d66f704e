#include <algorithm>
#include <cstring>

#include "base/float16.h"
#include "kernels/cpu/expr/scalar_eval.h"
#include "tests/conformance/cases.h"

namespace aicf::conformance {
namespace {

template <class T>
void Put(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

// Stores a number of the dtype's range.
void PutNumber(std::byte* at, DType dtype, double v) {
  switch (dtype) {
    case DType::kF32:
      return Put(at, static_cast<float>(v));
    case DType::kF64:
      return Put(at, v);
    case DType::kF16:
      return Put(at, F32ToF16(static_cast<float>(v)));
    case DType::kBF16:
      return Put(at, F32ToBF16(static_cast<float>(v)));
    case DType::kBool:
      return Put(at, static_cast<uint8_t>(v > 0));
    default:
      break;
  }
  if (IsStorageOnly(dtype)) {
    return cpu::StoreScalar(at, dtype, cpu::ScalarFromDouble(v, abi::ComputeDType(dtype)));
  }
  const auto whole = static_cast<int64_t>(v);
  std::memcpy(at, &whole, static_cast<size_t>(DTypeBytes(dtype)));  // little-endian: the low bytes
}

}  // namespace

Dims RandomShape(Random& random, int min_rank, int max_rank, int64_t max_elements) {
  Dims shape;
  const int rank = static_cast<int>(random.Int(min_rank, max_rank));
  int64_t room = max_elements;
  for (int d = 0; d < rank; ++d) {
    const int64_t most = std::max<int64_t>(1, std::min<int64_t>(room, random.OneIn(3) ? 70 : 9));
    shape.push_back(random.OneIn(40) ? 0 : random.Int(1, most));
    room /= std::max<int64_t>(1, shape[d]);
  }
  return shape;
}

abi::View RandomView(Random& random, DType dtype, const Dims& shape, bool repeat) {
  Dims order;
  for (int d = 0; d < shape.rank(); ++d) order.push_back(d);
  if (random.OneIn(2)) {
    for (int i = order.rank(); i > 1; --i) {
      std::swap(order[i - 1], order[static_cast<int>(random.Int(0, i - 1))]);
    }
  }
  return RandomViewInOrder(random, dtype, shape, order, repeat, random.OneIn(6));
}

abi::View RandomViewInOrder(Random& random, DType dtype, const Dims& shape, const Dims& order,
                            bool repeat, bool apart) {
  abi::View v{dtype, shape, Dims::Filled(shape.rank(), 0), 0};
  int64_t stride = apart ? random.Int(2, 3) : 1;
  int64_t lowest = 0;
  const bool gaps = random.OneIn(3), backwards = random.OneIn(5),
             broadcasts = repeat && random.OneIn(2);
  for (int i = order.rank() - 1; i >= 0; --i) {
    const int d = static_cast<int>(order[i]);
    if (broadcasts && random.OneIn(2)) continue;
    v.strides[d] = stride;
    if (backwards && random.OneIn(2)) v.strides[d] = -stride;
    lowest += std::min<int64_t>(0, v.strides[d] * std::max<int64_t>(0, shape[d] - 1));
    stride *= std::max<int64_t>(1, shape[d]);
    if (gaps) stride += random.OneIn(2) ? random.Int(0, 5) : 4;
  }
  v.offset = -lowest + (random.OneIn(2) ? 0 : random.OneIn(2) ? random.Int(1, 9) : 16);
  return v;
}

size_t BufferBytes(const abi::View& view) {
  const Result<abi::Extent> extent = abi::ExtentOf(view);
  return static_cast<size_t>(extent.ok() ? extent->end : 0) + 32;
}

void FillBuffers(Random& random, Case& c, bool whole_numbers, double range) {
  c.buffers.clear();
  for (const abi::View& v : c.problem.inputs) {
    std::vector<std::byte> bytes(BufferBytes(v));
    const auto item = static_cast<size_t>(DTypeBytes(v.dtype));
    const bool is_signed = KindOf(v.dtype) == DTypeKind::kSigned || IsFloat(v.dtype);
    for (size_t at = 0; at + item <= bytes.size(); at += item) {
      const bool whole = whole_numbers || !IsFloat(v.dtype);
      const double value = whole ? static_cast<double>(random.Int(is_signed ? -4 : 0, 4))
                                 : random.Real(-range, range);
      PutNumber(bytes.data() + at, v.dtype, value);
    }
    c.buffers.push_back(std::move(bytes));
  }
  for (const abi::View& v : c.problem.outputs) {
    std::vector<std::byte> bytes(BufferBytes(v));
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(0xa5 ^ (i & 0x0f));
    c.buffers.push_back(std::move(bytes));
  }
}

}  // namespace aicf::conformance
