#include "kernels/cuda/gemm/hopper_operand.h"

#include <cstdlib>

#include "kernels/cuda/common/space.h"

namespace aicf::cuda {
namespace {

constexpr int64_t kPieceBytes = 16;
constexpr int64_t kMaxExtent = (int64_t{1} << 31) - 1 - 512;

struct Axes {
  int k, other;
};

Axes AxesOf(const abi::Problem& p, int operand) {
  const int last = p.inputs[static_cast<size_t>(operand)].shape.rank() - 1;
  return operand == 0 ? Axes{last, last - 1} : Axes{last - 1, last};
}

bool IsContiguous(const abi::View& v, int axis) {
  return v.strides[axis] == 1 || v.shape[axis] == 1;
}

// How the operand is walked along the output's batch axes, taken in the order of the output's
// memory. Axes of one element are left out.
Walk BatchOf(const abi::Problem& p, int operand) {
  const abi::View& v = p.inputs[static_cast<size_t>(operand)];
  Dims axes;
  for (int64_t a : BatchAxesOf(p)) {
    if (v.shape[static_cast<int>(a)] > 1) axes.push_back(a);
  }
  return WalkOf(v, axes);
}

bool StaysInPlace(const Walk& batch) {
  for (int64_t stride : batch.strides) {
    if (stride != 0) return false;
  }
  return true;
}

// Whether lines run along k. They do where both axes could be the contiguous one and k has more
// than one element, because tiles along k are fetched in fewer boxes. LiesAlongK in
// gemm/hopper_tile.cuh must decide the same, or the kernel waits for another number of bytes than
// the boxes bring.
bool AlongK(const abi::View& v, const Axes& axes) {
  return IsContiguous(v, axes.k) && (v.shape[axes.k] > 1 || !IsContiguous(v, axes.other));
}

// Where B lies along k, runs of this many columns alternate between the two halves: 8 lines are a
// whole swizzle pattern. A half has to be a multiple of it across k, too. A box of the second half
// begins behind the first half's columns there, and a box must begin at a whole piece of 16 bytes
// along its lines: any other start is an illegal instruction.
constexpr int64_t kHalfRun = 8;

int64_t HalvesOf(const abi::Problem& p, int operand) { return operand == 1 ? SumInputs(p) : 1; }

bool IsLegalStride(int64_t extent, int64_t stride, int64_t piece) {
  return extent == 1 || (stride > 0 && stride % piece == 0);
}

}  // namespace

std::string HopperOperand::Refusal(const abi::Problem& p, int operand) {
  const abi::View& v = p.inputs[static_cast<size_t>(operand)];
  const Axes axes = AxesOf(p, operand);
  const int64_t piece = kPieceBytes / DTypeBytes(v.dtype);
  const bool along_k = AlongK(v, axes);
  if (!along_k && !IsContiguous(v, axes.other)) return "is contiguous along neither of its axes";
  if (!along_k && DTypeBytes(v.dtype) != 2) {
    return StrCat("is ", DTypeName(v.dtype), " and not contiguous along k");
  }
  const int outer = along_k ? axes.other : axes.k;
  if (!IsLegalStride(v.shape[outer], v.strides[outer], piece)) {
    return StrCat("has a stride of ", v.strides[outer], " elements, no multiple of ", piece);
  }
  if (v.offset % piece != 0)
    return StrCat("begins at element ", v.offset, ", no multiple of ", piece);
  const Walk batch = BatchOf(p, operand);
  if (!StaysInPlace(batch) &&
      (batch.extents.rank() > 1 || !IsLegalStride(2, batch.strides[0], piece))) {
    return "has a batch that no single stride walks";
  }
  for (int64_t extent : v.shape) {
    if (extent > kMaxExtent) return "is too long";
  }
  if (const int64_t columns = v.shape[axes.other] / 2;
      HalvesOf(p, operand) > 1 && columns % kHalfRun != 0) {
    return StrCat("has halves of ", columns, " columns, no multiple of ", kHalfRun);
  }
  return {};
}

HopperOperand::HopperOperand(const abi::Problem& p, int operand)
    : view_(p.inputs[static_cast<size_t>(operand)]),
      operand_(operand),
      along_k_(AlongK(view_, AxesOf(p, operand))),
      piece_(kPieceBytes / DTypeBytes(view_.dtype)),
      halves_(HalvesOf(p, operand)) {
  const Axes axes = AxesOf(p, operand);
  const int inner = along_k_ ? axes.k : axes.other, outer = along_k_ ? axes.other : axes.k;
  inner_ = view_.shape[inner];
  outer_ = view_.shape[outer];
  // The engine demands a legal stride even for an axis with one element, which it never walks.
  outer_stride_ = outer_ == 1 ? piece_ : view_.strides[outer];
  const Walk batch = BatchOf(p, operand);
  const bool stays = StaysInPlace(batch);
  batch_ = stays ? 1 : batch.extents[0];
  batch_stride_ = stays ? piece_ : batch.strides[0];
}

std::string HopperOperand::RefuseHalves(const abi::Parameters& c) const {
  const int64_t tile = Tile(c), part = tile / Peers(c);
  if (along_k_) {
    if (part % (2 * kHalfRun) == 0) return {};
    return StrCat("two halves share no part of ", part, " columns in runs of ", kHalfRun);
  }
  if (c["swap"] != 0) return "swapped tiles take two halves along k alone";
  return tile % 128 == 0 ? "" : StrCat("two halves share no ", tile, " columns in runs of 64");
}

std::string HopperOperand::RefuseTile(const abi::Parameters& c) const {
  const int64_t tile = Tile(c), peers = Peers(c);
  if (halves_ > 1) {
    if (std::string refusal = RefuseHalves(c); !refusal.empty()) return refusal;
  }
  if (!along_k_) {
    if (tile % 64 != 0)
      return StrCat("operand ", operand_, " is fetched in parts of 64, not ", tile);
    if (tile / 64 % peers == 0 || c["tile_k"] % peers == 0) return {};
    return StrCat(peers, " blocks share no ", tile, " x ", c["tile_k"], " tile");
  }
  const int64_t part = tile / peers;
  if (tile % peers == 0 && part % 8 == 0 && part <= 256) return {};
  return StrCat(peers, " blocks share no ", tile, " rows in parts of 8 up to 256");
}

abi::TensorMap HopperOperand::Map(const abi::Parameters& c) const {
  const int64_t tile = Tile(c), peers = Peers(c), tile_k = c["tile_k"];
  abi::TensorMap map;
  map.operand = static_cast<uint32_t>(operand_);
  map.extents = {inner_, outer_, batch_};
  map.strides = {1, outer_stride_, batch_stride_};
  map.steps = {1, 1, 1};
  map.offset = view_.offset;
  map.swizzle = abi::Swizzle::k128;
  map.tf32 = view_.dtype == DType::kF32;
  if (along_k_ && halves_ > 1) {
    const int64_t columns = outer_ / 2;
    map.extents = {inner_, kHalfRun, 2, columns / kHalfRun, batch_};
    map.strides = {1, outer_stride_, columns * outer_stride_, kHalfRun * outer_stride_,
                   batch_stride_};
    map.steps = {1, 1, 1, 1, 1};
    map.box = {tile_k, kHalfRun, 2, tile / peers / (2 * kHalfRun), 1};
  } else if (along_k_) {
    map.box = {tile_k, tile / peers, 1};
  } else {
    map.box = {64, tile / 64 % peers == 0 ? tile_k : tile_k / peers, 1};
  }
  return map;
}

}  // namespace aicf::cuda
