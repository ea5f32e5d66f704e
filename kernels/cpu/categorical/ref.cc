/// cpu.categorical.ref: each row's categories sorted by their logits, masses in double.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/abi/draw.h"
#include "kernels/cpu/categorical/categorical.h"
#include "kernels/cpu/categorical/results.h"
#include "kernels/cpu/common/reference.h"

namespace aicf::cpu {
namespace {

struct Row {
  const abi::ArgBlock& args;
  int64_t b;

  double Float(int k) const { return LoadAt(Input(args, k), &b).f; }
  int64_t Int(int k) const { return LoadAt(Input(args, k), &b).i; }
};

std::vector<double> LogitsOf(const Row& row) {
  const abi::TensorArg& x = Input(row.args, 0);
  std::vector<double> logits(static_cast<size_t>(x.shape[1]));
  for (size_t i = 0; i < logits.size(); ++i) {
    const int64_t at[kMaxRank] = {row.b, static_cast<int64_t>(i)};
    logits[i] = LoadAt(x, at).f;
  }
  return logits;
}

// The categories that top-k, top-p and min-p leave, the largest first. They are ordered by their
// logits, because the masses of different logits may round to the same number.
std::vector<size_t> Survivors(const Row& row, const std::vector<double>& logits,
                              const std::vector<double>& mass) {
  std::vector<size_t> order(mass.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return logits[a] > logits[b]; });
  const int64_t top_k = row.Int(2);
  if (top_k > 0 && static_cast<uint64_t>(top_k) < order.size()) {
    order.resize(static_cast<size_t>(top_k));
  }
  const double top_p = row.Float(3);
  if (top_p < 1) {
    double all = 0, running = 0;
    for (size_t i : order) all += mass[i];
    size_t count = 0;
    while (count < order.size() && (count == 0 || running < top_p * all)) {
      running += mass[order[count++]];
    }
    order.resize(count);
  }
  const double least = row.Float(4) * mass[order[0]];
  while (order.size() > 1 && mass[order.back()] < least) order.pop_back();
  return order;
}

int64_t Draw(const Row& row, const std::vector<double>& logits, double max) {
  const double temperature = row.Float(1);
  std::vector<double> mass(logits.size());
  for (size_t i = 0; i < mass.size(); ++i) {
    const bool nothing = logits[i] == -HUGE_VAL;  // mass 0 even at an infinite temperature
    mass[i] = nothing ? 0 : std::exp((logits[i] - max) / temperature);
  }
  std::vector<size_t> left = Survivors(row, logits, mass);
  std::ranges::sort(left);
  double all = 0, running = 0;
  for (size_t i : left) all += mass[i];
  const double u =
      abi::UniformDraw(static_cast<uint64_t>(row.Int(5)), static_cast<uint64_t>(row.Int(6)));
  for (size_t i : left) {
    running += mass[i];
    if (running > u * all) return static_cast<int64_t>(i);
  }
  return static_cast<int64_t>(left.back());
}

void DrawRow(const Row& row) {
  const std::vector<double> logits = LogitsOf(row);
  const bool legal =
      std::ranges::none_of(logits, [](double x) { return std::isnan(x) || x == HUGE_VAL; });
  const size_t largest = static_cast<size_t>(std::ranges::max_element(logits) - logits.begin());
  const bool valid = legal && logits[largest] > -HUGE_VAL;
  int64_t id = valid ? static_cast<int64_t>(largest) : 0;
  if (valid && row.Float(1) > 0) id = Draw(row, logits, logits[largest]);
  StoreDraw(row.args, row.b, id, valid);
}

}  // namespace

void CategoricalRef(const abi::ArgBlock& args) {
  CopyDrawTable(args);
  ParallelRanges(args, Input(args, 0).shape[0], 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) DrawRow({args, b});
  });
}

}  // namespace aicf::cpu
