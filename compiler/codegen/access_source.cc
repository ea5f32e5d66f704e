#include "compiler/codegen/access_source.h"

#include <algorithm>

#include "compiler/codegen/expr_source.h"
#include "kernels/cuda/copy/pieces.h"

namespace aicf {
namespace {

std::string Suffixed(int64_t v) { return StrCat(v, "ll"); }

// Adds to `o` the offset of linear index `index` along one walk.
std::string WalkText(const cuda::Walk& walk, std::string_view index) {
  const int rank = walk.extents.rank();
  if (rank == 0) return "";
  if (rank == 1) {
    return walk.strides[0] == 0 ? ""
                                : StrCat("    o += ", index, " * static_cast<index_t>(",
                                         Suffixed(walk.strides[0]), ");\n");
  }
  std::string out = StrCat("    {\n      uindex_t r = static_cast<uindex_t>(", index, ");\n");
  for (int d = rank - 1; d >= 0; --d) {
    // A walk over no element is never taken, but its text must not divide by zero.
    const int64_t extent = std::max<int64_t>(1, walk.extents[d]);
    const std::string part =
        d == 0 ? "r" : StrCat("r % static_cast<uindex_t>(", Suffixed(extent), ")");
    if (walk.strides[d] != 0) {
      out += StrCat("      o += static_cast<index_t>(", part, ") * static_cast<index_t>(",
                    Suffixed(walk.strides[d]), ");\n");
    }
    if (d > 0) out += StrCat("      r /= static_cast<uindex_t>(", Suffixed(extent), ");\n");
  }
  return out + "    }\n";
}

}  // namespace

std::string ListFunction(std::string_view type, std::string_view name, const Dims& values) {
  std::string body;
  for (int d = 0; d < values.rank(); ++d) {
    body += StrCat("d == ", d, " ? ", Suffixed(values[d]), " : ");
  }
  return StrCat("AICF_DEVICE constexpr ", type, " ", name, "(int d) { return static_cast<", type,
                ">(", body, "0); }\n");
}

std::string ViewStruct(std::string_view name, const abi::View& view) {
  Dims runs;
  for (int a = 0; a < view.shape.rank(); ++a) {
    cuda::Space space{view.shape, {Dims{a}, {}}};
    for (int d = 0; d < view.shape.rank(); ++d) {
      if (d != a && view.shape[d] != 1) space.groups[1].push_back(d);
    }
    runs.push_back(cuda::RunOf(view, space));
  }
  return StrCat("struct ", name, " {\n  typedef ", StorageTypeName(view.dtype),
                " S;\n  static constexpr int kRank = ", view.shape.rank(),
                ";\n  static constexpr index_t kOffset = ", Suffixed(view.offset), ";\n  static ",
                ListFunction("index_t", "extent", view.shape), "  static ",
                ListFunction("index_t", "stride", view.strides), "  static ",
                ListFunction("int", "run", runs), "};\n");
}

std::string AccessStruct(std::string_view name, const abi::View& view, const cuda::Space& space) {
  std::string out =
      StrCat("struct ", name, " {\n  typedef ", StorageTypeName(view.dtype),
             " S;\n  static constexpr int kRun = ", cuda::RunOf(view, space),
             ", kSame = ", cuda::SameOf(view, space),
             ";\n  static AICF_DEVICE index_t at(index_t i0, index_t i1 = 0, index_t i2 = 0) {\n"
             "    index_t o = static_cast<index_t>(",
             Suffixed(view.offset), ");\n");
  for (size_t g = 0; g < space.groups.size(); ++g) {
    out += WalkText(cuda::WalkOf(view, space.groups[g]), StrCat("i", g));
  }
  return out + "    return o;\n  }\n};\n";
}

std::string PointFunction(std::string_view name, const cuda::Space& space) {
  std::string out =
      StrCat("AICF_DEVICE Point ", name,
             "Point(index_t i0, index_t i1 = 0, index_t i2 = 0) {\n  Point p = {};\n");
  for (size_t g = 0; g < space.groups.size(); ++g) {
    const Dims& axes = space.groups[g];
    if (axes.empty()) continue;
    out += StrCat("  {\n    uindex_t r = static_cast<uindex_t>(i", g, ");\n");
    for (int k = axes.rank() - 1; k >= 0; --k) {
      const int64_t extent = std::max<int64_t>(1, space.shape[static_cast<int>(axes[k])]);
      const std::string divisor = StrCat("static_cast<uindex_t>(", Suffixed(extent), ")");
      out += k == 0 ? StrCat("    p.c[", axes[k], "] = static_cast<index_t>(r);\n")
                    : StrCat("    p.c[", axes[k], "] = static_cast<index_t>(r % ", divisor,
                             ");\n    r /= ", divisor, ";\n");
    }
    out += "  }\n";
  }
  out += "  return p;\n}\n";
  Dims weights = Dims::Filled(space.shape.rank(), 0);
  for (const Dims& axes : space.groups) {
    int64_t weight = 1;
    for (int k = axes.rank() - 1; k >= 0; --k) {
      const int axis = static_cast<int>(axes[k]);
      weights[axis] = weight;
      weight *= space.shape[axis];
    }
  }
  return out + ListFunction("index_t", StrCat(name, "Weight"), weights);
}

std::string PieceAccesses(const abi::Problem& problem, const abi::Parameters& parameters) {
  const std::vector<cuda::CopyPiece> pieces = cuda::PiecesOf(problem, parameters);
  std::string out;
  for (size_t p = 0; p < pieces.size(); ++p) {
    const cuda::CopyPiece& piece = pieces[p];
    out += AccessStruct(StrCat("From", p), piece.from, piece.space);
    out += AccessStruct(StrCat("To", p), piece.to, piece.space);
  }
  out += "template <class F>\nAICF_DEVICE void ForEachPiece(F&& f) {\n";
  for (size_t p = 0; p < pieces.size(); ++p) {
    out += StrCat("  f(Piece<From", p, ", To", p, ", ", pieces[p].vector, ", ", pieces[p].input,
                  ", ", Suffixed(pieces[p].count), ", ", Suffixed(pieces[p].first_block), ", ",
                  Suffixed(pieces[p].blocks), ">{});\n");
  }
  out += "}\n";
  for (size_t k = 0; k < problem.inputs.size(); ++k) {
    out += StrCat("struct Window", k, " {\n  typedef In", k,
                  " In;\n  static constexpr int kInput = ", k,
                  ";\n  static AICF_DEVICE constexpr i64 start(int d) { return attr_starts_", k,
                  "(d); }\n};\n");
  }
  out += "template <class F>\nAICF_DEVICE void ForEachWindow(F&& f) {\n";
  for (size_t k = 0; k < problem.inputs.size(); ++k) out += StrCat("  f(Window", k, "{});\n");
  return out + "}\n";
}

}  // namespace aicf
