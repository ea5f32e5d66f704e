// Random problems of the append family.
#include <algorithm>
#include <cstring>

#include "tests/conformance/case_maker.h"

namespace aicf::conformance {
namespace {

/// A view whose last axis is dense while the other axes may be parts of something wider. Some
/// strides and offsets keep vectors aligned.
abi::View HeadsView(Random& random, DType dtype, const Dims& shape) {
  abi::View v{dtype, shape, Dims::Filled(shape.rank(), 1), 0};
  int64_t stride = 1;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    v.strides[d] = stride;
    stride *= std::max<int64_t>(1, shape[d]);
    if (d < shape.rank() - 1 && random.OneIn(3)) stride += random.OneIn(2) ? 16 : random.Int(1, 9);
  }
  v.offset = random.OneIn(2) ? 0 : random.OneIn(2) ? 16 : random.Int(1, 9);
  return v;
}

/// Writes `values`, the page and the row of each place, one place after the other.
void PutPlaces(std::vector<std::byte>& buffer, const abi::View& v,
               const std::vector<int32_t>& values) {
  size_t next = 0;
  for (int64_t b = 0; b < v.shape[0]; ++b) {
    for (int64_t i = 0; i < v.shape[1]; ++i) {
      for (int64_t axis = 0; axis < 2; ++axis) {
        const int64_t at = v.offset + b * v.strides[0] + i * v.strides[1] + axis * v.strides[2];
        std::memcpy(buffer.data() + at * static_cast<int64_t>(sizeof(int32_t)), &values[next++],
                    sizeof(int32_t));
      }
    }
  }
}

/// A place for each of `rows` rows: a different row of the cache for each, or a place outside the
/// cache.
std::vector<int32_t> DistinctPlaces(Random& random, int64_t rows, int64_t pages, int64_t page) {
  std::vector<int64_t> slots(static_cast<size_t>(pages * page));
  for (size_t i = 0; i < slots.size(); ++i) slots[i] = static_cast<int64_t>(i);
  std::vector<int32_t> places;
  for (int64_t r = 0; r < rows; ++r) {
    if (slots.empty() || random.OneIn(5)) {
      const bool above = random.OneIn(2), by_page = random.OneIn(2);
      places.push_back(static_cast<int32_t>(by_page ? (above ? pages : -1) : 0));
      places.push_back(static_cast<int32_t>(by_page ? 0 : (above ? page : -1)));
      continue;
    }
    const auto at = static_cast<size_t>(random.Int(0, static_cast<int64_t>(slots.size()) - 1));
    places.push_back(static_cast<int32_t>(slots[at] / page));
    places.push_back(static_cast<int32_t>(slots[at] % page));
    slots.erase(slots.begin() + static_cast<int64_t>(at));
  }
  return places;
}

}  // namespace

template <>
void CaseMaker::Fresh<abi::Family::kAppend>() {
  const std::vector<DType> data = {DType::kF32, DType::kF16, DType::kBF16};
  const auto extent = [&](int64_t most) { return random_.Int(random_.OneIn(40) ? 0 : 1, most); };
  const int64_t requests = extent(3), tokens = extent(random_.OneIn(3) ? 9 : 3);
  const int64_t heads = extent(3), query_heads = extent(5);
  const int64_t head = random_.OneIn(2) ? 8 * random_.Int(1, 9) : extent(35);
  const int64_t pages = extent(4), page = extent(7);
  const bool whole = random_.OneIn(2);
  const int64_t pairs = random_.OneIn(4) ? 0 : whole ? head / 2 : random_.Int(0, head / 2);
  const DType keys = random_.Pick(data), values = random_.OneIn(4) ? random_.Pick(data) : keys;
  const DType k = random_.Pick(data), v = random_.OneIn(4) ? random_.Pick(data) : k;
  p_.attrs = abi::AppendAttrs{pairs};
  // As in language models: the elements of a head are next to each other, and heads are parts of
  // rows.
  const bool rows_of_heads = random_.OneIn(2);
  const auto view = [&](DType dtype, const Dims& shape, bool input) {
    if (rows_of_heads) return HeadsView(random_, dtype, shape);
    return input ? In(dtype, shape) : Out(dtype, shape);
  };
  const Dims rows = {requests, tokens, heads, head}, cache = {pages, page, heads, head};
  p_.inputs = {view(k, rows, true), view(v, rows, true),
               In(DType::kI32, {requests, tokens, 2}, random_.OneIn(4)), view(keys, cache, true),
               view(values, cache, true)};
  p_.outputs = {view(keys, cache, false), view(values, cache, false)};
  if (pairs > 0) {
    const Dims queries = {requests, tokens, query_heads, head}, angles = {requests, tokens, pairs};
    const DType table = random_.OneIn(4) ? random_.Pick(data) : DType::kF32;
    p_.inputs.push_back(view(k, queries, true));
    p_.inputs.push_back(view(table, angles, true));
    p_.inputs.push_back(view(table, angles, true));
    p_.outputs.push_back(view(random_.Pick(data), queries, false));
  }
  p_.core_inputs = static_cast<int>(p_.inputs.size());
  Fill();
  const bool repeats = std::ranges::count(p_.inputs[2].strides, 0) > 0;
  PutPlaces(case_.buffers[2], p_.inputs[2],
            repeats ? std::vector<int32_t>(static_cast<size_t>(2 * requests * tokens), -1)
                    : DistinctPlaces(random_, requests * tokens, pages, page));
  case_.tolerance = options_.whole_numbers ? Tolerance{} : Tolerance{1, 1e-6};
}

}  // namespace aicf::conformance
