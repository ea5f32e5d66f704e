#include "tests/states/decoder_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace aicf::states {
namespace {

using Row = std::vector<double>;
using Rows = std::vector<Row>;

Row Times(const Row& x, const Decoder::Weight& w) {
  Row y(static_cast<size_t>(w.shape[1]), 0);
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t j = 0; j < y.size(); ++j) y[j] += x[i] * w.values[i * y.size() + j];
  }
  return y;
}

Row Normed(const Row& x, const Decoder::Weight& w) {
  double sum = 0;
  for (double v : x) sum += v * v;
  const double factor = 1 / std::sqrt(sum / static_cast<double>(x.size()) + Decoder::kEpsilon);
  Row y(x.size());
  for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] * factor * w.values[i];
  return y;
}

// Every head of the row: the halves (a, b) become (a cos - b sin, b cos + a sin).
void Rotate(Row& x, size_t position) {
  const Row frequencies = RotaryFrequencies();
  const size_t half = frequencies.size();
  for (size_t head = 0; head < x.size(); head += 2 * half) {
    for (size_t i = 0; i < half; ++i) {
      const double angle = static_cast<double>(position) * frequencies[i];
      const double a = x[head + i], b = x[head + half + i];
      x[head + i] = a * std::cos(angle) - b * std::sin(angle);
      x[head + half + i] = b * std::cos(angle) + a * std::sin(angle);
    }
  }
}

// One query head's result for the row of `q` at the end of `k` and `v`.
void AttendHead(const Row& q, const Rows& k, const Rows& v, size_t head, size_t count, Row& out) {
  constexpr size_t size = Decoder::kHead;
  const size_t group = head / (Decoder::kHeads / Decoder::kGroups);
  Row weights(count);
  double top = -std::numeric_limits<double>::infinity(), sum = 0;
  for (size_t j = 0; j < count; ++j) {
    double dot = 0;
    for (size_t d = 0; d < size; ++d) dot += q[head * size + d] * k[j][group * size + d];
    weights[j] = dot / std::sqrt(static_cast<double>(size));
    top = std::max(top, weights[j]);
  }
  for (double& w : weights) sum += w = std::exp(w - top);
  for (size_t j = 0; j < count; ++j) {
    for (size_t d = 0; d < size; ++d) {
      out[head * size + d] += weights[j] / sum * v[j][group * size + d];
    }
  }
}

void Add(Row& to, const Row& from) {
  for (size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

void ApplyLayer(const Decoder& decoder, const std::string& in, Rows& hidden) {
  const auto w = [&](const char* name) -> const Decoder::Weight& {
    return decoder.weights.at(in + name);
  };
  Rows k, v;
  for (size_t i = 0; i < hidden.size(); ++i) {
    Row &x = hidden[i], y = Normed(x, w("norm1")), q = Times(y, w("q"));
    k.push_back(Times(y, w("k")));
    v.push_back(Times(y, w("v")));
    Rotate(q, i);
    Rotate(k.back(), i);
    Row attended(static_cast<size_t>(Decoder::kHeads * Decoder::kHead), 0);
    for (size_t h = 0; h < Decoder::kHeads; ++h) AttendHead(q, k, v, h, i + 1, attended);
    Add(x, Times(attended, w("o")));
    y = Normed(x, w("norm2"));
    Row gate = Times(y, w("gate"));
    const Row up = Times(y, w("up"));
    for (size_t j = 0; j < gate.size(); ++j) gate[j] *= up[j] / (1 + std::exp(-gate[j]));
    Add(x, Times(gate, w("down")));
  }
}

}  // namespace

std::vector<double> LogitsAfter(const Decoder& decoder, std::span<const int64_t> tokens) {
  const Decoder::Weight& embed = decoder.weights.at("embed");
  Rows hidden;
  for (int64_t token : tokens) {
    const auto row = embed.values.begin() + token * Decoder::kHidden;
    hidden.emplace_back(row, row + Decoder::kHidden);
  }
  for (int64_t layer = 0; layer < Decoder::kLayers; ++layer) {
    ApplyLayer(decoder, std::to_string(layer) + ".", hidden);
  }
  return Times(Normed(hidden.back(), decoder.weights.at("norm")), decoder.weights.at("head"));
}

double LogitTolerance(size_t sequence) {
  const double layer = 2 * Decoder::kHidden + Decoder::kHead + static_cast<double>(sequence) +
                       Decoder::kHeads * Decoder::kHead + Decoder::kInner;
  return (Decoder::kLayers * layer + Decoder::kHidden) * std::ldexp(1.0, -24);
}

}  // namespace aicf::states
