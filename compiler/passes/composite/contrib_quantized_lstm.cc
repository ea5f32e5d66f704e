// com.microsoft's DynamicQuantizeLSTM: an LSTM whose weights are codes, and whose input and hidden
// state are quantised to 8 bits by their own range before each product. The hidden state has
// another range in every step, so the steps are written out one after the other.
#include <algorithm>
#include <cctype>

#include "compiler/passes/composite/composites.h"
#include "compiler/passes/composite/pieces.h"
#include "compiler/passes/composite/quantized.h"

namespace aicf {
namespace {

// Most steps of a sequence: unrolling more makes a graph that takes too long to compile.
constexpr int64_t kMaxLstmSteps = 1024;
constexpr std::string_view kLstmActivations[] = {"relu", "sigmoid", "softplus", "softsign", "tanh"};
constexpr std::string_view kLstmOps[] = {"Relu", "Sigmoid", "Softplus", "Softsign", "Tanh"};

class DynamicLstm {
 public:
  explicit DynamicLstm(Composer& c)
      : c_(c),
        x_(c.Shape(c.In(kX))),
        directions_(c.Shape(c.In(kR))[0]),
        hidden_(c.Shape(c.In(kR))[1]) {}

  Status Run() {
    const std::string direction = Lower(c_.node().Str("direction", "forward"));
    const DynamicCodes x = QuantizeDynamically(c_, c_.Reshape(c_.In(kX), {x_[0] * x_[1], x_[2]}));
    std::vector<ir::ValueId> y, h, cell;
    for (int64_t d = 0; d < directions_; ++d) {
      const bool backwards = direction == "reverse" || d == 1;
      AICF_RETURN_IF_ERROR(Direction(d, backwards, x));
      y.push_back(c_.Reshape(c_.Concat(std::move(sequence_), 0), {x_[0], 1, x_[1], hidden_}));
      h.push_back(h_);
      cell.push_back(cell_);
      sequence_.clear();
    }
    c_.Output(0, c_.Concat(std::move(y), 1));
    c_.Output(1, Stacked(h));
    c_.Output(2, Stacked(cell));
    return c_.status();
  }

  // Ok, or why the node breaks a rule or cannot be expanded.
  static Status Check(Composer& c) {
    if (!Require(c, {kX, kW, kR, kWScale, kRScale})) return c.status();
    if (c.Shape(c.In(kX)).rank() != 3 || c.Shape(c.In(kW)).rank() != 3 ||
        c.Shape(c.In(kR)).rank() != 3) {
      return Error(Code::kBadModel, "its input and weights need three axes");
    }
    const Dims &x = c.Shape(c.In(kX)), w = c.Shape(c.In(kW)), r = c.Shape(c.In(kR));
    if (w != Dims{r[0], x[2], 4 * r[1]} || r[2] != 4 * r[1]) {
      return Error(Code::kBadModel, "weights ", ToString(w), " and ", ToString(r),
                   " do not fit an input ", ToString(x));
    }
    AICF_RETURN_IF_ERROR(CheckRest(c, x, r));
    const std::string direction = Lower(c.node().Str("direction", "forward"));
    if (r[0] != (direction == "bidirectional" ? 2 : 1)) {
      return Error(Code::kBadModel, "has weights of ", r[0], " directions, but is ", direction);
    }
    if (c.Has(kLengths)) return Error(Code::kUnsupported, "sequence_lens: steps are all taken");
    for (std::string_view key : {"activation_alpha", "activation_beta"}) {
      if (c.node().Has(key)) return Error(Code::kUnsupported, "attribute ", key);
    }
    if (x[0] == 0 || x[0] > kMaxLstmSteps) {
      return Error(Code::kUnsupported, x[0], " steps: the limit is ", kMaxLstmSteps);
    }
    return OkStatus();
  }

 private:
  enum Input : size_t { kX, kW, kR, kB, kLengths, kH0, kC0, kP, kWScale, kWZero, kRScale, kRZero };
  enum Gate { kIn, kOut, kForget, kCell, kGates };  // in the order of the weights' columns

  // Checks the optional inputs, and scales and zero points, which are one number, one per
  // direction, or one per column. x and r are the shapes of the input and of the recurrent weights.
  static Status CheckRest(Composer& c, const Dims& x, const Dims& r) {
    const int64_t directions = r[0], hidden = r[1];
    const Dims state = {directions, x[1], hidden};
    const std::pair<Input, Dims> shapes[] = {{kB, {directions, 2 * kGates * hidden}},
                                             {kH0, state},
                                             {kC0, state},
                                             {kP, {directions, 3 * hidden}}};
    for (const auto& [input, shape] : shapes) {
      if (!c.Has(input) || c.Shape(c.In(input)) == shape) continue;
      return Error(Code::kBadModel, "operand ", static_cast<int64_t>(input), " is ",
                   ToString(c.Shape(c.In(input))), ", expected ", ToString(shape));
    }
    const Dims each = {directions}, columns = {directions, kGates * hidden};
    for (const Input input : {kWScale, kWZero, kRScale, kRZero}) {
      if (!c.Has(input)) continue;
      const Dims& found = c.Shape(c.In(input));
      if (found.rank() == 0 || found == each || found == columns) continue;
      return Error(Code::kBadModel, "operand ", static_cast<int64_t>(input), " is ",
                   ToString(found), ", expected a number, ", ToString(each), " or ",
                   ToString(columns));
    }
    return OkStatus();
  }

  static std::string Lower(std::string text) {
    for (char& letter : text) letter = static_cast<char>(std::tolower(letter));
    return text;
  }

  // The part of an input that belongs to direction d, without the axis of directions.
  ir::ValueId Of(size_t input, int64_t d) {
    Dims shape = c_.Shape(c_.In(input));
    shape.erase(0);
    return c_.Reshape(c_.Window(c_.In(input), 0, d, 1), shape);
  }

  // The scale or zero point of direction d: a number, or one per column.
  ir::ValueId Parameter(size_t input, int64_t d) {
    if (!c_.Has(input)) return ir::kNoValue;
    return c_.Shape(c_.In(input)).rank() == 0 ? c_.In(input) : Of(input, d);
  }

  ir::ValueId Product(const DynamicCodes& a, size_t weights, int64_t d) {
    const bool input = weights == kW;
    return ScaledProduct(c_, {a.codes, a.scale, a.zero},
                         {Of(weights, d), Parameter(input ? kWScale : kRScale, d),
                          Parameter(input ? kWZero : kRZero, d)},
                         ir::kNoValue);
  }

  // The part of the gates' values that does not depend on the hidden state, for the rows of all
  // steps at once: [N, 4H] with N = steps * batch.
  ir::ValueId InputGates(const DynamicCodes& x, int64_t d) {
    const ir::ValueId gates = Product(x, kW, d);
    if (!c_.Has(kB)) return gates;
    const ir::ValueId both = Of(kB, d);
    const int64_t width = kGates * hidden_;
    return c_.Add(gates, c_.Add(c_.Window(both, 0, 0, width), c_.Window(both, 0, width, width)));
  }

  ir::ValueId State(size_t input, int64_t d) {
    return c_.Has(input) ? Of(input, d) : c_.Filled(0, DType::kF32, {x_[1], hidden_});
  }

  Status Direction(int64_t d, bool backwards, const DynamicCodes& x) {
    AICF_RETURN_IF_ERROR(ReadActivations(d));
    const ir::ValueId gates = InputGates(x, d);
    h_ = State(kH0, d);
    cell_ = State(kC0, d);
    sequence_.assign(static_cast<size_t>(x_[0]), ir::kNoValue);
    for (int64_t i = 0; i < x_[0]; ++i) {
      const int64_t t = backwards ? x_[0] - 1 - i : i;
      const ir::ValueId own = c_.Window(gates, 0, t * x_[1], x_[1]);
      Step(c_.Add(own, Product(QuantizeDynamically(c_, h_), kR, d)), d);
      sequence_[static_cast<size_t>(t)] = h_;
    }
    return c_.status();
  }

  Status ReadActivations(int64_t d) {
    const auto it = c_.node().attrs.find("activations");
    std::vector<std::string> names = {"sigmoid", "tanh", "tanh"};
    if (it != c_.node().attrs.end()) {
      const auto& all = std::get<std::vector<std::string>>(it->second);
      if (all.size() != static_cast<size_t>(3 * directions_)) {
        return Error(Code::kBadModel, "has ", all.size(), " activations, expected ",
                     3 * directions_);
      }
      names.assign(all.begin() + 3 * d, all.begin() + 3 * d + 3);
    }
    for (size_t i = 0; i < 3; ++i) {
      const auto* at =
          std::find(std::begin(kLstmActivations), std::end(kLstmActivations), Lower(names[i]));
      if (at == std::end(kLstmActivations))
        return Error(Code::kUnsupported, "activation ", names[i]);
      functions_[i] = kLstmOps[at - std::begin(kLstmActivations)];
    }
    return OkStatus();
  }

  // The columns of a gate. The peephole's contribution is added where there is one, and the sum is
  // clipped.
  ir::ValueId GateOf(ir::ValueId gates, Gate gate, int64_t d, ir::ValueId cell) {
    ir::ValueId v = c_.Window(gates, 1, gate * hidden_, hidden_);
    if (c_.Has(kP) && gate != kCell) {
      v = c_.Add(v, c_.Mul(c_.Window(Of(kP, d), 0, gate * hidden_, hidden_), cell));
    }
    return Clipped(v);
  }

  ir::ValueId Clipped(ir::ValueId v) {
    const double clip = c_.node().Float("clip", 0);
    if (clip <= 0) return v;
    return c_.Op("Clip", {v, c_.Scalar(-clip, DType::kF32), c_.Scalar(clip, DType::kF32)});
  }

  // Advances the hidden state and the cell state by one step.
  void Step(ir::ValueId gates, int64_t d) {
    const ir::ValueId in = c_.Op(functions_[0], {GateOf(gates, kIn, d, cell_)});
    const ir::ValueId forget = c_.node().Int("input_forget", 0) != 0
                                   ? c_.Sub(c_.Scalar(1, DType::kF32), in)
                                   : c_.Op(functions_[0], {GateOf(gates, kForget, d, cell_)});
    const ir::ValueId next = c_.Op(functions_[1], {GateOf(gates, kCell, d, cell_)});
    cell_ = c_.Add(c_.Mul(forget, cell_), c_.Mul(in, next));
    const ir::ValueId out = c_.Op(functions_[0], {GateOf(gates, kOut, d, cell_)});
    h_ = c_.Mul(out, c_.Op(functions_[2], {cell_}));
  }

  ir::ValueId Stacked(const std::vector<ir::ValueId>& states) {
    std::vector<ir::ValueId> parts;
    for (ir::ValueId v : states) parts.push_back(c_.Reshape(v, {1, x_[1], hidden_}));
    return c_.Concat(std::move(parts), 0);
  }

  Composer& c_;
  const Dims x_;  ///< steps, batch, inputs
  const int64_t directions_, hidden_;
  std::string_view functions_[3];
  ir::ValueId h_ = ir::kNoValue, cell_ = ir::kNoValue;
  std::vector<ir::ValueId> sequence_;
};

}  // namespace

Status ExpandDynamicQuantizeLSTM(Composer& c) {
  AICF_RETURN_IF_ERROR(DynamicLstm::Check(c));
  return DynamicLstm(c).Run();
}

}  // namespace aicf
