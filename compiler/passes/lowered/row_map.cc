#include "compiler/passes/lowered/row_map.h"

#include <numeric>

#include "compiler/passes/lowered/copy_pieces.h"

namespace aicf {
namespace {

constexpr int32_t kNothing = -1;

// Notes for every element of the piece's window what it shows.
void Note(const CopyPiece& piece, int axis, int64_t from, int64_t to, ElementMap& map) {
  const abi::View &source = piece.source, &window = piece.window;
  if (axis == source.shape.rank()) {
    map[static_cast<size_t>(to)] = static_cast<int32_t>(from);
    return;
  }
  for (int64_t i = 0; i < source.shape[axis]; ++i) {
    Note(piece, axis + 1, from + i * source.strides[axis], to + i * window.strides[axis], map);
  }
}

}  // namespace

std::optional<ElementMap> MapOf(const ir::LoweredStep& copy, int64_t count) {
  ElementMap map(static_cast<size_t>(count), kNothing);
  for (const CopyPiece& piece : PiecesOf(copy)) {
    Note(piece, 0, piece.source.offset, piece.window.offset, map);
  }
  for (int32_t from : map) {
    if (from == kNothing) return std::nullopt;
  }
  return map;
}

ElementMap Compose(const ElementMap& first, const ElementMap& second) {
  ElementMap out(second.size());
  for (size_t i = 0; i < second.size(); ++i) out[i] = first[static_cast<size_t>(second[i])];
  return out;
}

std::optional<RowMap> RowsOf(const ElementMap& map, int64_t source_count, int64_t least) {
  const auto count = static_cast<int64_t>(map.size());
  // Both buffers consist of whole rows. Wherever a run of neighbouring elements begins, a row has
  // to begin, too: at that element of the result, and at the element of the source that it shows.
  // So the row's length divides all of these numbers.
  int64_t row = std::gcd(count, source_count);
  for (int64_t i = 0; i < count && row >= least; ++i) {
    const int64_t from = map[static_cast<size_t>(i)];
    if (i > 0 && from == map[static_cast<size_t>(i - 1)] + 1) continue;
    row = std::gcd(row, std::gcd(i, from));
  }
  if (row < least) return std::nullopt;
  RowMap out{row, {}};
  for (int64_t i = 0; i < count; i += row) {
    out.rows.push_back(static_cast<int32_t>(map[static_cast<size_t>(i)] / row));
  }
  return out;
}

}  // namespace aicf
