/// The single rewrites behind RewriteToNewest, by topic.
#pragma once

#include "compiler/import/onnx_rewrites.h"

namespace aicf {

// onnx_rewrite_inputs.cc: attributes that became inputs.
Status AxesToInput(NodeRewrite& r);     ///< Squeeze, Unsqueeze (13), reductions (13, 18)
Status ShapeToInput(NodeRewrite& r);    ///< Reshape (5)
Status BoundsToInputs(NodeRewrite& r);  ///< Slice (10)
Status SplitToInput(NodeRewrite& r);    ///< Split (13)
Status KToInput(NodeRewrite& r);        ///< TopK (10)
Status ClipToInputs(NodeRewrite& r);    ///< Clip (11)
Status PadToInputs(NodeRewrite& r);     ///< Pad (11)

// onnx_rewrite_quantize.cc
Status QuantizeForms(NodeRewrite& r);  ///< QuantizeLinear, DequantizeLinear

// onnx_rewrite_rules.cc: rules that changed.
Status OldBroadcast(NodeRewrite& r);       ///< binary ops (7)
Status OldPRelu(NodeRewrite& r);           ///< PRelu (7)
Status OldSoftmax(NodeRewrite& r);         ///< Softmax, LogSoftmax (13)
Status OldConcat(NodeRewrite& r);          ///< Concat (4)
Status OldSelu(NodeRewrite& r);            ///< Selu (6)
Status OldLpPool(NodeRewrite& r);          ///< LpPool (2)
Status OldTile(NodeRewrite& r);            ///< Tile (6)
Status CastTarget(NodeRewrite& r);         ///< Cast: numbers and names to dtypes
Status ResizeForms(NodeRewrite& r);        ///< Resize (10, 11)
Status UpsampleToResize(NodeRewrite& r);   ///< Upsample (7, 9)
Status BatchNormForms(NodeRewrite& r);     ///< BatchNormalization (7, 9, 14)
Status DropoutForms(NodeRewrite& r);       ///< Dropout (7, 12)
Status LayerNormForms(NodeRewrite& r);     ///< statistics as outputs
Status MaxPoolForms(NodeRewrite& r);       ///< indices as an output
Status OldDft(NodeRewrite& r);             ///< DFT (20)
Status GridSampleMode(NodeRewrite& r);     ///< GridSample (20)
Status OldRoiAlign(NodeRewrite& r);        ///< RoiAlign (16)
Status ScatterToElements(NodeRewrite& r);  ///< Scatter (11)
Status DropAttributes(NodeRewrite& r);     ///< attributes without a meaning here

}  // namespace aicf
