#include "base/dims.h"

#include <algorithm>
#include <charconv>

#include "base/checked.h"
#include "base/text_writer.h"

namespace aicf {

void Dims::insert(int at, int64_t v) {
  for (int i = rank_; i > at; --i) d_[i] = d_[i - 1];
  d_[at] = v;
  ++rank_;
}

void Dims::erase(int at) {
  for (int i = at; i + 1 < rank_; ++i) d_[i] = d_[i + 1];
  --rank_;
}

std::string ToString(const Dims& d) {
  TextWriter out;
  out.Write(AsShape{d});
  return out.ToString();
}

std::string ToListString(const Dims& d) {
  TextWriter out;
  out.Write(AsList{d});
  return out.ToString();
}

std::optional<Dims> ParseShape(std::string_view text) {
  Dims dims;
  if (text.empty() || text == "scalar") return dims;
  const char* p = text.data();
  const char* const end = p + text.size();
  while (true) {
    int64_t extent = 0;
    auto [next, ec] = std::from_chars(p, end, extent);
    if (ec != std::errc() || extent < 0 || dims.rank() == kMaxRank) return std::nullopt;
    dims.push_back(extent);
    if (next == end) return dims;
    if (*next != 'x') return std::nullopt;
    p = next + 1;
  }
}

std::optional<int64_t> ElementCount(const Dims& shape) {
  int64_t count = 1;
  bool has_zero = false;
  for (int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    if (extent == 0) has_zero = true;
    // Zero extents are skipped so that the strides of the other dims stay representable.
    if (extent != 0 && !CheckedMul(count, extent, &count)) return std::nullopt;
  }
  return has_zero ? 0 : count;
}

Dims RowMajorStrides(const Dims& shape) {
  Dims strides = Dims::Filled(shape.rank(), 1);
  for (int i = shape.rank() - 2; i >= 0; --i) {
    strides[i] = strides[i + 1] * std::max<int64_t>(shape[i + 1], 1);
  }
  return strides;
}

std::optional<Dims> BroadcastShapes(const Dims& a, const Dims& b) {
  const int rank = std::max(a.rank(), b.rank());
  Dims out = Dims::Filled(rank, 1);
  for (int i = 0; i < rank; ++i) {
    const int ia = i - (rank - a.rank());
    const int ib = i - (rank - b.rank());
    const int64_t ea = ia < 0 ? 1 : a[ia];
    const int64_t eb = ib < 0 ? 1 : b[ib];
    if (ea != eb && ea != 1 && eb != 1) return std::nullopt;
    out[i] = ea == 1 ? eb : ea;
  }
  return out;
}

}  // namespace aicf
