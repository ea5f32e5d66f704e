// RNN, GRU and LSTM with random attributes, inputs and outputs against the operators' equations.
#include <algorithm>
#include <random>

#include "compiler/passes/lower/testing.h"

namespace aicf {
namespace {

using testing::Array;
using testing::Random;
using testing::ToArray;
using Rng = std::mt19937;

int UniformInt(Rng& rng, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(rng);
}
bool OneIn(Rng& rng, int n) { return UniformInt(rng, 1, n) == 1; }

/// An activation as the model writes it, with what is expected of it.
struct Function {
  std::string name;
  int alphas, betas;           ///< values it takes from the lists
  double alpha = 0, beta = 0;  ///< the defaults, then what it took
  double (*f)(double x, double a, double b);
};

const std::vector<Function>& Functions() {
  static const std::vector<Function> all = {
      {"Tanh", 0, 0, 0, 0, [](double x, double, double) { return std::tanh(x); }},
      {"Sigmoid", 0, 0, 0, 0, [](double x, double, double) { return 1 / (1 + std::exp(-x)); }},
      {"Relu", 0, 0, 0, 0, [](double x, double, double) { return std::max(x, 0.0); }},
      {"Affine", 1, 1, 1, 0, [](double x, double a, double b) { return a * x + b; }},
      {"LeakyRelu", 1, 0, 0.01, 0, [](double x, double a, double) { return x < 0 ? a * x : x; }},
      {"ThresholdedRelu", 1, 0, 1, 0, [](double x, double a, double) { return x > a ? x : 0; }},
      {"HardSigmoid", 1, 1, 0.2, 0.5,
       [](double x, double a, double b) { return std::min(1.0, std::max(0.0, a * x + b)); }},
      {"Elu", 1, 0, 1, 0,
       [](double x, double a, double) { return x < 0 ? a * (std::exp(x) - 1) : x; }},
      {"Softsign", 0, 0, 0, 0, [](double x, double, double) { return x / (1 + std::abs(x)); }},
      {"softplus", 0, 0, 0, 0, [](double x, double, double) { return std::log(1 + std::exp(x)); }},
  };
  return all;
}

struct RecurrentModel {
  std::string op;
  int gates = 1, functions_each = 1, directions = 1;
  int64_t T = 1, B = 1, I = 1, H = 1;
  bool reverse = false, batch_first = false, linear_before_reset = false, input_forget = false;
  double clip = 0;
  std::vector<Function> functions;
  std::map<std::string, Array> in;  ///< x as the op reads it, w, r, b, l, h, c, p: those present
  bool transposed_x = false;        ///< the graph's input is x with its first axes exchanged

  const Array* Find(const std::string& name) const {
    const auto it = in.find(name);
    return it == in.end() ? nullptr : &it->second;
  }
  double State(const std::string& name, int64_t d, int64_t b, int64_t j) const {
    const Array* a = Find(name);
    return a == nullptr ? 0 : (*a)[batch_first ? Dims{b, d, j} : Dims{d, b, j}];
  }
  double Bias(int64_t d, int64_t i) const {
    const Array* a = Find("b");
    return a == nullptr ? 0 : (*a)[{d, i}];
  }
  double Apply(int64_t d, int which, double x, bool clipped = true) const {
    if (clip > 0 && clipped) x = std::min(std::max(x, -clip), clip);
    const Function& f = functions[static_cast<size_t>(d * functions_each + which)];
    return f.f(x, f.alpha, f.beta);
  }
};

/// Y, Y_h, Y_c as the layout has them.
struct Outputs {
  Array y, h, c;
};

/// One sequence of one direction, by the equations of the operators' documentation.
void RunSequence(const RecurrentModel& m, int64_t d, int64_t b, Outputs& out) {
  const int64_t H = m.H, GH = m.gates * H;
  std::vector<double> h(H), c(H), next(H), r(H), z(H);
  for (int64_t j = 0; j < H; ++j) {
    h[j] = m.State("h", d, b, j);
    c[j] = m.State("c", d, b, j);
  }
  const Array* lengths = m.Find("l");
  const int64_t length = lengths == nullptr ? m.T : static_cast<int64_t>((*lengths)[{b}]);
  for (int64_t i = 0; i < length; ++i) {
    const int64_t t = m.reverse || d == 1 ? length - 1 - i : i;
    const auto wx = [&](int gate, int64_t j) {
      double sum = m.Bias(d, gate * H + j);
      for (int64_t k = 0; k < m.I; ++k) {
        sum += (*m.Find("x"))[m.batch_first ? Dims{b, t, k} : Dims{t, b, k}] *
               (*m.Find("w"))[{d, gate * H + j, k}];
      }
      return sum;
    };
    const auto rh = [&](int gate, int64_t j, const std::vector<double>& state) {
      double sum = m.Bias(d, GH + gate * H + j);
      for (int64_t k = 0; k < H; ++k) sum += state[k] * (*m.Find("r"))[{d, gate * H + j, k}];
      return sum;
    };
    const auto peep = [&](int gate, int64_t j) {
      const Array* p = m.Find("p");
      return p == nullptr ? 0 : (*p)[{d, gate * H + j}] * c[j];
    };
    for (int64_t j = 0; j < H; ++j) {
      if (m.op == "RNN") {
        next[j] = m.Apply(d, 0, wx(0, j) + rh(0, j, h));
      } else if (m.op == "LSTM") {
        const double in = m.Apply(d, 0, wx(0, j) + rh(0, j, h) + peep(0, j));
        const double forget =
            m.input_forget ? 1 - in : m.Apply(d, 0, wx(2, j) + rh(2, j, h) + peep(2, j));
        c[j] = forget * c[j] + in * m.Apply(d, 1, wx(3, j) + rh(3, j, h));
        const double gate = m.Apply(d, 0, wx(1, j) + rh(1, j, h) + peep(1, j));
        next[j] = gate * m.Apply(d, 2, c[j], false);
      } else {
        z[j] = m.Apply(d, 0, wx(0, j) + rh(0, j, h));
        r[j] = m.Apply(d, 0, wx(1, j) + rh(1, j, h));
      }
    }
    if (m.op == "GRU") {
      std::vector<double> reset(H);
      for (int64_t j = 0; j < H; ++j) reset[j] = r[j] * h[j];
      for (int64_t j = 0; j < H; ++j) {
        const double product = m.linear_before_reset ? r[j] * rh(2, j, h) : rh(2, j, reset);
        next[j] = (1 - z[j]) * m.Apply(d, 1, wx(2, j) + product) + z[j] * h[j];
      }
    }
    h = next;
    for (int64_t j = 0; j < H; ++j) {
      out.y[m.batch_first ? Dims{b, t, d, j} : Dims{t, d, b, j}] = h[j];
    }
  }
  for (int64_t j = 0; length > 0 && j < H; ++j) {
    const Dims at = m.batch_first ? Dims{b, d, j} : Dims{d, b, j};
    out.h[at] = h[j];
    out.c[at] = c[j];
  }
}

Outputs ExpectedOutputs(const RecurrentModel& m) {
  const int64_t D = m.directions;
  Outputs out;
  out.y = Array(m.batch_first ? Dims{m.B, m.T, D, m.H} : Dims{m.T, D, m.B, m.H});
  out.h = out.c = Array(m.batch_first ? Dims{m.B, D, m.H} : Dims{D, m.B, m.H});
  for (int64_t d = 0; d < D; ++d) {
    for (int64_t b = 0; b < m.B; ++b) RunSequence(m, d, b, out);
  }
  return out;
}

/// The graph's text, its inputs, and which of them are constants.
struct Built {
  RecurrentModel m;
  std::string inputs_text, call, attributes;
  std::map<std::string, ir::Tensor> feeds, constants;
  bool constant_weights = false;
};

std::string FloatListText(const std::vector<double>& values) {
  std::string out;
  for (double v : values) out += StrCat(out.empty() ? "" : ", ", std::to_string(v));
  return StrCat("[", out, "]");
}

/// Names the functions, gives some of them parameters of the lists, and keeps what they took.
void AddFunctions(Rng& rng, Built& b) {
  RecurrentModel& m = b.m;
  const auto& all = Functions();
  if (OneIn(rng, 3)) {
    for (int i = 0; i < m.directions * m.functions_each; ++i) {
      const bool first = i % m.functions_each == 0 && m.op != "RNN";
      m.functions.push_back(all[first ? 1 : 0]);
    }
    return;
  }
  std::vector<double> alphas, betas;
  std::string names;
  const bool some = OneIn(rng, 2);
  bool more_alphas = some, more_betas = some;  // the lists may end early
  for (int i = 0; i < m.directions * m.functions_each; ++i) {
    Function f = all[static_cast<size_t>(UniformInt(rng, 0, static_cast<int>(all.size()) - 1))];
    names += StrCat(names.empty() ? "" : ", ", "\"", f.name, "\"");
    more_alphas = more_alphas && !OneIn(rng, 5);
    more_betas = more_betas && !OneIn(rng, 5);
    if (f.alphas > 0 && more_alphas)
      alphas.push_back(f.alpha = UniformInt(rng, 1, 13) / 16.0 + 0.01);
    if (f.betas > 0 && more_betas) betas.push_back(f.beta = UniformInt(rng, 1, 7) / 16.0 + 0.01);
    m.functions.push_back(f);
  }
  b.attributes += StrCat(", activations=[", names, "]");
  if (!alphas.empty()) b.attributes += StrCat(", activation_alpha=", FloatListText(alphas));
  if (!betas.empty()) b.attributes += StrCat(", activation_beta=", FloatListText(betas));
}

/// One operand of the call; absent ones are "_".
void AddOperand(Rng& rng, Built& b, const std::string& name, bool present, const Dims& shape,
                double range, DType dtype = DType::kF32) {
  b.call += b.call.empty() ? "" : ", ";
  if (!present) {
    b.call += "_";
    return;
  }
  const bool integer = dtype == DType::kI32;
  ir::Tensor t = Random(dtype, shape, static_cast<uint32_t>(rng()), integer ? 0 : -range,
                        integer ? static_cast<double>(b.m.T) + 1 : range);
  b.m.in.emplace(name, ToArray(t));
  const bool weight = name != "x" && name != "h" && name != "c";
  Dims declared = shape;
  if (name == "x" && b.m.transposed_x) {
    std::swap(declared[0], declared[1]);
    const Array& x = b.m.in.at("x");
    t = testing::ToTensor(testing::Generate(declared,
                                            [&](const Dims& at) {
                                              return x[{at[1], at[0], at[2]}];
                                            }),
                          dtype);
    b.call += "%xt";
  } else {
    b.call += "%" + name;
  }
  b.inputs_text += StrCat("input %", name, ": ", DTypeName(dtype), "[", ToString(declared), "] ");
  (weight && b.constant_weights ? b.constants : b.feeds).emplace(name, std::move(t));
}

Built RandomModel(Rng& rng) {
  Built b;
  RecurrentModel& m = b.m;
  const int kind = UniformInt(rng, 0, 2);
  m.op = kind == 0 ? "RNN" : kind == 1 ? "GRU" : "LSTM";
  m.gates = kind == 0 ? 1 : kind == 1 ? 3 : 4;
  m.functions_each = kind + 1;
  const int direction = UniformInt(rng, 0, 2);
  m.directions = direction == 2 ? 2 : 1;
  m.reverse = direction == 1;
  constexpr const char* kDirections[] = {"forward", "reverse", "bidirectional"};
  m.batch_first = OneIn(rng, 2);
  m.T = UniformInt(rng, 1, 4), m.B = UniformInt(rng, 1, 3), m.I = UniformInt(rng, 1, 5),
  m.H = UniformInt(rng, 1, 6);
  if (OneIn(rng, 20)) m.T = 0;
  b.attributes = StrCat("direction=\"", kDirections[direction], "\"");
  if (OneIn(rng, 2)) b.attributes += StrCat(", hidden_size=", m.H);
  if (m.batch_first) b.attributes += ", layout=1";
  if (OneIn(rng, 3)) b.attributes += StrCat(", clip=", m.clip = 0.625);
  m.linear_before_reset = m.op == "GRU" && OneIn(rng, 2);
  if (m.linear_before_reset) b.attributes += ", linear_before_reset=1";
  m.input_forget = m.op == "LSTM" && OneIn(rng, 3);
  if (m.input_forget) b.attributes += ", input_forget=1";
  AddFunctions(rng, b);
  m.transposed_x = OneIn(rng, 3);
  b.constant_weights = OneIn(rng, 2);
  const int64_t D = m.directions, GH = m.gates * m.H;
  const Dims state = m.batch_first ? Dims{m.B, D, m.H} : Dims{D, m.B, m.H};
  AddOperand(rng, b, "x", true, m.batch_first ? Dims{m.B, m.T, m.I} : Dims{m.T, m.B, m.I}, 1);
  AddOperand(rng, b, "w", true, {D, GH, m.I}, 0.5);
  AddOperand(rng, b, "r", true, {D, GH, m.H}, 0.3);
  AddOperand(rng, b, "b", OneIn(rng, 2), {D, 2 * GH}, 0.5);
  AddOperand(rng, b, "l", OneIn(rng, 2), {m.B}, 0, DType::kI32);
  AddOperand(rng, b, "h", OneIn(rng, 2), state, 1);
  if (m.op == "LSTM") {
    AddOperand(rng, b, "c", OneIn(rng, 2), state, 1);
    AddOperand(rng, b, "p", OneIn(rng, 2), {D, 3 * m.H}, 0.5);
  }
  while (b.call.ends_with(", _")) b.call.resize(b.call.size() - 3);
  return b;
}

/// Runs the model with some of its outputs; they are compared in order.
void CheckModel(Rng& rng, const Built& b) {
  const Outputs want = ExpectedOutputs(b.m);
  std::string outputs, results;
  std::vector<const Array*> wanted;
  const int count = b.m.op == "LSTM" ? 3 : 2, only = UniformInt(rng, 0, count);
  for (int i = 0; i < count; ++i) {
    const bool used = only == count || only == i;
    outputs += StrCat(i == 0 ? "" : ", ", used ? StrCat("%y", i, ": f32") : "_");
    if (!used) continue;
    results += StrCat(" output %y", i);
    wanted.push_back(i == 0 ? &want.y : i == 1 ? &want.h : &want.c);
  }
  const std::string transpose =
      b.m.transposed_x ? "%xt: f32 = Transpose(%x) {perm=[1, 0, 2]} " : "";
  const std::string text =
      StrCat("graph \"g\" { ", b.inputs_text, transpose, "(", outputs, ") = ", b.m.op, "(", b.call,
             ") {", b.attributes, "}", results, " }");
  testing::RunOptions options;
  options.constants = b.constants;
  const auto run = testing::RunGraph(text, b.feeds, options);
  ASSERT_TRUE(run.ok()) << run.status().ToString() << "\n" << text;
  testing::ExpectRoundTrip(run->lowered);
  EXPECT_EQ(testing::CountSteps(run->lowered, abi::Family::kRecurrent), 1) << text;
  EXPECT_LE(testing::CountSteps(run->lowered, abi::Family::kGemm), 1) << text;
  if (b.constant_weights) {
    EXPECT_LE(run->lowered.steps.size(), 2u) << "something is copied\n" << text;
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    testing::ExpectClose(run->outputs[i], *wanted[i], 2e-5, 2e-5, text);
  }
}

TEST(LowerRecurrent, RandomModelsMatchTheEquations) {
  Rng rng(91);
  for (int i = 0; i < 500 && !::testing::Test::HasFailure(); ++i) CheckModel(rng, RandomModel(rng));
}

TEST(LowerRecurrent, FullConstantLengthsLeaveNoTrace) {
  const auto steps = [](const std::string& lengths) {
    const auto run = testing::RunGraph(
        StrCat("graph \"g\" { input %x: f32[3x2x4] input %w: f32[1x5x4] input %r: f32[1x5x5] "
               "const %l: i32[2] = ",
               lengths, " (%y: f32, _) = RNN(%x, %w, %r, _, %l) output %y }"),
        {{"x", Random(DType::kF32, {3, 2, 4}, 1)},
         {"w", Random(DType::kF32, {1, 5, 4}, 2)},
         {"r", Random(DType::kF32, {1, 5, 5}, 3)}});
    EXPECT_TRUE(run.ok()) << run.status().ToString();
    return run->lowered.steps.back().problem;
  };
  EXPECT_FALSE(steps("[3, 3]").as<abi::RecurrentAttrs>().lengths);
  EXPECT_EQ(steps("[3, 3]").inputs.size(), 3u);
  EXPECT_TRUE(steps("[3, 1]").as<abi::RecurrentAttrs>().lengths);
}

TEST(LowerRecurrent, HalfPrecision) {
  const std::string text =
      "graph \"g\" { input %x: f16[3x1x4] input %w: f16[1x20x4] input %r: f16[1x20x5] "
      "(%y: f16, _, _) = LSTM(%x, %w, %r) output %y }";
  RecurrentModel m;
  m.op = "LSTM", m.gates = 4, m.functions_each = 3, m.T = 3, m.I = 4, m.H = 5;
  m.functions = {Functions()[1], Functions()[0], Functions()[0]};
  std::map<std::string, ir::Tensor> feeds = {{"x", Random(DType::kF16, {3, 1, 4}, 1)},
                                             {"w", Random(DType::kF16, {1, 20, 4}, 2)},
                                             {"r", Random(DType::kF16, {1, 20, 5}, 3)}};
  for (const auto& [name, t] : feeds) m.in.emplace(name, ToArray(t));
  testing::ExpectGraph(text, feeds, ExpectedOutputs(m).y, 4e-3, 4e-3);
}

}  // namespace
}  // namespace aicf
