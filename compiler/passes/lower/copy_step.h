/// Copy steps of several pieces, for the lowerings that gather windows into one buffer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/passes/lower/lower.h"

namespace aicf {

/// Most operands that lowering gives one copy step; the contract allows 56
/// (kernels/abi/validate.cc).
inline constexpr size_t kMaxPieces = 48;

/// to[start + i] = from[i].
struct Piece {
  ValueView from;
  Dims start;
};

/// Emits one copy step. `fill` is the value of elements outside the pieces; without it the pieces
/// cover `to`.
/// REQUIRES: pieces.size() <= kMaxPieces.
void EmitPieces(LowerContext& ctx, const ir::Node& node, const std::vector<Piece>& pieces,
                const ValueView& to, std::optional<double> fill);

/// Records the "copy" decision of a node's first output.
void RecordCopy(LowerContext& ctx, const ir::Node& node, std::string rule);

}  // namespace aicf
