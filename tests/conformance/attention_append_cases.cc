// Random problems of attention that appends a row of each request to its pages: places at the
// request's last key, at another one of its keys, and outside of the pool.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/abi/attention.h"
#include "kernels/cpu/expr/scalar_eval.h"
#include "tests/conformance/case_maker.h"

namespace aicf::conformance {
namespace {

using abi::View;

std::byte* ElementOf(Case& c, int input, std::initializer_list<int64_t> at) {
  const View& v = c.problem.inputs[static_cast<size_t>(input)];
  int64_t offset = v.offset;
  int axis = 0;
  for (int64_t i : at) offset += i * v.strides[axis++];
  return c.buffers[static_cast<size_t>(input)].data() + offset * DTypeBytes(v.dtype);
}

void PutInteger(Case& c, int input, std::initializer_list<int64_t> at, int64_t value) {
  std::memcpy(ElementOf(c, input, at), &value,
              static_cast<size_t>(DTypeBytes(c.problem.inputs[static_cast<size_t>(input)].dtype)));
}

/// What the requests of a case have: pages of their own, lengths, and the key whose place the new
/// row takes; -1: its place is outside of the pool.
struct Requests {
  std::vector<std::vector<int64_t>> pages;
  std::vector<int64_t> lengths, keys;

  Requests(Random& random, const abi::AttentionShape& s) {
    std::vector<int64_t> free(static_cast<size_t>(s.pool));
    for (size_t i = 0; i < free.size(); ++i) free[i] = static_cast<int64_t>(i);
    for (int64_t b = 0; b < s.batch; ++b) {
      pages.emplace_back();
      for (int64_t n = 0; n < s.keys / s.page; ++n) {
        const auto at = static_cast<size_t>(random.Int(0, static_cast<int64_t>(free.size()) - 1));
        const bool outside = random.OneIn(12);
        pages.back().push_back(outside ? (random.OneIn(2) ? -1 : s.pool) : free[at]);
        free.erase(free.begin() + static_cast<int64_t>(at));
      }
      lengths.push_back(s.lengths < 0 ? s.keys : random.Int(random.OneIn(6) ? 0 : 1, s.keys));
      const int64_t last = lengths.back() - 1;
      keys.push_back(random.OneIn(6) ? -1 : random.OneIn(6) ? random.Int(0, s.keys - 1) : last);
    }
  }
  int64_t Page(int64_t b, int64_t key, const abi::AttentionShape& s) const {
    if (key < 0) return -1;
    return pages[static_cast<size_t>(b)][static_cast<size_t>(key / s.page)];
  }
};

/// Writes NaN to each row of the pools that no request sees, and to those in whose places new rows
/// go.
void SpoilRows(Case& c, const abi::AttentionShape& s, const Requests& requests) {
  std::vector<bool> kept(static_cast<size_t>(s.pool * s.page), false);
  for (const bool keeps : {true, false}) {
    for (int64_t b = 0; b < s.batch; ++b) {
      const auto i = static_cast<size_t>(b);
      const int64_t first = keeps ? 0 : requests.keys[i];
      const int64_t end = keeps ? requests.lengths[i] : requests.keys[i] + 1;
      for (int64_t key = std::max<int64_t>(0, first); key < end; ++key) {
        const int64_t page = requests.Page(b, key, s);
        if (page < 0 || page >= s.pool) continue;
        kept[static_cast<size_t>(page * s.page + key % s.page)] = keeps;
      }
    }
  }
  for (int pool : {1, 2}) {
    const DType dtype = c.problem.inputs[static_cast<size_t>(pool)].dtype;
    for (int64_t slot = 0; slot < s.pool * s.page; ++slot) {
      if (kept[static_cast<size_t>(slot)]) continue;
      for (int64_t i = 0; i < s.key_heads * s.head; ++i) {
        cpu::StoreScalar(ElementOf(c, pool, {slot / s.page, i / s.head, slot % s.page, i % s.head}),
                         dtype, cpu::FloatScalar(std::nan("")));
      }
    }
  }
}

}  // namespace

void CaseMaker::AppendingAttention() {
  const bool shorts = p_.math == abi::MathMode::kFp16 || p_.math == abi::MathMode::kBf16;
  const DType dtype = !shorts
                          ? random_.Pick(std::vector<DType>{DType::kF32, DType::kF16, DType::kBF16})
                      : p_.math == abi::MathMode::kFp16 ? DType::kF16
                                                        : DType::kBF16;
  abi::AttentionAttrs a;
  a.scale = random_.Pick(std::vector<double>{0.125, 0.5, 1});
  a.lengths = !random_.OneIn(5);
  a.pages = true;
  a.rows = random_.OneIn(3) ? abi::RowOrigin::kOperand : abi::RowOrigin::kLastKeys;
  if (!random_.OneIn(3)) a.window_right = 0;
  if (random_.OneIn(4)) a.window_left = random_.Int(0, 60);
  const std::vector<int64_t> heads = {16, 32, 64, 64, 80, 96, 128, 256};
  const int64_t head = shorts ? random_.Pick(heads) : random_.Int(2, 40);
  const int64_t group = random_.Pick(std::vector<int64_t>{1, 2, 3, 4, 8, 16, 20});
  a.append_pairs = random_.Int(1, head / 2);
  if (shorts) a.append_pairs = random_.OneIn(3) ? 8 : std::max<int64_t>(8, head / 2);
  p_.attrs = a;
  const int64_t batch = random_.Int(1, 3), key_heads = random_.Int(1, 2);
  const int64_t page = random_.Pick(std::vector<int64_t>{1, 5, 16, 64});
  const int64_t table = CeilDiv(random_.Int(1, random_.OneIn(3) ? 40 : 500), page);
  const int64_t pool = table * batch + random_.Int(0, 2);
  const auto view = [&](const Dims& shape) { return EngineView(dtype, shape, false); };
  const Dims pools = {pool, key_heads, page, head}, row = {batch, 1, key_heads, head};
  p_.inputs = {view({batch, key_heads * group, 1, head}), view(pools), view(pools)};
  const DType integer = random_.OneIn(2) ? DType::kI32 : DType::kI64;
  if (a.lengths) p_.inputs.push_back(In(integer, {batch}, false));
  p_.inputs.push_back(In(DType::kI32, {batch, table}, false));
  if (a.rows == abi::RowOrigin::kOperand) p_.inputs.push_back(In(integer, {batch}));
  const DType angles = random_.OneIn(4) ? dtype : DType::kF32;
  for (const View& v :
       {view(row), view(row), In(DType::kI32, {batch, 1, 2}, false),
        In(angles, {batch, 1, a.append_pairs}), In(angles, {batch, 1, a.append_pairs})}) {
    p_.inputs.push_back(v);
  }
  p_.core_inputs = static_cast<int>(p_.inputs.size());
  Score({batch, key_heads * group, 1, table * page}, DType::kF32);
  p_.outputs = {Out(random_.OneIn(4) ? DType::kF32 : dtype, {batch, key_heads * group, 1, head}),
                random_.OneIn(2) ? p_.inputs[1] : view(pools),
                random_.OneIn(2) ? p_.inputs[2] : view(pools)};
  Fill();
  FillAppended();
  // As for other attention; q and the new key are rounded once more.
  const double score = 4 * 0x1p-24 * std::sqrt(static_cast<double>(head) + 64);
  case_.tolerance = {1, 4 * score + 10 * std::max(MathUnit(), dtype == DType::kF32   ? 0x1p-24
                                                              : dtype == DType::kF16 ? 0x1p-11
                                                                                     : 0x1p-8)};
}

void CaseMaker::FillAppended() {
  const abi::AttentionShape s = abi::AttentionShapeOf(p_);
  const Requests requests(random_, s);
  const auto parts = static_cast<int64_t>(8 * std::sqrt(static_cast<double>(s.head)));
  FillSteps(0, -16, 16, std::max<int64_t>(8, parts));
  for (int operand : {1, s.new_keys}) FillSteps(static_cast<size_t>(operand), -8, 8, 8);
  for (int operand : {2, s.new_values}) FillSteps(static_cast<size_t>(operand), -16, 16, 16);
  for (int operand : {s.cosine, s.sine}) FillSteps(static_cast<size_t>(operand), -8, 8, 12);
  if (s.origins >= 0) FillSteps(static_cast<size_t>(s.origins), -4, s.keys);
  for (int64_t b = 0; b < s.batch; ++b) {
    const auto i = static_cast<size_t>(b);
    if (s.lengths >= 0) PutInteger(case_, s.lengths, {b}, requests.lengths[i]);
    for (int64_t n = 0; n < s.keys / s.page; ++n) {
      PutInteger(case_, s.table, {b, n}, requests.pages[i][static_cast<size_t>(n)]);
    }
    const int64_t key = requests.keys[i];
    PutInteger(case_, s.places, {b, 0, 0}, requests.Page(b, key, s));
    PutInteger(case_, s.places, {b, 0, 1}, key < 0 ? 0 : key % s.page);
  }
  SpoilRows(case_, s, requests);
}

}  // namespace aicf::conformance
