#include "compiler/passes/composite/key_cache.h"

#include <algorithm>

#include "base/scanner.h"

namespace aicf {
namespace {

// The number of positions after the update, where it is known and the same for all batch entries.
std::optional<int64_t> CommonLength(const ir::Value& lengths) {
  if (!lengths.is_constant() || lengths.constant.count() == 0) return std::nullopt;
  for (int64_t i = 1; i < lengths.constant.count(); ++i) {
    if (lengths.constant.IntAt(i) != lengths.constant.IntAt(0)) return std::nullopt;
  }
  return lengths.constant.IntAt(0) + 1;
}

}  // namespace

Result<KeyCache> KeyCache::Make(Composer& c, ir::ValueId lengths, int64_t rows, int64_t past,
                                int64_t total) {
  const Dims s = c.Shape(lengths);
  KeyCache out{s.rank() > 0 ? s[0] : 1, rows, past, total, 0, ir::kNoValue};
  if (ElementCount(s) != out.batch || rows > total || total > past + rows) {
    return Error(Code::kBadModel, "a total length of ", total, " does not fit ", rows,
                 " new positions, a cache of ", past, " and lengths of shape ", ToString(s));
  }
  if (rows == total) return out;
  if (const auto length = CommonLength(c.graph().values[lengths])) {
    out.filled = *length - rows;
    if (out.filled >= 0 && out.filled <= past && *length <= total) return out;
    return Error(Code::kBadModel, "a length of ", *length, " does not fit ", rows,
                 " new positions and a cache of ", past);
  }
  out.filled = -1;
  out.fill = c.Sub(c.Reshape(c.Cast(lengths, DType::kI64), {out.batch, 1}), c.Ints({rows - 1}));
  return out;
}

ir::ValueId KeyCache::Positions(Composer& c) const {
  if (filled >= 0) return c.Counting(filled, {1, rows});
  return c.Add(fill, c.Counting(0, {rows}));
}

// Writes the new rows by a scatter, which drops rows after the last position of the cache. A row
// before its first position is dropped as well: it gets the index `past`, which no position has,
// because a negative index would count from the end.
ir::ValueId KeyCache::Scattered(Composer& c, ir::ValueId cache, ir::ValueId now) const {
  const Dims s = c.Shape(now);
  const ir::ValueId places = Positions(c);
  const ir::ValueId inside = c.Op("GreaterOrEqual", {places, c.Ints({0})});
  const ir::ValueId kept = c.Op("Where", {inside, places, c.Ints({past})});
  const ir::ValueId column = c.Reshape(kept, {batch, 1, rows, 1});
  const ir::ValueId index = c.Op("Expand", {column, c.Ints({s[0], s[1], s[2], s[3]})});
  return c.Op("ScatterElements", {cache, index, now}, {{"axis", int64_t{2}}});
}

ir::ValueId KeyCache::Updated(Composer& c, ir::ValueId cache, ir::ValueId now) const {
  if (!c.ok()) return ir::kNoValue;
  const int64_t length = std::max(past, total);
  if (filled >= 0) {
    std::vector<ir::ValueId> parts{now};
    if (filled > 0) parts.insert(parts.begin(), c.Window(cache, 2, 0, filled));
    const int64_t end = filled + rows;
    if (end < length) parts.push_back(c.Window(cache, 2, end, length - end));
    return parts.size() == 1 ? now : c.Concat(std::move(parts), 2);
  }
  if (past >= total) return Scattered(c, cache, now);
  const ir::ValueId both = c.Concat({cache, now}, 2);
  // The new rows follow the cache in `both`. What is sought is the place in it from which position
  // j of the result comes.
  const ir::ValueId places = c.Counting(0, {length});
  const ir::ValueId offset = c.Sub(places, fill);
  if (rows == 1) {
    const ir::ValueId hit = c.Op("Equal", {offset, c.Ints({0})});
    return c.Op("Where",
                {c.Reshape(hit, {batch, 1, length, 1}), now, c.Window(both, 2, 0, length)});
  }
  const ir::ValueId is_new = c.Op("And", {c.Op("GreaterOrEqual", {offset, c.Ints({0})}),
                                          c.Op("Less", {offset, c.Ints({rows})})});
  const ir::ValueId from = c.Op("Where", {is_new, c.Add(offset, c.Ints({past})), places});
  const ir::ValueId index = c.Reshape(from, {batch, length, 1});
  const ir::ValueId gathered =
      c.Op("GatherND", {c.Transpose(both, {0, 2, 1, 3}), index}, {{"batch_dims", int64_t{1}}});
  return c.Transpose(gathered, {0, 2, 1, 3});
}

}  // namespace aicf
