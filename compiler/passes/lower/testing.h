/// Test support: a graph given as text is inferred, lowered, checked, sent through its text form
/// and interpreted; results come back as doubles beside a plainly written reference.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/float16.h"
#include "base/float8.h"
#include "compiler/ir/infer/infer.h"
#include "compiler/ir/text.h"
#include "compiler/passes/lower/lower.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf::testing {

/// A dense row-major array of doubles.
struct Array {
  Dims shape;
  std::vector<double> data;

  explicit Array(Dims s = {}) : shape(s), data(static_cast<size_t>(*ElementCount(s))) {}
  size_t Flat(const Dims& at) const {
    size_t flat = 0;
    for (int i = 0; i < shape.rank(); ++i)
      flat = flat * static_cast<size_t>(shape[i]) + static_cast<size_t>(at[i]);
    return flat;
  }
  double& operator[](const Dims& at) { return data[Flat(at)]; }
  double operator[](const Dims& at) const { return data[Flat(at)]; }
  /// With NumPy broadcasting: `at` may have more axes, and axes of extent 1 repeat.
  double Broadcast(const Dims& at) const {
    Dims own = shape;
    for (int i = 0; i < shape.rank(); ++i) {
      own[i] = shape[i] == 1 ? 0 : at[at.rank() - shape.rank() + i];
    }
    return data[Flat(own)];
  }
};

/// Calls f for every index of the shape, in row-major order.
inline void ForEach(const Dims& shape, const std::function<void(const Dims&)>& f) {
  if (*ElementCount(shape) == 0) return;
  Dims at = Dims::Filled(shape.rank(), 0);
  for (;;) {
    f(at);
    int i = shape.rank() - 1;
    while (i >= 0 && ++at[i] == shape[i]) at[i--] = 0;
    if (i < 0) return;
  }
}

/// result[i] = f(i).
inline Array Generate(const Dims& shape, const std::function<double(const Dims&)>& f) {
  Array out(shape);
  ForEach(shape, [&](const Dims& at) { out[at] = f(at); });
  return out;
}

inline Array ToArray(const ir::Tensor& t) {
  Array out(t.shape());
  for (int64_t i = 0; i < t.count(); ++i) {
    out.data[static_cast<size_t>(i)] =
        IsFloat(t.dtype()) ? t.FloatAt(i) : static_cast<double>(t.IntAt(i));
  }
  return out;
}

/// Rounds to the dtype.
inline ir::Tensor ToTensor(const Array& a, DType dtype) {
  std::vector<std::byte> bytes;
  auto put = [&](auto v) {
    const auto raw = std::bit_cast<std::array<std::byte, sizeof v>>(v);
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  };
  for (double v : a.data) {
    if (dtype == DType::kF16) {
      put(F32ToF16(static_cast<float>(v)));
    } else if (dtype == DType::kBF16) {
      put(F32ToBF16(static_cast<float>(v)));
    } else if (IsFloat(dtype) && IsStorageOnly(dtype)) {
      put(F32ToFloat8(static_cast<float>(v), dtype));
    } else {
      VisitStorage(dtype, [&](auto tag) { put(static_cast<decltype(tag)>(v)); });
    }
  }
  return ir::Tensor::Own(dtype, a.shape, std::move(bytes));
}

/// Values in [low, high), or integers of that range.
inline ir::Tensor Random(DType dtype, const Dims& shape, uint32_t seed, double low = -2,
                         double high = 2) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  Array a(shape);
  for (double& v : a.data) v = IsFloat(dtype) ? uniform(rng) : std::floor(uniform(rng));
  return ToTensor(a, dtype);
}

/// A whole number from low to high, both included.
inline int64_t Pick(std::mt19937& rng, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(rng() % static_cast<uint64_t>(high - low + 1));
}

/// `least` to `most` axes of 1 to `largest` elements.
inline Dims RandomShape(std::mt19937& rng, int least, int most, int64_t largest) {
  Dims shape;
  for (int64_t k = Pick(rng, least, most); k > 0; --k) shape.push_back(Pick(rng, 1, largest));
  return shape;
}

inline ir::Tensor Ints(const std::vector<int64_t>& values) {
  return ir::Tensor::FromValues<int64_t>(DType::kI64, {static_cast<int64_t>(values.size())},
                                         values);
}

/// A shape in the text form: "[2x3]", and "[]" for a scalar.
inline std::string ShapeText(const Dims& shape) {
  return StrCat("[", shape.empty() ? "" : ToString(shape), "]");
}

/// Attributes of a node in the text form; nothing when there are none.
inline std::string Braced(std::string_view attrs) {
  return attrs.empty() ? "" : StrCat("{", attrs, "}");
}

struct RunOptions {
  std::map<std::string, ir::Tensor> constants;  ///< graph inputs to be known when lowering
  std::string device = "cpu:baseline";
  abi::MathMode math = abi::MathMode::kFp32;
};

struct RunResult {
  std::vector<Array> outputs;
  std::vector<ir::Tensor> tensors;
  ir::Graph graph;
  ir::Lowered lowered;
  DecisionLog decisions;
};

/// REQUIRES inputs by name for every graph input that is not bound as a constant.
inline Result<RunResult> RunGraph(const std::string& text,
                                  const std::map<std::string, ir::Tensor>& inputs,
                                  const RunOptions& options = {}) {
  RunResult out;
  AICF_ASSIGN_OR_RETURN(out.graph, ir::ParseGraph(text));
  std::vector<ir::ValueId> kept;
  for (ir::ValueId id : out.graph.inputs) {
    ir::Value& v = out.graph.values[id];
    const auto constant = options.constants.find(v.name);
    if (constant == options.constants.end()) {
      kept.push_back(id);
    } else {
      v.constant = constant->second;
    }
  }
  out.graph.inputs = kept;
  for (size_t n = 0; n < out.graph.nodes.size(); ++n) {
    AICF_RETURN_IF_ERROR(ir::InferNode(out.graph, out.graph.nodes[n]));
  }
  PassContext context;
  AICF_ASSIGN_OR_RETURN(context.device, abi::FindDevice(options.device));
  context.math = options.math;
  context.decisions = &out.decisions;
  AICF_ASSIGN_OR_RETURN(out.lowered, LowerGraph(out.graph, context));
  // What makes the program the device's.
  AICF_RETURN_IF_ERROR(ChooseMath(out.lowered, context));
  AICF_RETURN_IF_ERROR(FoldTaps(out.lowered, context));
  AICF_RETURN_IF_ERROR(StoreWeights(out.lowered, context));
  AICF_RETURN_IF_ERROR(Verify(out.lowered));
  std::vector<ir::Tensor> feeds;
  for (ir::BufferId b : out.lowered.inputs) feeds.push_back(inputs.at(out.lowered.buffers[b].name));
  AICF_ASSIGN_OR_RETURN(out.tensors, Interpret(out.lowered, feeds));
  for (const ir::Tensor& t : out.tensors) out.outputs.push_back(ToArray(t));
  return out;
}

/// The text form must survive parsing, constants resolved by hash.
inline void ExpectRoundTrip(const ir::Lowered& lowered) {
  const std::string text = ToString(lowered);
  std::map<std::string, ir::Tensor, std::less<>> known;
  for (const ir::LoweredBuffer& b : lowered.buffers) {
    if (b.constant.has_data()) known.emplace(ToHex(HashBytes(b.constant.bytes())), b.constant);
  }
  auto parsed = ir::ParseLowered(text, [&](DType, const Dims&, std::string_view hash) {
    const auto it = known.find(hash);
    return it == known.end() ? ir::Tensor() : it->second;
  });
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString() << "\n" << text;
  EXPECT_EQ(ToString(*parsed), text);
}

/// |got - want| <= atol + rtol * |want| everywhere; NaN equals NaN.
inline void ExpectClose(const Array& got, const Array& want, double rtol, double atol,
                        const std::string& what = "") {
  ASSERT_EQ(ToString(got.shape), ToString(want.shape)) << what;
  for (size_t i = 0; i < want.data.size(); ++i) {
    const double g = got.data[i], w = want.data[i];
    if ((std::isnan(g) && std::isnan(w)) || g == w) continue;
    ASSERT_LE(std::abs(g - w), atol + rtol * std::abs(w))
        << what << " element " << i << ": got " << g << ", expected " << w;
  }
}

/// Runs a graph with one output and compares; also checks the text form.
inline void ExpectGraph(const std::string& text, const std::map<std::string, ir::Tensor>& inputs,
                        const Array& want, double rtol, double atol,
                        const RunOptions& options = {}) {
  const Result<RunResult> run = RunGraph(text, inputs, options);
  ASSERT_TRUE(run.ok()) << run.status().ToString() << "\n" << text;
  ExpectRoundTrip(run->lowered);
  ExpectClose(run->outputs[0], want, rtol, atol, text);
}

inline int CountSteps(const ir::Lowered& lowered, abi::Family family) {
  int count = 0;
  for (const ir::LoweredStep& s : lowered.steps) count += s.problem.family == family ? 1 : 0;
  return count;
}

}  // namespace aicf::testing
