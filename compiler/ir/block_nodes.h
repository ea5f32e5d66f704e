/// Nodes of language models that ONNX has no op for: aicf.BlockMatMul and aicf.DequantizeBlocks,
/// which read weights in blocks of quantised elements, aicf.RotaryAppend and aicf.Categorical.
#pragma once

#include <string_view>

#include "base/block_format.h"
#include "compiler/ir/graph.h"

namespace aicf::ir {

inline constexpr std::string_view kBlockMatMul = "aicf.BlockMatMul";
inline constexpr std::string_view kDequantizeBlocks = "aicf.DequantizeBlocks";
inline constexpr std::string_view kRotaryAppend = "aicf.RotaryAppend";
inline constexpr std::string_view kCategorical = "aicf.Categorical";

/// The attribute "format". Errors: kBadModel where it names no format.
Result<BlockFormat> BlockFormatOf(const Node& node);

/// Elements of a row that takes `bytes`. Errors: kBadModel where it holds no whole number of
/// blocks.
Result<int64_t> ElementsInBlocks(BlockFormat format, int64_t bytes);

}  // namespace aicf::ir
