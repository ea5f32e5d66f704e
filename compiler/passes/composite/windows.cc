// Signal windows and filter banks: constants, computed in double.
#include <cmath>
#include <numbers>

#include "compiler/ir/infer/infer.h"
#include "compiler/ir/onnx_dtype.h"
#include "compiler/passes/composite/composites.h"
#include "compiler/passes/composite/pieces.h"

namespace aicf {
namespace {

Result<DType> OutputType(const Composer& c) {
  return c.node().Has("output_datatype") ? DTypeOfOnnx(c.node().Int("output_datatype", 1))
                                         : Result<DType>(DType::kF32);
}

// a[0] - a[1] cos(x) + a[2] cos(2x), x running over one turn. A periodic window leaves out its last
// element, a symmetric one ends where it began.
Status CosineWindow(Composer& c, const std::vector<double>& a) {
  AICF_ASSIGN_OR_RETURN(const int64_t size, ConstantInt(c, 0, "size"));
  AICF_ASSIGN_OR_RETURN(const DType dtype, OutputType(c));
  if (size < 0 || size > kMaxTableElements) return Error(Code::kBadModel, "size is ", size);
  const bool periodic = c.node().Int("periodic", 1) != 0;
  const double period = static_cast<double>(periodic ? size : std::max<int64_t>(size - 1, 1));
  std::vector<double> values;
  for (int64_t i = 0; i < size; ++i) {
    const double x = 2 * std::numbers::pi * static_cast<double>(i) / period;
    double value = 0;
    for (size_t k = 0; k < a.size(); ++k) {
      value += (k % 2 == 0 ? a[k] : -a[k]) * std::cos(static_cast<double>(k) * x);
    }
    values.push_back(value);
  }
  c.Output(0, Floats(c, values, {size}, dtype));
  return c.status();
}

double ToMel(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
double ToHertz(double mel) { return 700 * (std::pow(10, mel / 2595) - 1); }

struct MelBank {
  int64_t bands, dft_length, sample_rate;
  double lower, upper;
  int64_t bins() const { return dft_length / 2 + 1; }
};

// The spectrogram bin where each band begins, and of the two after the last band.
std::vector<int64_t> BandEdges(const MelBank& bank) {
  const double low = ToMel(bank.lower);
  const double step = (ToMel(bank.upper) - low) / static_cast<double>(bank.bands + 2);
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bank.bands + 2; ++i) {
    const double hertz = ToHertz(static_cast<double>(i) * step + low);
    edges.push_back(static_cast<int64_t>(std::floor(
        static_cast<double>(bank.dft_length + 1) * hertz / static_cast<double>(bank.sample_rate))));
  }
  return edges;
}

// [bins, bands]: a triangle per band, rising to its centre and falling after it.
Result<std::vector<double>> Triangles(const MelBank& bank) {
  const std::vector<int64_t> edges = BandEdges(bank);
  std::vector<double> weights(static_cast<size_t>(bank.bins() * bank.bands), 0);
  for (int64_t band = 0; band < bank.bands; ++band) {
    const int64_t low = edges[static_cast<size_t>(band)];
    const int64_t centre = edges[static_cast<size_t>(band + 1)];
    const int64_t high = edges[static_cast<size_t>(band + 2)];
    if (low < 0 || low > centre || centre > high || high > bank.bins()) {
      return Error(Code::kBadModel, "band ", band, " reaches beyond the ", bank.bins(), " bins");
    }
    const auto set = [&](int64_t bin, double v) {
      if (bin < bank.bins()) weights[static_cast<size_t>(bin * bank.bands + band)] = v;
    };
    if (low == centre) set(centre, 1);
    for (int64_t bin = low; low < centre && bin <= centre; ++bin) {
      set(bin, static_cast<double>(bin - low) / static_cast<double>(centre - low));
    }
    for (int64_t bin = centre; bin < high; ++bin) {
      set(bin, static_cast<double>(high - bin) / static_cast<double>(high - centre));
    }
  }
  return weights;
}

}  // namespace

Status ExpandHannWindow(Composer& c) { return CosineWindow(c, {0.5, 0.5}); }
Status ExpandHammingWindow(Composer& c) { return CosineWindow(c, {25.0 / 46, 21.0 / 46}); }
Status ExpandBlackmanWindow(Composer& c) { return CosineWindow(c, {0.42, 0.5, 0.08}); }

Status ExpandMelWeightMatrix(Composer& c) {
  MelBank bank{};
  AICF_ASSIGN_OR_RETURN(bank.bands, ConstantInt(c, 0, "num_mel_bins"));
  AICF_ASSIGN_OR_RETURN(bank.dft_length, ConstantInt(c, 1, "dft_length"));
  AICF_ASSIGN_OR_RETURN(bank.sample_rate, ConstantInt(c, 2, "sample_rate"));
  AICF_ASSIGN_OR_RETURN(bank.lower, ConstantNumber(c, 3, "lower_edge_hertz"));
  AICF_ASSIGN_OR_RETURN(bank.upper, ConstantNumber(c, 4, "upper_edge_hertz"));
  AICF_ASSIGN_OR_RETURN(const DType dtype, OutputType(c));
  const bool sensible = bank.bands >= 1 && bank.dft_length >= 1 && bank.sample_rate >= 1 &&
                        bank.bands <= kMaxTableElements && bank.dft_length <= kMaxTableElements &&
                        bank.lower >= 0 && bank.upper >= bank.lower && bank.upper <= 1e12;
  if (!sensible || bank.bins() * bank.bands > kMaxTableElements) {
    return Error(Code::kBadModel, bank.bands, " bands of a DFT of ", bank.dft_length,
                 " at sample rate ", bank.sample_rate, " from ", bank.lower, " to ", bank.upper);
  }
  AICF_ASSIGN_OR_RETURN(const std::vector<double> weights, Triangles(bank));
  c.Output(0, Floats(c, weights, {bank.bins(), bank.bands}, dtype));
  return c.status();
}

}  // namespace aicf
