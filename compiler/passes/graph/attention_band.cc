#include "compiler/passes/graph/attention_band.h"

#include <cmath>
#include <functional>
#include <limits>

namespace aicf {
namespace {

using Sees = std::function<std::optional<bool>(int64_t element)>;

// The keys [begin, end) that a row sees. IntervalOf gives nullopt where they do not follow each
// other, or where there are none.
struct Interval {
  int64_t begin = 0, end = 0;
};
std::optional<Interval> IntervalOf(const Sees& sees, int64_t from, int64_t keys) {
  Interval out{keys, -1};
  for (int64_t j = 0; j < keys; ++j) {
    const std::optional<bool> seen = sees(from + j);
    if (!seen || (*seen && out.end >= 0 && out.end != j)) return std::nullopt;
    if (!*seen) continue;
    if (out.end < 0) out.begin = j;
    out.end = j + 1;
  }
  return out.end < 0 ? std::nullopt : std::optional(out);
}

// Records what a row says of a bound, as j - i; false where another row says otherwise. Rows whose
// keys reach the edge say nothing, and are not asked.
bool Agree(std::optional<int64_t>& bound, int64_t found) {
  if (bound && *bound != found) return false;
  bound = found;
  return true;
}

// Whether the band gives every row the keys that it sees, including rows at the edge.
bool Explains(const Band& band, const std::vector<Interval>& rows, int64_t keys) {
  for (size_t n = 0; n < rows.size(); ++n) {
    const auto i = static_cast<int64_t>(n);
    const int64_t begin = band.first ? std::max<int64_t>(0, i + *band.first) : 0;
    const int64_t end = band.last ? std::min(keys, i + *band.last + 1) : keys;
    if (rows[n].begin != begin || rows[n].end != end) return false;
  }
  return true;
}

std::optional<Band> BandOf(const std::vector<Interval>& rows, int64_t keys) {
  Band band;
  for (size_t n = 0; n < rows.size(); ++n) {
    const auto i = static_cast<int64_t>(n);
    if (rows[n].begin > 0 && !Agree(band.first, rows[n].begin - i)) return std::nullopt;
    if (rows[n].end < keys && !Agree(band.last, rows[n].end - 1 - i)) return std::nullopt;
  }
  return Explains(band, rows, keys) ? std::optional(band) : std::nullopt;
}

// A mask may have one row for all, and leading axes along which the same matrix repeats.
std::optional<Band> BandOfElements(const Dims& shape, int64_t rows, int64_t keys,
                                   const Sees& sees) {
  const int rank = shape.rank();
  if (rank < 1 || shape.back() != keys || keys == 0 || rows == 0) return std::nullopt;
  const int64_t own = rank > 1 ? shape[rank - 2] : 1, matrix = own * keys;
  if (own != rows && own != 1) return std::nullopt;
  std::optional<std::vector<Interval>> first;
  for (int64_t from = 0; from < *ElementCount(shape); from += matrix) {
    std::vector<Interval> found;
    for (int64_t i = 0; i < rows; ++i) {
      const auto row = IntervalOf(sees, from + (own == 1 ? 0 : i * keys), keys);
      if (!row) return std::nullopt;
      found.push_back(*row);
    }
    const auto same = [](const Interval& a, const Interval& b) {
      return a.begin == b.begin && a.end == b.end;
    };
    if (first && !std::ranges::equal(*first, found, same)) return std::nullopt;
    first = std::move(found);
  }
  return first ? BandOf(*first, keys) : std::nullopt;
}

}  // namespace

bool IsLowest(double value, DType dtype) {
  const double lowest = dtype == DType::kF16   ? -65504.0
                        : dtype == DType::kF64 ? std::numeric_limits<double>::lowest()
                                               : -1e38;
  return value <= lowest;
}

std::optional<Band> BandOfMask(const ir::Value& mask, int64_t rows, int64_t keys, bool inverted) {
  if (!mask.is_constant() || mask.dtype != DType::kBool) return std::nullopt;
  return BandOfElements(mask.shape, rows, keys, [&](int64_t e) -> std::optional<bool> {
    return (mask.constant.IntAt(e) != 0) != inverted;
  });
}

std::optional<Band> BandOfBias(const ir::Value& bias, int64_t rows, int64_t keys) {
  if (!bias.is_constant() || !IsFloat(bias.dtype)) return std::nullopt;
  return BandOfElements(bias.shape, rows, keys, [&](int64_t e) -> std::optional<bool> {
    const double value = bias.constant.FloatAt(e);
    if (value == 0) return true;
    return IsLowest(value, bias.dtype) ? std::optional(false) : std::nullopt;
  });
}

}  // namespace aicf
