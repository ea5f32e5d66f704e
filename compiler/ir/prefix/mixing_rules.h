/// Rules of ops that combine positions along some axes: those axes must be whole. See rules.h.
#pragma once

#include <string>

#include "compiler/ir/prefix/rules.h"

namespace aicf::ir {

/// aicf.Attention: keys and heads are whole, requests independent.
std::string Attention(const NodePair& p);
std::string MatMul(const NodePair& p);
std::string QLinearMatMul(const NodePair& p);
std::string Gemm(const NodePair& p);
/// Axis 0 of operand 0 counts independent examples. Nothing is known of its other axes and of other
/// operands, so they have to be whole.
std::string PerBatch(const NodePair& p);
/// Extents and scales may be given by numbers that follow from shapes, so what they come to is
/// compared.
std::string Resize(const NodePair& p);
std::string GridSample(const NodePair& p);
std::string BatchNormalization(const NodePair& p);
std::string Softmax(const NodePair& p);
std::string LayerNormalization(const NodePair& p);
std::string ArgExtreme(const NodePair& p);
std::string Reduce(const NodePair& p);
std::string Cumulative(const NodePair& p);
std::string TopK(const NodePair& p);
std::string Recurrent(const NodePair& p);

}  // namespace aicf::ir
