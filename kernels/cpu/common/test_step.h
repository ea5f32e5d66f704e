/// Random problems and their buffers: what the tests of every family are written with.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "kernels/abi/kernel.h"
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/functions.h"

namespace aicf::cpu {

using Random = std::mt19937;

inline int64_t Pick(Random& random, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
}
inline bool Chance(Random& random, int percent) { return Pick(random, 0, 99) < percent; }

inline Dims RandomShape(Random& random, int rank, int64_t largest, bool allow_zero = true) {
  Dims shape;
  for (int i = 0; i < rank; ++i) {
    shape.push_back(allow_zero && Chance(random, 2) ? 0 : Pick(random, 1, largest));
  }
  return shape;
}

/// A view with its axes in random memory order, gaps, negative strides and an offset; with
/// `broadcast`, some axes have stride 0. Half of the views are dense.
inline abi::View RandomView(Random& random, DType dtype, const Dims& shape, bool broadcast) {
  if (Chance(random, 50)) return abi::DenseView(dtype, shape);
  abi::View view{dtype, shape, Dims::Filled(shape.rank(), 0), Pick(random, 0, 5)};
  std::vector<int> order(static_cast<size_t>(shape.rank()));
  std::iota(order.begin(), order.end(), 0);
  if (Chance(random, 60)) std::shuffle(order.begin(), order.end(), random);
  int64_t stride = Chance(random, 70) ? 1 : Pick(random, 2, 3);
  for (size_t i = order.size(); i-- > 0;) {
    const int axis = order[i];
    if (broadcast && Chance(random, 25)) continue;
    const bool backwards = Chance(random, 15);
    view.strides[axis] = backwards ? -stride : stride;
    const int64_t reach = stride * std::max<int64_t>(shape[axis] - 1, 0);
    if (backwards) view.offset += reach;
    stride = std::max(stride + reach, int64_t{1}) + (Chance(random, 25) ? Pick(random, 1, 3) : 0);
  }
  return view;
}

/// The bytes of one operand, a little longer than its view, so that stray writes show.
struct TestBuffer {
  abi::View view;
  std::vector<unsigned char> bytes;

  TestBuffer() = default;
  explicit TestBuffer(const abi::View& v) : view(v) {
    const Result<abi::Extent> extent = abi::ExtentOf(v);
    EXPECT_TRUE(extent.ok()) << extent.status().ToString();
    bytes.assign(static_cast<size_t>((extent.ok() ? extent->end : 0) + 64), 0);
  }
  int64_t elements() const { return static_cast<int64_t>(bytes.size()) / DTypeBytes(view.dtype); }
  double At(int64_t i) const {
    return ScalarToDouble(LoadScalar(bytes.data() + i * DTypeBytes(view.dtype), view.dtype),
                          abi::ComputeDType(view.dtype));
  }
  void Set(int64_t i, double value) {
    StoreScalar(bytes.data() + i * DTypeBytes(view.dtype), view.dtype,
                ScalarFromDouble(value, abi::ComputeDType(view.dtype)));
  }
  /// Value of the view at coords.
  double At(const int64_t* coords) const {
    int64_t index = view.offset;
    for (int axis = 0; axis < view.shape.rank(); ++axis) index += coords[axis] * view.strides[axis];
    return At(index);
  }
  /// Small values, exact in every dtype; floats get sixteenths.
  void Fill(Random& random) {
    for (int64_t i = 0; i < elements(); ++i) {
      const double low = KindOf(view.dtype) == DTypeKind::kUnsigned ? 0 : -64;
      const double whole = static_cast<double>(Pick(random, static_cast<int64_t>(low), 64));
      if (view.dtype == DType::kBool) {
        Set(i, Chance(random, 50));
      } else {
        Set(i, IsFloat(view.dtype) ? whole / 16 : whole);
      }
    }
  }
};

/// What a store of `value` leaves in memory: f8e8m0, for one, has no zero.
inline double Stored(double value, DType dtype) {
  TestBuffer buffer(abi::DenseView(dtype, {1}));
  buffer.Set(0, value);
  return buffer.At(int64_t{0});
}

/// A problem with its buffers, inputs first.
struct TestStep {
  abi::Problem problem;
  std::vector<TestBuffer> buffers;

  /// Makes the buffers, inputs filled. Expects a valid problem.
  void Prepare(Random& random) {
    const Status valid = abi::ValidateProblem(problem);
    ASSERT_TRUE(valid.ok()) << valid.ToString() << "\n" << abi::ToString(problem);
    buffers.clear();
    for (const abi::View& v : problem.inputs) buffers.emplace_back(v).Fill(random);
    for (const abi::View& v : problem.outputs) {
      std::vector<unsigned char>& bytes = buffers.emplace_back(v).bytes;
      std::fill(bytes.begin(), bytes.end(), 0x3d);
    }
  }
  TestBuffer& input(size_t k) { return buffers[k]; }
  TestBuffer& output(size_t k) { return buffers[problem.inputs.size() + k]; }
};

/// A parallel_for that runs pieces backwards: a result that depends on their order or on the number
/// of threads then differs.
inline void BackwardFor(void*, int64_t count, void (*fn)(void* context, int64_t i), void* context) {
  for (int64_t i = count; i-- > 0;) fn(context, i);
}

inline abi::DeviceSpec HostDevice() {
  abi::DeviceSpec device = *abi::FindDevice("cpu");
  device.threads = 3;
  return device;
}

/// Runs a variant on a copy of the buffers, in pieces and backwards, and gives the outputs.
inline std::vector<TestBuffer> RunVariant(const abi::KernelInfo& info, const TestStep& step) {
  TestStep copy = step;
  std::vector<void*> addresses;
  for (TestBuffer& b : copy.buffers) addresses.push_back(b.bytes.data());
  std::vector<abi::TensorArg> tensors(addresses.size());
  FillTensors(step.problem, addresses.data(), tensors.data());
  abi::ArgBlock args;
  args.input_count = static_cast<uint32_t>(step.problem.inputs.size());
  args.output_count = static_cast<uint32_t>(step.problem.outputs.size());
  args.tensors = tensors.data();
  args.problem = &step.problem;
  args.workspace_bytes = info.workspace_bytes(step.problem, HostDevice());
  std::vector<unsigned char> workspace(args.workspace_bytes + 128, 0xaa);
  const auto raw = reinterpret_cast<uintptr_t>(workspace.data());
  args.workspace = reinterpret_cast<void*>((raw + 63) / 64 * 64);
  args.parallel_for = &BackwardFor;
  args.threads = HostDevice().threads;
  FindFunction(info.key)(args);
  return {copy.buffers.begin() + static_cast<int64_t>(step.problem.inputs.size()),
          copy.buffers.end()};
}

/// The variants of a family that this machine can run, the reference last.
inline std::vector<abi::KernelInfo> CpuVariants(abi::Family family) {
  std::vector<abi::KernelInfo> variants;
  for (const abi::KernelInfo& info : abi::KernelsOf(family)) {
    if (info.backend == abi::Backend::kCpu) variants.push_back(info);
  }
  return variants;
}

/// Expects every element of the buffers, inside the view or not, to be within
/// atol + rtol * |expected|; NaN equals NaN. Integers must be equal.
inline ::testing::AssertionResult NearBuffers(const std::vector<TestBuffer>& expected,
                                              const std::vector<TestBuffer>& got, double rtol,
                                              double atol) {
  for (size_t b = 0; b < expected.size(); ++b) {
    const bool exact = !IsFloat(expected[b].view.dtype) || (rtol == 0 && atol == 0);
    for (int64_t i = 0; i < expected[b].elements(); ++i) {
      const double e = expected[b].At(i);
      const double g = got[b].At(i);
      if (e == g || (std::isnan(e) && std::isnan(g))) continue;
      if (!exact && std::fabs(e - g) <= atol + rtol * std::fabs(e)) continue;
      return ::testing::AssertionFailure()
             << "output " << b << " element " << i << ": expected " << e << ", got " << g;
    }
  }
  return ::testing::AssertionSuccess();
}

/// Runs every variant that accepts the step and compares it with the reference variant. Gives the
/// number of fast variants that ran; at least the reference itself must match `expected` when
/// given.
inline int CompareVariants(const TestStep& step, double rtol, double atol) {
  const std::vector<abi::KernelInfo> variants = CpuVariants(step.problem.family);
  const std::vector<TestBuffer> expected = RunVariant(variants.back(), step);
  EXPECT_EQ(variants.back().supports(step.problem, HostDevice()), "");
  int ran = 0;
  for (const abi::KernelInfo& info : variants) {
    if (info.key == variants.back().key) continue;
    if (!info.supports(step.problem, HostDevice()).empty()) continue;
    ++ran;
    EXPECT_TRUE(NearBuffers(expected, RunVariant(info, step), rtol, atol))
        << info.key << "\n"
        << abi::ToString(step.problem);
  }
  return ran;
}

/// Whether a run in place (input's bytes are the first output's) equals the run apart.
inline ::testing::AssertionResult SameInPlace(const abi::KernelInfo& info, const TestStep& step,
                                              int input) {
  const std::vector<TestBuffer> apart = RunVariant(info, step);
  TestStep joined = step;
  const size_t in = static_cast<size_t>(input);
  // The output takes the input's bytes. The bytes between the view's elements are then others than
  // in the run with separate buffers, so only the view's elements are compared.
  std::vector<void*> addresses;
  for (TestBuffer& b : joined.buffers) addresses.push_back(b.bytes.data());
  addresses[step.problem.inputs.size()] = addresses[in];
  std::vector<abi::TensorArg> tensors(addresses.size());
  FillTensors(step.problem, addresses.data(), tensors.data());
  abi::ArgBlock args;
  args.input_count = static_cast<uint32_t>(step.problem.inputs.size());
  args.output_count = static_cast<uint32_t>(step.problem.outputs.size());
  args.tensors = tensors.data();
  args.problem = &step.problem;
  args.workspace_bytes = info.workspace_bytes(step.problem, HostDevice());
  std::vector<unsigned char> workspace(args.workspace_bytes + 128);
  const auto raw = reinterpret_cast<uintptr_t>(workspace.data());
  args.workspace = reinterpret_cast<void*>((raw + 63) / 64 * 64);
  args.parallel_for = &BackwardFor;
  args.threads = HostDevice().threads;
  FindFunction(info.key)(args);
  TestBuffer& written = joined.buffers[in];
  written.view = step.problem.outputs[0];
  bool same = true;
  const auto compare = [&](const TestBuffer& expected, const TestBuffer& got) {
    ForEachIndex(got.view.shape, [&](const int64_t* coords) {
      const double e = expected.At(coords);
      const double g = got.At(coords);
      same = same && (e == g || (std::isnan(e) && std::isnan(g)));
    });
  };
  compare(apart[0], written);
  for (size_t r = 1; r < apart.size(); ++r) compare(apart[r], joined.output(r));
  if (same) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << info.key << " differs in place of input " << input;
}

}  // namespace aicf::cpu
