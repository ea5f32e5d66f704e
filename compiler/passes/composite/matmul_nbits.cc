// com.microsoft.MatMulNBits: weights of 2, 4 or 8 bits in blocks along K, each with a scale and
// perhaps a zero point. Constant weights that a block format expresses exactly stay blocks, which
// the product dequantises as it reads them. Other constant weights are unpacked and scaled while
// compiling; weights that are not constant are unpacked and scaled in every run.
#include "base/checked.h"
#include "compiler/ir/block_nodes.h"
#include "compiler/passes/composite/composites.h"
#include "compiler/passes/composite/nbits_blocks.h"
#include "compiler/passes/composite/pieces.h"

namespace aicf {
namespace {

struct WeightBlocks {
  int64_t n, k, bits, size, count;  ///< weights [n, k]; `count` blocks of `size` along k
};

Result<WeightBlocks> BlocksOf(const Composer& c) {
  const ir::Node& node = c.node();
  WeightBlocks b{node.Int("N", 0), node.Int("K", 0), node.Int("bits", 4), node.Int("block_size", 0),
                 0};
  if (b.bits != 2 && b.bits != 4 && b.bits != 8) {
    return Error(Code::kUnsupported, "weights of ", b.bits, " bits, supported are 2, 4 and 8");
  }
  constexpr int64_t kMost = int64_t{1} << 31;
  if (b.n < 1 || b.k < 1 || b.size < 8 || b.n >= kMost || b.k >= kMost || b.size >= kMost ||
      b.size % 8 != 0) {
    return Error(Code::kBadModel, "N is ", b.n, ", K is ", b.k, ", block_size is ", b.size);
  }
  b.count = CeilDiv(b.k, b.size);
  return b;
}

// Codes of `bits` bits in bytes, the first in the low bits: [.., bytes] -> [.., bytes * 8 / bits].
ir::ValueId Unpacked(Composer& c, ir::ValueId packed, int64_t bits) {
  if (bits == 8 || packed == ir::kNoValue) return packed;
  Dims shape = c.Shape(packed);
  const int rank = shape.rank();
  shape.push_back(1);
  ir::ValueId rest = c.Reshape(packed, shape);
  const ir::ValueId base = Number(c, static_cast<double>(1 << bits), DType::kU8);
  std::vector<ir::ValueId> parts;
  for (int64_t at = 0; at + bits <= 8; at += bits) {
    const bool last = at + bits == 8;
    parts.push_back(last ? rest : c.Op("Mod", {rest, base}));
    if (!last) rest = c.Op("Div", {rest, base});
  }
  shape.erase(rank);
  shape[rank - 1] *= 8 / bits;
  return c.Reshape(c.Concat(std::move(parts), rank), shape);
}

// Zero points as f32: [n, count, 1], or one number for all where the node has none. Zero points of
// u8 are packed like codes, row by row.
Result<ir::ValueId> ZeroPoints(Composer& c, const WeightBlocks& b) {
  const double middle = static_cast<double>(int64_t{1} << (b.bits - 1));
  if (!c.Has(3)) return c.Scalar(middle, DType::kF32);
  ir::ValueId zero = c.In(3);
  if (IsFloat(c.Type(zero))) return c.Reshape(c.Cast(zero, DType::kF32), {b.n, b.count, 1});
  if (c.Type(zero) != DType::kU8) return Error(Code::kBadModel, "zero points are not u8 or float");
  const int64_t bytes = CeilDiv(b.count * b.bits, 8);
  if (ElementCount(c.Shape(zero)) != b.n * bytes) {
    return Error(Code::kBadModel, "zero points ", ToString(c.Shape(zero)), ", expected ", b.n,
                 " x ", bytes, " bytes");
  }
  zero = Unpacked(c, c.Reshape(zero, {b.n, bytes}), b.bits);
  return c.Reshape(c.Cast(c.Window(zero, 1, 0, b.count), DType::kF32), {b.n, b.count, 1});
}

NBitsBlocks Packed(const Composer& c, const WeightBlocks& b) {
  NBitsWeights w{b.n, b.k, b.bits, b.size, b.count, {}, {}, {}};
  const std::pair<size_t, ir::Tensor*> operands[] = {{1, &w.codes}, {2, &w.scales}, {3, &w.zeros}};
  for (const auto& [input, tensor] : operands) {
    if (!c.Has(input)) continue;
    if (!c.IsConstant(c.In(input))) return {"weights: they are computed", {}, {}};
    *tensor = c.graph().values[c.In(input)].constant;
  }
  const DType dtype = c.Type(c.In(0));
  if (c.Shape(c.In(0)).rank() < 2 || dtype == DType::kF64) {
    return {StrCat("dtype: A is ", DTypeName(dtype), " ", ToString(c.Shape(c.In(0)))), {}, {}};
  }
  return PackNBits(w);
}

// The product with float weights.
ir::ValueId Expanded(Composer& c, const WeightBlocks& b, ir::ValueId zero) {
  const DType dtype = c.Type(c.In(0));
  const int64_t blob = b.size * b.bits / 8;
  const ir::ValueId codes = Unpacked(c, c.Reshape(c.In(1), {b.n, b.count, blob}), b.bits);
  const ir::ValueId scales = c.Reshape(c.Cast(c.In(2), DType::kF32), {b.n, b.count, 1});
  const ir::ValueId blocks = c.Mul(c.Sub(c.Cast(codes, DType::kF32), zero), scales);
  ir::ValueId w = c.Reshape(c.Cast(blocks, dtype), {b.n, b.count * b.size});
  if (b.count * b.size != b.k) w = c.Window(w, 1, 0, b.k);
  return c.MatMul(c.In(0), c.Transpose(w, {1, 0}));
}

}  // namespace

// Inputs: a, packed b, scales, zero points, group indices, bias.
Status ExpandMatMulNBits(Composer& c) {
  AICF_ASSIGN_OR_RETURN(const WeightBlocks b, BlocksOf(c));
  if (c.Has(4)) return Error(Code::kUnsupported, "group indices (g_idx)");
  const int64_t blob = b.size * b.bits / 8;
  if (c.Type(c.In(1)) != DType::kU8 || ElementCount(c.Shape(c.In(1))) != b.n * b.count * blob) {
    return Error(Code::kBadModel, "weights are ", DTypeName(c.Type(c.In(1))), " ",
                 ToString(c.Shape(c.In(1))), ", expected u8 ", b.n, "x", b.count, "x", blob);
  }
  if (ElementCount(c.Shape(c.In(2))) != b.n * b.count) {
    return Error(Code::kBadModel, "scales have shape ", ToString(c.Shape(c.In(2))), ", expected ",
                 b.n, "x", b.count);
  }
  AICF_ASSIGN_OR_RETURN(const ir::ValueId zero, ZeroPoints(c, b));
  if (!c.ok()) return c.status();
  NBitsBlocks blocks = Packed(c, b);
  const std::string name(InfoOf(blocks.format).name);
  c.Explain(blocks.refusal.empty() ? StrCat("product with weights in blocks of ", name)
                                   : "product with weights as floats",
            blocks.refusal);
  ir::ValueId y = blocks.refusal.empty()
                      ? c.Op(ir::kBlockMatMul, {c.In(0), c.Constant(std::move(blocks.rows))},
                             {{"format", name}})
                      : Expanded(c, b, zero);
  if (c.Has(5)) y = c.Add(y, c.In(5));
  c.Output(0, y);
  return c.status();
}

}  // namespace aicf
