#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/abi/recurrent.h"
#include "kernels/cpu/expr/scalar_eval.h"
#include "kernels/cpu/gemm/kernel_case.h"

namespace aicf::cpu {
namespace {

using abi::CellActivation;
using abi::CellKind;
using testing::KernelCase;
using testing::Rng;
using testing::Uniform;
using Buffers = std::vector<std::vector<std::byte>>;

struct Limits {
  int64_t steps = 6, batch = 5, hidden = 40;
  std::vector<DType> dtypes = {DType::kF32};
  bool any_layout = true;
};

bool OneIn(Rng& rng, int64_t n) { return Uniform(rng, 0, n - 1) == 0; }
double Real(Rng& rng, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(rng);
}

abi::RecurrentAttrs RandomAttrs(Rng& rng) {
  abi::RecurrentAttrs a;
  a.cell = static_cast<CellKind>(Uniform(rng, 0, 2));
  a.direction = static_cast<abi::Direction>(Uniform(rng, 0, 2));
  const int64_t directions = a.direction == abi::Direction::kBidirectional ? 2 : 1;
  const bool plain = OneIn(rng, 2);
  for (int64_t i = 0; i < directions * abi::ActivationsOf(a.cell); ++i) {
    a.activations.push_back(
        plain ? i % 3 == 0 : Uniform(rng, 0, static_cast<int64_t>(CellActivation::kCount) - 1));
    a.alpha.push_back(Real(rng, 0.1, 1.2));
    a.beta.push_back(Real(rng, 0.1, 0.8));
  }
  if (OneIn(rng, 3)) a.clip = Real(rng, 0.3, 2);
  a.linear_before_reset = a.cell == CellKind::kGru && OneIn(rng, 2);
  a.input_forget = a.cell == CellKind::kLstm && OneIn(rng, 3);
  a.peepholes = a.cell == CellKind::kLstm && OneIn(rng, 3);
  a.lengths = OneIn(rng, 3);
  return a;
}

/// Fills the buffers; products with the state stay so small that unbounded activations, whose
/// products would grow as the third power of the state at every step, converge.
void Fill(Rng& rng, KernelCase& c) {
  c.Fill(rng);
  const double hidden = static_cast<double>(c.problem.inputs[1].shape[2]);
  const DType dtype = c.problem.inputs[1].dtype;
  for (size_t at = 0; at < c.buffers[1].size(); at += static_cast<size_t>(DTypeBytes(dtype))) {
    std::byte* element = &c.buffers[1][at];
    const double x = LoadScalar(element, dtype).f * 2 / hidden;
    StoreScalar(element, dtype, ScalarFromDouble(x, abi::ComputeDType(dtype)));
  }
}

/// Shapes for the attributes; rows are contiguous, and now and then not.
KernelCase CaseFor(Rng& rng, const abi::RecurrentAttrs& a, const Limits& limits) {
  KernelCase c;
  abi::Problem& p = c.problem;
  p.family = abi::Family::kRecurrent;
  p.attrs = a;
  const int64_t d = a.direction == abi::Direction::kBidirectional ? 2 : 1;
  const int64_t t = Uniform(rng, 0, limits.steps), b = Uniform(rng, 1, limits.batch);
  const int64_t h = Uniform(rng, 1, limits.hidden), width = abi::GatesOf(a.cell) * h;
  const DType dtype = limits.dtypes[static_cast<size_t>(Uniform(rng, 0, limits.dtypes.size() - 1))];
  const auto view = [&](const Dims& shape) {
    std::vector<int> order;
    for (int i = 0; i < shape.rank(); ++i) order.push_back(i);
    std::shuffle(order.begin(), order.end() - 1, rng);
    if (limits.any_layout && OneIn(rng, 8)) std::swap(order.front(), order.back());
    return testing::RandomView(rng, dtype, shape, order);
  };
  p.inputs = {view({t, d, b, width}), testing::RandomView(rng, dtype, {d, width, h}),
              view({d, b, h})};
  if (a.cell == CellKind::kLstm) p.inputs.push_back(view({d, b, h}));
  if (a.peepholes) p.inputs.push_back(view({d, 3 * h}));
  if (a.linear_before_reset) p.inputs.push_back(view({d, h}));
  if (a.lengths) p.inputs.push_back(testing::RandomView(rng, DType::kI32, {b}));
  p.core_inputs = static_cast<int>(p.inputs.size());
  p.outputs = {view({t, d, b, h}), view({d, b, h})};
  if (a.cell == CellKind::kLstm) p.outputs.push_back(view({d, b, h}));
  Fill(rng, c);
  return c;
}

/// Element of a buffer: inputs, then outputs.
double At(const KernelCase& c, const Buffers& buffers, size_t k, const Dims& coords) {
  const size_t inputs = c.problem.inputs.size();
  const abi::View& v = k < inputs ? c.problem.inputs[k] : c.problem.outputs[k - inputs];
  int64_t at[kMaxRank] = {};
  std::copy(coords.begin(), coords.end(), at);
  return testing::ElementOf(c, buffers[k], v, at);
}

double Activated(const abi::RecurrentAttrs& a, int64_t at, double x) {
  const double alpha = a.alpha[static_cast<size_t>(at)], beta = a.beta[static_cast<size_t>(at)];
  switch (static_cast<CellActivation>(a.activations[static_cast<int>(at)])) {
    case CellActivation::kTanh:
      return std::tanh(x);
    case CellActivation::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case CellActivation::kRelu:
      return x > 0 ? x : 0;
    case CellActivation::kAffine:
      return alpha * x + beta;
    case CellActivation::kLeakyRelu:
      return x >= 0 ? x : alpha * x;
    case CellActivation::kThresholdedRelu:
      return x > alpha ? x : 0;
    case CellActivation::kScaledTanh:
      return alpha * std::tanh(beta * x);
    case CellActivation::kHardSigmoid:
      return std::min(std::max(alpha * x + beta, 0.0), 1.0);
    case CellActivation::kElu:
      return x >= 0 ? x : alpha * (std::exp(x) - 1);
    case CellActivation::kSoftsign:
      return x / (1 + std::abs(x));
    default:
      return std::log(1 + std::exp(x));
  }
}

/// Outputs as plain arrays: Y, Y_h, Y_c.
using ExpectedOutputs = std::vector<std::vector<double>>;

/// The equations of the operators, one unit at a time.
ExpectedOutputs Plain(const KernelCase& c) {
  const abi::Problem& p = c.problem;
  const auto& a = p.as<abi::RecurrentAttrs>();
  const abi::RecurrentShape s = abi::RecurrentShapeOf(p);
  const int64_t H = s.hidden, T = s.steps, B = s.batch, D = s.directions;
  const auto in = [&](int k, const Dims& at) {
    return At(c, c.buffers, static_cast<size_t>(k), at);
  };
  ExpectedOutputs out = {std::vector<double>(static_cast<size_t>(T * D * B * H), 0.0),
                         std::vector<double>(static_cast<size_t>(D * B * H), 0.0),
                         std::vector<double>(static_cast<size_t>(D * B * H), 0.0)};
  for (int64_t d = 0; d < D; ++d) {
    const bool backwards = a.direction == abi::Direction::kReverse || d == 1;
    const auto f = [&](int which, double x, bool clipped = true) {
      if (a.clip > 0 && clipped) x = std::min(std::max(x, -a.clip), a.clip);
      return Activated(a, d * abi::ActivationsOf(a.cell) + which, x);
    };
    for (int64_t b = 0; b < B; ++b) {
      int64_t length = T;
      if (a.lengths) length = std::min(T, static_cast<int64_t>(std::max(0.0, in(s.lengths, {b}))));
      std::vector<double> h(H), cell(H), next(H), reset(H);
      for (int64_t j = 0; j < H; ++j) {
        h[j] = in(s.h0, {d, b, j});
        cell[j] = s.c0 >= 0 ? in(s.c0, {d, b, j}) : 0;
      }
      const auto hr = [&](int64_t gate, int64_t j, const std::vector<double>& x) {
        double sum = 0;
        for (int64_t k = 0; k < H; ++k) sum += x[k] * in(1, {d, gate * H + j, k});
        return sum;
      };
      for (int64_t i = 0; i < length; ++i) {
        const int64_t t = backwards ? length - 1 - i : i;
        const auto x = [&](int64_t gate, int64_t j) { return in(0, {t, d, b, gate * H + j}); };
        for (int64_t j = 0; j < H; ++j) reset[j] = h[j];
        if (a.cell == CellKind::kGru && !a.linear_before_reset) {
          for (int64_t j = 0; j < H; ++j) reset[j] = h[j] * f(0, x(1, j) + hr(1, j, h));
        }
        for (int64_t j = 0; j < H; ++j) {
          if (a.cell == CellKind::kRnn) {
            next[j] = f(0, x(0, j) + hr(0, j, h));
          } else if (a.cell == CellKind::kGru) {
            const double z = f(0, x(0, j) + hr(0, j, h));
            double hidden = x(2, j) + hr(2, j, reset);
            if (a.linear_before_reset) {
              hidden = x(2, j) + f(0, x(1, j) + hr(1, j, h)) * (hr(2, j, h) + in(s.bias, {d, j}));
            }
            next[j] = (1 - z) * f(1, hidden) + z * h[j];
          } else {
            const auto peephole = [&](int64_t gate) {
              return a.peepholes ? in(s.peepholes, {d, gate * H + j}) : 0.0;
            };
            const double ig = f(0, x(0, j) + hr(0, j, h) + peephole(0) * cell[j]);
            double fg = f(0, x(2, j) + hr(2, j, h) + peephole(2) * cell[j]);
            if (a.input_forget) fg = 1 - ig;
            cell[j] = fg * cell[j] + ig * f(1, x(3, j) + hr(3, j, h));
            const double og = f(0, x(1, j) + hr(1, j, h) + peephole(1) * cell[j]);
            next[j] = og * f(2, cell[j], false);
          }
        }
        h = next;
        for (int64_t j = 0; j < H; ++j) out[0][((t * D + d) * B + b) * H + j] = h[j];
      }
      for (int64_t j = 0; length > 0 && j < H; ++j) {
        out[1][(d * B + b) * H + j] = h[j];
        out[2][(d * B + b) * H + j] = cell[j];
      }
    }
  }
  return out;
}

/// Stores the expectation in buffers laid out as the outputs.
Buffers StoredOutputs(const KernelCase& c, const ExpectedOutputs& want) {
  const size_t inputs = c.problem.inputs.size();
  Buffers out;
  for (size_t r = 0; r < c.problem.outputs.size(); ++r) {
    abi::View v = c.problem.outputs[r];
    std::vector<std::byte> bytes = c.buffers[inputs + r];
    for (int64_t i = 0; i < abi::ElementsOf(v); ++i) {
      int64_t at = v.offset, rest = i;
      for (int d = v.shape.rank() - 1; d >= 0; --d) {
        at += rest % v.shape[d] * v.strides[d];
        rest /= v.shape[d];
      }
      StoreScalar(bytes.data() + at * DTypeBytes(v.dtype), v.dtype,
                  ScalarFromDouble(want[r][static_cast<size_t>(i)], abi::ComputeDType(v.dtype)));
    }
    out.push_back(std::move(bytes));
  }
  return out;
}

/// Runs every variant that takes the case; gives how many besides the reference did.
int CheckCase(const KernelCase& c, double tolerance) {
  const Status valid = abi::ValidateProblem(c.problem);
  EXPECT_TRUE(valid.ok()) << valid.ToString();
  const Buffers want = StoredOutputs(c, Plain(c));
  int ran = 0;
  for (const abi::KernelInfo& k : abi::KernelsOf(abi::Family::kRecurrent)) {
    if (k.backend != abi::Backend::kCpu) continue;
    if (!k.supports(c.problem, testing::HostDevice(3)).empty()) continue;
    ++ran;
    const Buffers one = testing::RunVariant(k, c, 1);
    for (size_t r = 0; r < want.size(); ++r) {
      EXPECT_LE(testing::WorstError(c, static_cast<int>(r), one[r], want[r]), tolerance)
          << k.key << " output " << r << "\n"
          << abi::ToString(c.problem);
    }
    EXPECT_TRUE(testing::RunVariant(k, c, 3) == one) << k.key << " depends on the threads";
  }
  return ran - 1;
}

TEST(Recurrent, VariantsMatchTheDefinition) {
  Rng rng(41);
  int fast = 0;
  for (int i = 0; i < 400 && !HasFailure(); ++i) {
    fast += CheckCase(CaseFor(rng, RandomAttrs(rng), {}), 2e-5);
  }
  EXPECT_GE(fast, 800);
}

TEST(Recurrent, OtherDTypesRunOnTheReference) {
  Rng rng(42);
  Limits limits;
  limits.hidden = 12;
  for (const auto& [dtype, tolerance] :
       {std::pair{DType::kF64, 1e-12}, {DType::kF16, 2e-3}, {DType::kBF16, 1e-2}}) {
    limits.dtypes = {dtype};
    for (int i = 0; i < 40 && !HasFailure(); ++i) {
      EXPECT_EQ(CheckCase(CaseFor(rng, RandomAttrs(rng), limits), tolerance), 0);
    }
  }
}

// Wide enough that the threads share the units of a step, or the rows of the batch.
TEST(Recurrent, LargeStepsAreShared) {
  Rng rng(43);
  for (CellKind cell : {CellKind::kRnn, CellKind::kGru, CellKind::kLstm}) {
    for (const auto& [batch, hidden] : {std::pair{int64_t{2}, int64_t{437}}, {70, 30}}) {
      abi::RecurrentAttrs a = RandomAttrs(rng);
      while (a.cell != cell) a = RandomAttrs(rng);
      a.lengths = true;
      a.activations = Dims::Filled(a.activations.rank(), 1);
      KernelCase c = CaseFor(rng, a, {.any_layout = false});
      while (c.problem.inputs[0].shape[0] < 2) c = CaseFor(rng, a, {.any_layout = false});
      const auto resize = [&](abi::View& v, int axis, int64_t extent) {
        v.shape[axis] = extent;
        v.strides = RowMajorStrides(v.shape);
      };
      abi::Problem& p = c.problem;
      const abi::RecurrentShape s = abi::RecurrentShapeOf(p);
      resize(p.inputs[0], 0, 3);
      resize(p.inputs[0], 2, batch);
      resize(p.inputs[0], 3, s.gates * hidden);
      resize(p.inputs[1], 1, s.gates * hidden);
      resize(p.inputs[1], 2, hidden);
      for (size_t k = 2; k < p.inputs.size(); ++k) {
        abi::View& v = p.inputs[k];
        if (v.shape.rank() == 1) resize(v, 0, batch);
        if (v.shape.rank() == 2) resize(v, 1, v.shape[1] / s.hidden * hidden);
        if (v.shape.rank() == 3) {
          resize(v, 1, batch);
          resize(v, 2, hidden);
        }
      }
      for (abi::View& v : p.outputs) {
        const int rank = v.shape.rank();
        if (rank == 4) resize(v, 0, 3);
        resize(v, rank - 2, batch);
        resize(v, rank - 1, hidden);
      }
      Fill(rng, c);
      EXPECT_GE(CheckCase(c, 2e-5), 2);
    }
  }
}

TEST(Recurrent, NotANumberStaysInItsRow) {
  Rng rng(44);
  for (int i = 0; i < 60; ++i) {
    abi::RecurrentAttrs a = RandomAttrs(rng);
    a.lengths = false;
    KernelCase c = CaseFor(rng, a, {.any_layout = false});
    const abi::RecurrentShape s = abi::RecurrentShapeOf(c.problem);
    if (s.steps == 0 || s.batch < 2) continue;
    // Row 1 of the initial state.
    const abi::View& v = c.problem.inputs[2];
    const float nan = std::nanf("");
    for (int64_t d = 0; d < s.directions; ++d) {
      const int64_t at = v.offset + d * v.strides[0] + v.strides[1];
      std::memcpy(&c.buffers[2][static_cast<size_t>(at) * 4], &nan, 4);
    }
    for (const abi::KernelInfo& k : abi::KernelsOf(abi::Family::kRecurrent)) {
      if (k.backend != abi::Backend::kCpu) continue;
      if (!k.supports(c.problem, testing::HostDevice(1)).empty()) continue;
      const Buffers got = testing::RunVariant(k, c, 1);
      bool nan_seen = false;
      for (int64_t j = 0; j < s.hidden; ++j) {
        Buffers all = c.buffers;
        std::copy(got.begin(), got.end(),
                  all.begin() + static_cast<int64_t>(c.problem.inputs.size()));
        const size_t y_h = c.problem.inputs.size() + 1;
        EXPECT_FALSE(std::isnan(At(c, all, y_h, {0, 0, j}))) << k.key;
        nan_seen |= std::isnan(At(c, all, y_h, {0, 1, j}));
      }
      EXPECT_TRUE(nan_seen) << k.key << "\n" << abi::ToString(c.problem);
    }
  }
}

}  // namespace
}  // namespace aicf::cpu
