// Random problems of the attention family: groups of query heads, masks by expression, windows,
// pages, lengths from none to all keys, and every layout.
#include <cmath>
#include <limits>
#include <set>

#include "base/checked.h"
#include "kernels/abi/attention.h"
#include "kernels/cpu/expr/scalar_eval.h"
#include "tests/conformance/case_maker.h"

namespace aicf::conformance {
namespace {

using abi::AttentionAttrs;
using abi::ExprOp;

/// Sizes of one problem.
struct Sizes {
  int64_t batch, key_heads, group, rows, head, value_head, page, pages, keys;
};

Sizes RandomSizes(Random& random, const AttentionAttrs& a) {
  Sizes s{};
  s.batch = random.Int(1, 3);
  s.key_heads = random.Int(1, 3);
  s.group = random.Pick(std::vector<int64_t>{1, 1, 2, 3, 7});
  const bool wide = random.OneIn(4);
  s.head = wide ? random.Int(65, 256) : random.Int(1, 40);
  s.value_head = random.OneIn(2) ? s.head : wide ? random.Int(65, 256) : random.Int(1, 40);
  s.rows = random.OneIn(3) ? 1 : random.Int(1, wide ? 20 : 70);
  s.keys = random.OneIn(20) ? 0 : random.Int(1, wide ? 80 : 200);
  if (a.pages) {
    s.page = random.Pick(std::vector<int64_t>{1, 5, 8, 16, 64});
    s.pages = random.Int(1, 1 + 150 / s.page);
    s.keys = s.page * s.pages;
  }
  return s;
}

/// Sizes that the bulk copy engine can fetch: heads of whole 16-byte pieces, and enough rows and
/// keys for several tiles of either. Pages are both smaller and larger than the keys of a tile.
Sizes EngineSizes(Random& random, const AttentionAttrs& a) {
  Sizes s{};
  s.batch = random.Int(1, 3);
  s.key_heads = random.Int(1, 3);
  s.group = random.Pick(std::vector<int64_t>{1, 1, 2, 3, 4});
  const std::vector<int64_t> heads = {8,  16, 24,  32,  40,  48,  64, 64,
                                      80, 96, 112, 128, 136, 192, 256};
  s.head = random.Pick(heads);
  s.value_head = random.OneIn(3) ? random.Pick(heads) : s.head;
  s.rows = random.OneIn(4) ? random.Int(1, 9) : random.Int(10, 300);
  s.keys = random.OneIn(4) ? random.Int(1, 60) : random.Int(61, 500);
  if (a.pages) {
    s.page = random.Pick(std::vector<int64_t>{8, 16, 40, 64, 128, 128, 256});
    s.pages = CeilDiv(s.keys, s.page);
    s.keys = s.page * s.pages;
  }
  return s;
}

/// Sizes of a decode step in 16 bits: few rows, a cache of pages or of one piece, and heads of
/// whole 16-byte pieces.
Sizes DecodeSizes(Random& random, const AttentionAttrs& a) {
  Sizes s{};
  s.batch = random.Int(1, 3);
  s.key_heads = random.Int(1, 2);
  s.group = random.Pick(std::vector<int64_t>{1, 2, 4, 7, 8, 16});
  const std::vector<int64_t> heads = {8, 24, 40, 64, 64, 80, 96, 128, 256};
  s.head = random.Pick(heads);
  s.value_head = random.OneIn(4) ? random.Pick(heads) : s.head;
  s.rows = random.OneIn(3) ? random.Int(1, 64 / s.group) : 1;
  s.keys = random.OneIn(3) ? random.Int(0, 40) : random.Int(41, 700);
  if (a.pages) {
    s.page = random.Pick(std::vector<int64_t>{1, 5, 16, 64});
    s.pages = CeilDiv(s.keys, s.page) + 1;
    s.keys = s.page * s.pages;
  }
  return s;
}

AttentionAttrs RandomAttributes(Random& random) {
  AttentionAttrs a;
  a.scale = random.Pick(std::vector<double>{0.125, 0.5, 1});
  a.lengths = random.OneIn(2);
  a.pages = random.OneIn(3);
  a.rows = static_cast<abi::RowOrigin>(random.Int(0, 2));
  if (random.OneIn(2)) a.offset = random.Int(-5, 20);
  if (random.OneIn(2)) a.window_right = random.OneIn(3) ? random.Int(0, 9) : 0;
  if (random.OneIn(3)) a.window_left = random.Int(0, 40);
  return a;
}

}  // namespace

abi::View CaseMaker::CacheView(DType dtype, const Dims& shape, bool repeats) {
  if (random_.OneIn(3)) return In(dtype, shape, repeats);
  // The two usual orders of a cache: heads before tokens, or tokens before heads.
  View v = abi::DenseView(dtype, shape);
  if (random_.OneIn(2)) {
    v.strides[2] = shape[1] * shape[3];
    v.strides[1] = shape[3];
  }
  return v;
}

// Requests, heads and tokens in any order. Every stride and the first element are multiples of 16
// bytes. A slice of a merged product is among these views, and requests or heads may repeat.
abi::View CaseMaker::EngineView(DType dtype, const Dims& shape, bool repeat) {
  abi::View v = abi::DenseView(dtype, shape);
  Dims order = {0, 1, 2};
  for (int i = 3; i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<int>(random_.Int(0, i - 1))]);
  }
  int64_t stride = shape[3] + (random_.OneIn(2) ? 0 : 8 * random_.Int(1, 4));
  for (int i = 2; i >= 0; --i) {
    const int axis = static_cast<int>(order[i]);
    v.strides[axis] = axis != 2 && repeat && random_.OneIn(8) ? 0 : stride;
    if (v.strides[axis] != 0) stride *= shape[axis];
    if (random_.OneIn(4)) stride += 8 * random_.Int(1, 3);
  }
  v.offset = random_.OneIn(2) ? 0 : 8 * random_.Int(1, 9);
  return v;
}

// A random score expression: bias, soft-cap, bool masks and functions of positions, each at times.
void CaseMaker::Score(const Dims& domain, DType raw) {
  if (random_.OneIn(3)) return;
  abi::ExprBuilder b;
  uint16_t s = b.Input(0, raw);
  int next = 1;
  const uint16_t none = b.Const(-std::numeric_limits<double>::infinity(), raw);
  if (random_.OneIn(3)) {
    const uint16_t cap = b.Const(8, raw);
    s = b.Binary(ExprOp::kMul, b.Unary(ExprOp::kTanh, b.Binary(ExprOp::kDiv, s, cap)), cap);
  }
  if (random_.OneIn(2)) {
    const DType bias = raw == DType::kF64 ? raw : random_.Pick(kFloatDType);
    if (abi::ComputeDType(bias) == raw) {
      p_.inputs.push_back(In(bias, domain));
      s = b.Binary(ExprOp::kAdd, s, b.Input(next++, raw));
    }
  }
  if (random_.OneIn(2)) {
    p_.inputs.push_back(In(DType::kBool, domain));
    // Many models mask by the lowest finite number. If a row has no other score, its result is the
    // average of all values.
    const uint16_t lowest = b.Const(-std::numeric_limits<float>::max(), raw);
    s = b.Select(b.Input(next++, DType::kBool), s, random_.OneIn(2) ? none : lowest);
  }
  if (random_.OneIn(4)) {
    // A slope per head on the distance, as position biases have it, and a mask that leaves only
    // keys of odd number.
    const uint16_t distance = b.Binary(ExprOp::kSub, b.Index(3), b.Index(2));
    const uint16_t slope = b.Binary(ExprOp::kMul, b.Cast(b.Index(1), raw), b.Const(-0x1p-10, raw));
    s = b.Binary(ExprOp::kAdd, s, b.Binary(ExprOp::kMul, slope, b.Cast(distance, raw)));
    const uint16_t odd = b.Binary(ExprOp::kAnd, b.Index(3), b.ConstInt(1, DType::kI64));
    if (random_.OneIn(2)) s = b.Select(b.Cast(odd, DType::kBool), s, none);
  }
  p_.score = b.Finish({s});
}

template <>
void CaseMaker::Fresh<abi::Family::kAttention>() {
  p_.math = random_.Pick(options_.math);
  if (p_.math == abi::MathMode::kFp8) p_.math = abi::MathMode::kFp16;
  if (options_.appends) return AppendingAttention();
  const bool shorts = p_.math == abi::MathMode::kFp16 || p_.math == abi::MathMode::kBf16;
  const bool engine = shorts && random_.OneIn(2);
  const bool decode = shorts && !engine && random_.OneIn(2);
  AttentionAttrs a = RandomAttributes(random_);
  if (engine) a.pages = random_.OneIn(2);
  if (decode) a.pages = !random_.OneIn(4);
  const Sizes s = engine   ? EngineSizes(random_, a)
                  : decode ? DecodeSizes(random_, a)
                           : RandomSizes(random_, a);
  p_.attrs = a;
  const DType dtype = !engine && !decode                ? random_.Pick(kFloatDType)
                      : p_.math == abi::MathMode::kFp16 ? DType::kF16
                                                        : DType::kBF16;
  const int64_t pool = s.pages * s.batch + random_.Int(0, 2);
  const int64_t heads = s.key_heads * s.group;
  const int64_t first = a.pages ? pool : s.batch, third = a.pages ? s.page : s.keys;
  // Slots of a cache that hold no key are overwritten one by one, so that no two slots may share
  // memory.
  const bool repeats = !a.pages && !a.lengths;
  p_.inputs = {In(dtype, {s.batch, heads, s.rows, s.head}),
               CacheView(dtype, {first, s.key_heads, third, s.head}, repeats),
               CacheView(dtype, {first, s.key_heads, third, s.value_head}, repeats)};
  for (size_t k = decode ? 1 : 0; k < 3 && (engine || decode); ++k) {
    p_.inputs[k] = EngineView(dtype, p_.inputs[k].shape, repeats);
  }
  const DType integer = random_.OneIn(2) ? DType::kI32 : DType::kI64;
  if (a.lengths) p_.inputs.push_back(In(integer, {s.batch}));
  if (a.pages) p_.inputs.push_back(In(DType::kI32, {s.batch, s.pages}, false));
  if (a.rows == abi::RowOrigin::kOperand) p_.inputs.push_back(In(integer, {s.batch}));
  p_.core_inputs = static_cast<int>(p_.inputs.size());
  const DType raw = abi::ComputeDType(dtype);
  Score({s.batch, heads, s.rows, s.keys}, raw);
  const bool others = random_.OneIn(3) && raw == DType::kF32;
  const DType stored = !others ? dtype : random_.OneIn(2) ? DType::kF32 : DType::kF8E4M3FN;
  p_.outputs = {Out(stored, {s.batch, heads, s.rows, s.value_head})};
  if (random_.OneIn(2)) p_.outputs.push_back(Out(raw, {s.batch, heads, s.rows}));
  Fill();
  FillAttention(pool);
  // Scores have a size of some units, so that their absolute error is about as large as their
  // relative error, u sqrt(D + some operators). The weights have the same error, and the values,
  // whose average is stored, are at most 1. In a math mode both factors of a product are rounded:
  // four standard deviations of a sum of D products are then 3.2 units. They count twice, in the
  // weights and in the sum of the weights, and the weights themselves are rounded.
  const double unit = dtype == DType::kF64 ? 0x1p-53 : 0x1p-24;
  const double score = 4 * unit * std::sqrt(static_cast<double>(s.head) + 64);
  case_.tolerance = {1, 4 * score + 8 * MathUnit()};
}

/// Roundoff of a factor of products in the case's math mode.
double CaseMaker::MathUnit() const {
  switch (p_.math) {
    case abi::MathMode::kTf32:
    case abi::MathMode::kFp16:
      return 0x1p-11;
    case abi::MathMode::kBf16:
      return 0x1p-8;
    default:
      return 0;
  }
}

void CaseMaker::FillAttention(int64_t pool) {
  const abi::AttentionShape s = abi::AttentionShapeOf(p_);
  // The elements of q and k are such that scores have a size of some units, whatever the size of
  // heads.
  const auto parts =
      static_cast<int64_t>(8 * std::sqrt(static_cast<double>(std::max<int64_t>(s.head, 1))));
  FillSteps(0, -16, 16, std::max<int64_t>(8, parts));
  FillSteps(1, -8, 8, 8);
  FillSteps(2, -16, 16, 16);
  if (s.lengths >= 0)
    FillSteps(static_cast<size_t>(s.lengths), random_.OneIn(4) ? -1 : s.keys / 2, s.keys + 1);
  // Sometimes the table names a page outside the pool.
  if (s.table >= 0)
    FillSteps(static_cast<size_t>(s.table), random_.OneIn(4) ? -1 : 0,
              pool - (random_.OneIn(4) ? 0 : 1));
  if (s.origins >= 0) FillSteps(static_cast<size_t>(s.origins), -4, s.keys);
  SpoilUnusedKeys();
}

namespace {

int64_t OffsetAt(const abi::View& v, std::initializer_list<int64_t> at) {
  int64_t offset = v.offset;
  int axis = 0;
  for (int64_t i : at) offset += i * v.strides[axis++];
  return offset;
}

int64_t IntegerAt(const Case& c, int input, std::initializer_list<int64_t> at) {
  const abi::View& v = c.problem.inputs[static_cast<size_t>(input)];
  const std::byte* data = c.buffers[static_cast<size_t>(input)].data();
  return cpu::LoadScalar(data + OffsetAt(v, at) * DTypeBytes(v.dtype), v.dtype).i;
}

/// Pairs of a request (or, with pages, a page) and a key in it that are valid.
std::set<std::pair<int64_t, int64_t>> ValidKeys(const Case& c, const abi::AttentionShape& s) {
  std::set<std::pair<int64_t, int64_t>> valid;
  for (int64_t b = 0; b < s.batch; ++b) {
    const int64_t length = s.lengths < 0 ? s.keys : IntegerAt(c, s.lengths, {b});
    for (int64_t j = 0; j < std::min(length, s.keys); ++j) {
      if (s.table < 0) {
        valid.emplace(b, j);
      } else {
        valid.emplace(IntegerAt(c, s.table, {b, j / s.page}), j % s.page);
      }
    }
  }
  return valid;
}

}  // namespace

void CaseMaker::SpoilUnusedKeys() {
  const abi::AttentionShape s = abi::AttentionShapeOf(p_);
  const auto valid = ValidKeys(case_, s);
  for (size_t k = 1; k < 3; ++k) {
    const View& v = p_.inputs[k];
    for (int64_t first = 0; first < v.shape[0]; ++first) {
      for (int64_t key = 0; key < v.shape[2]; ++key) {
        if (valid.contains({first, key})) continue;
        for (int64_t h = 0; h < v.shape[1]; ++h) {
          for (int64_t i = 0; i < v.shape[3]; ++i) {
            const int64_t at = OffsetAt(v, {first, h, key, i}) * DTypeBytes(v.dtype);
            cpu::StoreScalar(case_.buffers[k].data() + at, v.dtype, cpu::FloatScalar(std::nan("")));
          }
        }
      }
    }
  }
}

}  // namespace aicf::conformance
