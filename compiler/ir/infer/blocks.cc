// Weights in blocks, and categorical draws.
#include "compiler/ir/block_nodes.h"
#include "compiler/ir/infer/common.h"
#include "kernels/abi/problem.h"

namespace aicf::ir {
namespace {

Result<int64_t> RowLength(const Graph& graph, const Node& node, size_t input) {
  const Value& blocks = In(graph, node, input);
  if (blocks.dtype != DType::kU8 || blocks.shape.rank() < 1) {
    return BadNode("blocks are ", DTypeName(blocks.dtype), " ", ToString(blocks.shape),
                   ", expected u8 with the bytes of a row last");
  }
  AICF_ASSIGN_OR_RETURN(const BlockFormat format, BlockFormatOf(node));
  return ElementsInBlocks(format, blocks.shape.back());
}

Status CheckPerRow(const Graph& graph, const Node& node, size_t input, DType dtype, int64_t rows) {
  const Value& v = In(graph, node, input);
  if (v.dtype == dtype && v.shape == Dims{rows}) return OkStatus();
  return BadNode("input ", input, " is ", DTypeName(v.dtype), " ", ToString(v.shape), ", expected ",
                 DTypeName(dtype), " [", rows, "]");
}

bool HasOutput(const Node& node, size_t k) {
  return node.outputs.size() > k && node.outputs[k] != kNoValue;
}

// The table that draws are stored in, with a place for each row: both or none.
Status InferDrawTable(Graph& graph, const Node& node, int64_t rows) {
  const bool stores = node.inputs.size() > abi::kDrawTable;
  if (stores != HasOutput(node, 2) || node.inputs.size() == abi::kDrawPlaces) {
    return BadNode("a table, places in it and the next table belong together");
  }
  if (!stores) return OkStatus();
  const Value& table = In(graph, node, abi::kDrawTable);
  if (table.dtype != DType::kI32 || table.shape.rank() != 1) {
    return BadNode("the table is ", DTypeName(table.dtype), " ", ToString(table.shape),
                   ", expected i32 of rank 1");
  }
  AICF_RETURN_IF_ERROR(CheckPerRow(graph, node, abi::kDrawPlaces, DType::kI32, rows));
  return SetOutput(graph, node, 2, DType::kI32, table.shape);
}

}  // namespace

Result<BlockFormat> BlockFormatOf(const Node& node) {
  const std::string name = node.Str("format", "");
  for (int i = 0; i < kBlockFormatCount; ++i) {
    if (InfoOf(static_cast<BlockFormat>(i)).name == name) return static_cast<BlockFormat>(i);
  }
  return BadNode("block format ", Quote(name), " is unknown");
}

Result<int64_t> ElementsInBlocks(BlockFormat format, int64_t bytes) {
  const BlockFormatInfo& info = InfoOf(format);
  int64_t elements = 0;
  if (bytes % info.bytes != 0 ||
      !CheckedMul<int64_t>(bytes / info.bytes, info.elements, &elements)) {
    return BadNode("a row of ", bytes, " bytes is no whole number of blocks in ", info.name);
  }
  return elements;
}

Status InferDequantizeBlocks(Graph& graph, const Node& node) {
  AICF_ASSIGN_OR_RETURN(const int64_t length, RowLength(graph, node, 0));
  Dims shape = InShape(graph, node, 0);
  shape[shape.rank() - 1] = length;
  return SetOutput(graph, node, 0, DType::kF32, shape);
}

Status InferBlockMatMul(Graph& graph, const Node& node) {
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, 0, kFloats));
  AICF_ASSIGN_OR_RETURN(const int64_t length, RowLength(graph, node, 1));
  const Value& x = In(graph, node, 0);
  const Dims& blocks = InShape(graph, node, 1);
  if (x.dtype == DType::kF64 || x.shape.rank() < 2 || x.shape.back() != length ||
      blocks.rank() != 2) {
    return BadNode("x ", DTypeName(x.dtype), " ", ToString(x.shape), " and blocks ",
                   ToString(blocks), " of rows of ", length, " elements do not multiply");
  }
  Dims shape = x.shape;
  shape[shape.rank() - 1] = blocks[0];
  return SetOutput(graph, node, 0, x.dtype, shape);
}

Status InferCategorical(Graph& graph, const Node& node) {
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, 0, kFloats));
  const Value& logits = In(graph, node, 0);
  if (logits.dtype == DType::kF64 || logits.shape.rank() != 2 || logits.shape[1] < 1 ||
      logits.shape[1] >= int64_t{1} << 31) {
    return BadNode("logits are ", DTypeName(logits.dtype), " ", ToString(logits.shape),
                   ", expected f32, f16 or bf16 [rows, categories]");
  }
  const int64_t rows = logits.shape[0];
  const DType counters = In(graph, node, 6).dtype == DType::kI32 ? DType::kI32 : DType::kI64;
  const DType expected[] = {DType::kF32, DType::kI32, DType::kF32,
                            DType::kF32, DType::kI64, counters};
  for (size_t i = 0; i < std::size(expected); ++i) {
    AICF_RETURN_IF_ERROR(CheckPerRow(graph, node, 1 + i, expected[i], rows));
  }
  AICF_RETURN_IF_ERROR(SetOutput(graph, node, 0, DType::kI32, {rows}));
  if (HasOutput(node, 1)) AICF_RETURN_IF_ERROR(SetOutput(graph, node, 1, DType::kBool, {rows}));
  return InferDrawTable(graph, node, rows);
}

}  // namespace aicf::ir
