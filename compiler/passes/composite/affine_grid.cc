// AffineGrid: a constant grid of normalised coordinates times a matrix per batch entry.
#include "compiler/ir/infer/infer.h"
#include "compiler/passes/composite/composites.h"
#include "compiler/passes/composite/pieces.h"

namespace aicf {
namespace {

// Coordinate of pixel i of n. -1 and 1 are the centres of the outermost pixels with align_corners,
// otherwise their outer edges.
double Coordinate(int64_t i, int64_t n, bool align_corners) {
  if (!align_corners) return (2 * static_cast<double>(i) + 1) / static_cast<double>(n) - 1;
  return n == 1 ? 0 : 2 * static_cast<double>(i) / static_cast<double>(n - 1) - 1;
}

// [pixels, rank + 1]: innermost coordinate first, then 1.
std::vector<double> Grid(const Dims& spatial, bool align_corners) {
  const int64_t count = ElementCount(spatial).value_or(0);
  std::vector<double> grid;
  for (int64_t p = 0; p < count; ++p) {
    int64_t rest = p;
    for (int d = spatial.rank() - 1; d >= 0; --d) {
      grid.push_back(Coordinate(rest % spatial[d], spatial[d], align_corners));
      rest /= spatial[d];
    }
    grid.push_back(1);
  }
  return grid;
}

}  // namespace

Status ExpandAffineGrid(Composer& c) {
  AICF_ASSIGN_OR_RETURN(const auto size, ir::ConstantInts(c.graph(), c.node(), 1, "size"));
  const Dims theta = c.Shape(c.In(0));
  const int rank = size ? static_cast<int>(size->size()) - 2 : 0;
  if ((rank != 2 && rank != 3) || !(theta == Dims{(*size)[0], rank, rank + 1})) {
    return Error(Code::kBadModel, "matrices ", ToString(theta), " do not fit a size of ",
                 size ? size->size() : 0, " entries");
  }
  const Dims spatial{std::span<const int64_t>(*size).subspan(2)};
  for (int64_t extent : spatial) {
    if (extent < 0) return Error(Code::kBadModel, "size holds ", extent);
  }
  Dims table = spatial;
  table.push_back(rank + 1);
  AICF_RETURN_IF_ERROR(CheckTable(table));
  const std::optional<int64_t> pixels = ElementCount(spatial);
  const ir::ValueId grid = Floats(c, Grid(spatial, c.node().Int("align_corners", 0) != 0),
                                  {*pixels, rank + 1}, c.Type(Wide(c, c.In(0))));
  const ir::ValueId points = c.MatMul(grid, c.Transpose(Wide(c, c.In(0)), {0, 2, 1}));
  Dims out{theta[0]};
  for (int64_t e : spatial) out.push_back(e);
  out.push_back(rank);
  c.Output(0, c.Cast(c.Reshape(points, out), c.Type(c.In(0))));
  return c.status();
}

}  // namespace aicf
