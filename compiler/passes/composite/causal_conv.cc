// CausalConvWithState: a depthwise convolution over a sequence that continues from one call to the
// next.
#include "base/scanner.h"
#include "compiler/passes/composite/composer.h"
#include "compiler/passes/composite/composites.h"

namespace aicf {

Status ExpandCausalConvWithState(Composer& c) {
  enum Input : size_t { kX, kWeights, kBias, kPast };
  const Dims x = c.Shape(c.In(kX)), w = c.Shape(c.In(kWeights));
  if (x.rank() != 3 || w.rank() != 3 || w[0] != x[1] || w[1] != 1 || w[2] < 1) {
    return Error(Code::kBadModel, "input ", ToString(x), " and weights ", ToString(w),
                 " are no [B, C, L] and [C, 1, K]");
  }
  const Dims state{x[0], x[1], w[2] - 1};
  if (c.Has(kPast) && c.Shape(c.In(kPast)) != state) {
    return Error(Code::kBadModel, "past_state is ", ToString(c.Shape(c.In(kPast))), ", expected ",
                 ToString(state));
  }
  const ir::ValueId past = c.Has(kPast) ? c.In(kPast) : c.Filled(0, c.Type(c.In(kX)), state);
  const ir::ValueId all = c.Concat({past, c.In(kX)}, 2);
  std::vector<ir::ValueId> inputs{all, c.In(kWeights)};
  if (c.Has(kBias)) inputs.push_back(c.In(kBias));
  ir::ValueId y = c.Op("Conv", std::move(inputs), {{"group", x[1]}});
  const std::string activation = c.node().Str("activation", "none");
  if (activation == "silu" || activation == "swish") {
    y = c.Op("Swish", {y});
  } else if (activation != "none" && !activation.empty()) {
    return Error(Code::kUnsupported, "activation ", Quote(activation));
  }
  c.Output(0, y);
  c.Output(1, c.Window(all, 2, x[2], w[2] - 1));
  return c.status();
}

}  // namespace aicf
