#include "kernels/cuda/conv/hopper_maps.h"

#include "kernels/cuda/common/space.h"
#include "kernels/cuda/conv/hopper.h"

namespace aicf::cuda {
namespace {

using abi::View;

int64_t PieceOf(const View& v) { return 16 / DTypeBytes(v.dtype); }

// The axis's stride. An axis with a single element is never walked and may have any stride, so it
// gets one that the engine accepts.
int64_t StrideOf(const View& v, int axis) {
  return v.shape[axis] == 1 ? PieceOf(v) : v.strides[axis];
}

// Empty, or why the engine cannot walk the view: its offset, and the strides of all axes but the
// contiguous one, `inner`, have to be whole pieces of 16 bytes.
std::string RefuseStrides(const View& v, int inner) {
  const int64_t piece = PieceOf(v);
  if (v.offset % piece != 0) {
    return StrCat("begins at element ", v.offset, ", no multiple of ", piece);
  }
  for (int d = 0; d < v.shape.rank(); ++d) {
    const int64_t stride = StrideOf(v, d);
    if (d != inner && (stride <= 0 || stride % piece != 0)) {
      return StrCat("has a stride of ", stride, " elements, no multiple of ", piece);
    }
  }
  return {};
}

// Whether the weights have their input channels innermost, so that lines run along k; otherwise the
// output channels are innermost. TileB in conv/hopper_tile.cuh must decide the same.
bool LiesAlongK(const View& weights) { return weights.strides[1] == 1 && weights.shape[1] > 1; }

abi::Swizzle SwizzleOf(int64_t line_bytes) {
  return line_bytes == 32   ? abi::Swizzle::k32
         : line_bytes == 64 ? abi::Swizzle::k64
                            : abi::Swizzle::k128;
}

// The number of the i-th spatial axis, counted from the last one outward; -1 where the view has
// fewer. The map has two in any case.
int AxisOutward(const View& v, int i) {
  return i < v.shape.rank() - 2 ? v.shape.rank() - 1 - i : -1;
}

abi::TensorMap MapOf(uint32_t operand, const View& v, int64_t line) {
  abi::TensorMap map;
  map.operand = operand;
  map.steps = {1, 1, 1, 1};
  map.offset = v.offset;
  map.swizzle = SwizzleOf(line * DTypeBytes(v.dtype));
  map.tf32 = v.dtype == DType::kF32;
  return map;
}

void AddAxis(abi::TensorMap& map, const View& v, int axis, int64_t box) {
  map.extents.push_back(axis < 0 ? 1 : v.shape[axis]);
  map.strides.push_back(map.strides.empty() ? 1 : axis < 0 ? PieceOf(v) : StrideOf(v, axis));
  map.box.push_back(box);
}

// How the input's positions are walked in the order of the output's.
Walk InputPositions(const abi::Problem& p) { return WalkOf(p.inputs[0], OuterAxesOf(p)); }

}  // namespace

bool IsFlatConv(const abi::Problem& p) {
  const auto& a = p.as<abi::ConvAttrs>();
  for (int d = 0; d < a.strides.rank(); ++d) {
    if (p.inputs[1].shape[d + 2] != 1 || a.strides[d] != 1) return false;
    if (a.pads_begin[d] != 0 || a.pads_end[d] != 0) return false;
  }
  return InputPositions(p).extents.rank() <= 1;
}

ConvPositions PositionsOf(const abi::Problem& p, bool flat) {
  const Dims& y = p.outputs[0].shape;
  if (flat) {
    int64_t count = 1;
    for (int64_t a : OuterAxesOf(p)) count *= y[static_cast<int>(a)];
    return {count, 1, 1};
  }
  return {y.back(), y.rank() == 4 ? y[2] : 1, y[0]};
}

std::string ConvHopperMaps::RefuseInput(const abi::Problem& p) {
  const View& x = p.inputs[0];
  if (x.strides[1] != 1 && x.shape[1] > 1) return "the input's channels are not contiguous";
  const std::string refusal = RefuseStrides(x, 1);
  return refusal.empty() ? "" : StrCat("the input ", refusal);
}

std::string ConvHopperMaps::RefuseWeights(const abi::Problem& p) {
  const View& w = p.inputs[1];
  const bool along_k = LiesAlongK(w);
  if (!along_k && w.strides[0] != 1 && w.shape[0] > 1) {
    return "the weights' channels are not contiguous";
  }
  if (!along_k && DTypeBytes(w.dtype) != 2) {
    return StrCat(DTypeName(w.dtype), " weights are not contiguous along k");
  }
  const std::string refusal = RefuseStrides(w, along_k ? 1 : 0);
  return refusal.empty() ? "" : StrCat("the weights' view ", refusal);
}

std::string ConvHopperMaps::RefuseTile() const {
  const int64_t tile = c_["tile_n"];
  if (!LiesAlongK(p_.inputs[1])) {
    return tile % 64 == 0 ? "" : StrCat("weights are fetched in parts of 64, not ", tile);
  }
  return tile <= 256 ? "" : StrCat("a box of ", tile, " weights is above 256");
}

abi::TensorMap ConvHopperMaps::Input() const {
  const View& x = p_.inputs[0];
  abi::TensorMap map = MapOf(0, x, c_["tile_k"]);
  AddAxis(map, x, 1, c_["tile_k"]);
  if (c_["flat"] != 0) {
    const Walk positions = InputPositions(p_);
    const bool single = positions.extents.empty();
    map.extents.push_back(single ? 1 : positions.extents[0]);
    map.strides.push_back(single ? PieceOf(x) : positions.strides[0]);
    map.box.push_back(c_["tile_w"]);
    for (int i = 0; i < 2; ++i) AddAxis(map, x, -1, 1);
    return map;
  }
  const Dims& strides = p_.as<abi::ConvAttrs>().strides;
  const int64_t tiles[] = {c_["tile_w"], c_["tile_h"]};
  for (int i = 0; i < 2; ++i) {
    const int axis = AxisOutward(x, i);
    const int64_t step = axis < 0 ? 1 : strides[axis - 2];
    AddAxis(map, x, axis, (tiles[i] - 1) * step + 1);
    map.steps[i + 1] = step;
  }
  AddAxis(map, x, 0, c_["tile_b"]);
  return map;
}

abi::TensorMap ConvHopperMaps::Weights() const {
  const View& w = p_.inputs[1];
  const bool along_k = LiesAlongK(w);
  constexpr int64_t kPanel = 64;
  abi::TensorMap map = MapOf(1, w, along_k ? c_["tile_k"] : kPanel);
  if (along_k) {
    AddAxis(map, w, 1, c_["tile_k"]);
  } else {
    AddAxis(map, w, 0, kPanel);
    AddAxis(map, w, 1, c_["tile_k"]);
  }
  for (int i = 0; i < 2; ++i) AddAxis(map, w, AxisOutward(w, i), 1);
  if (along_k) AddAxis(map, w, 0, c_["tile_n"]);
  return map;
}

}  // namespace aicf::cuda
