/// cpu.recurrent.ref: one sequence of one direction after the other, in double.
#include <algorithm>
#include <cmath>

#include "kernels/abi/recurrent.h"
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/recurrent/activation.h"
#include "kernels/cpu/recurrent/recurrent.h"

namespace aicf::cpu {
namespace {

double At(const abi::TensorArg& t, std::initializer_list<int64_t> coords) {
  int64_t at[kMaxRank] = {};
  std::copy(coords.begin(), coords.end(), at);
  return LoadAt(t, at).f;
}

void Put(const abi::TensorArg& t, std::initializer_list<int64_t> coords, double value) {
  int64_t at[kMaxRank] = {};
  std::copy(coords.begin(), coords.end(), at);
  StoreAt(t, at, ScalarFromDouble(value, abi::ComputeDType(t.dtype)));
}

/// One sequence in one direction; `scratch` has room for four rows of hidden units.
class Sequence {
 public:
  Sequence(const abi::ArgBlock& args, const abi::RecurrentShape& s, int64_t d, int64_t b,
           double* scratch)
      : args_(args),
        a_(args.problem->as<abi::RecurrentAttrs>()),
        s_(s),
        d_(d),
        b_(b),
        h_(scratch),
        next_(scratch + s.hidden),
        c_(scratch + 2 * s.hidden),
        reset_(scratch + 3 * s.hidden) {
    for (int i = 0; i < abi::ActivationsOf(a_.cell); ++i) f_[i] = CellFunctionOf(a_, d, i);
  }

  void Run() {
    for (int64_t j = 0; j < s_.hidden; ++j) {
      h_[j] = At(Input(args_, s_.h0), {d_, b_, j});
      c_[j] = s_.c0 < 0 ? 0 : At(Input(args_, s_.c0), {d_, b_, j});
    }
    const int64_t length = Length();
    const bool reversed = abi::IsReversed(*args_.problem, d_);
    for (int64_t i = 0; i < s_.steps; ++i) {
      const int64_t t = reversed ? s_.steps - 1 - i : i;
      if (t < length) Step(t);
      for (int64_t j = 0; j < s_.hidden; ++j) {
        Put(Output(args_, 0), {t, d_, b_, j}, t < length ? h_[j] : 0);
      }
    }
    for (int64_t j = 0; j < s_.hidden; ++j) {
      Put(Output(args_, 1), {d_, b_, j}, length > 0 ? h_[j] : 0);
      if (s_.c0 >= 0) Put(Output(args_, 2), {d_, b_, j}, length > 0 ? c_[j] : 0);
    }
  }

 private:
  int64_t Length() const {
    if (s_.lengths < 0) return s_.steps;
    int64_t at[kMaxRank] = {b_};
    return std::clamp<int64_t>(LoadAt(Input(args_, s_.lengths), at).i, 0, s_.steps);
  }

  void Step(int64_t t) {
    for (int64_t j = 0; j < s_.hidden; ++j) next_[j] = Unit(t, j);
    if (abi::ResetsBeforeProduct(*args_.problem)) {
      for (int64_t j = 0; j < s_.hidden; ++j) reset_[j] *= h_[j];
      // next_ holds the update gates, which decide how much of the old state stays.
      for (int64_t j = 0; j < s_.hidden; ++j) {
        const double n = Apply(1, Gate(t, 2, j) + Product(2, j, reset_));
        next_[j] = (1 - next_[j]) * n + next_[j] * h_[j];
      }
    }
    std::swap(h_, next_);
  }

  /// The unit's new state; in a GRU that resets first, its update gate (and its reset gate).
  double Unit(int64_t t, int64_t j) {
    if (a_.cell == abi::CellKind::kLstm) return LstmUnit(t, j);
    if (a_.cell == abi::CellKind::kRnn) return Apply(0, Gate(t, 0, j) + Product(0, j, h_));
    const double z = Apply(0, Gate(t, 0, j) + Product(0, j, h_));
    const double r = Apply(0, Gate(t, 1, j) + Product(1, j, h_));
    reset_[j] = r;
    if (s_.bias < 0) return z;
    const double product = Product(2, j, h_) + At(Input(args_, s_.bias), {d_, j});
    const double n = Apply(1, Gate(t, 2, j) + r * product);
    return (1 - z) * n + z * h_[j];
  }

  double LstmUnit(int64_t t, int64_t j) {
    double in[4], peephole[3] = {};
    for (int g = 0; g < 4; ++g) in[g] = Gate(t, g, j) + Product(g, j, h_);
    for (int g = 0; g < 3 && s_.peepholes >= 0; ++g) {
      peephole[g] = At(Input(args_, s_.peepholes), {d_, g * s_.hidden + j});
    }
    const double i = Apply(0, in[0] + peephole[0] * c_[j]);
    const double f = a_.input_forget ? 1 - i : Apply(0, in[2] + peephole[2] * c_[j]);
    c_[j] = f * c_[j] + i * Apply(1, in[3]);
    const double o = Apply(0, in[1] + peephole[1] * c_[j]);
    return o * ApplyCellFunction(f_[2], c_[j]);
  }

  double Apply(int f, double x) const {
    // Comparisons, not a clamp: NaN stays NaN.
    if (a_.clip > 0) x = x > a_.clip ? a_.clip : x < -a_.clip ? -a_.clip : x;
    return ApplyCellFunction(f_[f], x);
  }

  double Gate(int64_t t, int64_t gate, int64_t j) const {
    return At(Input(args_, 0), {t, d_, b_, gate * s_.hidden + j});
  }

  double Product(int64_t gate, int64_t j, const double* state) const {
    const abi::TensorArg& r = Input(args_, 1);
    const int64_t item = DTypeBytes(r.dtype);
    const int64_t first = r.offset + d_ * r.strides[0] + (gate * s_.hidden + j) * r.strides[1];
    const char* at = static_cast<const char*>(r.data) + first * item;
    double sum = 0;
    for (int64_t k = 0; k < s_.hidden; ++k) {
      sum += LoadScalar(at + k * r.strides[2] * item, r.dtype).f * state[k];
    }
    return sum;
  }

  const abi::ArgBlock& args_;
  const abi::RecurrentAttrs& a_;
  const abi::RecurrentShape& s_;
  const int64_t d_, b_;
  double* h_;
  double* next_;
  double* c_;
  double* reset_;
  CellFunction f_[3];
};

}  // namespace

void RecurrentRef(const abi::ArgBlock& args) {
  const abi::RecurrentShape s = abi::RecurrentShapeOf(*args.problem);
  if (s.hidden == 0) return;
  auto* scratch = static_cast<double*>(args.workspace);
  ParallelRanges(args, s.directions * s.batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Sequence(args, s, i / s.batch, i % s.batch, scratch + 4 * i * s.hidden).Run();
    }
  });
}

}  // namespace aicf::cpu
