/// What the GPU tests share: skipping them where there is no device, compiling small lowered
/// programs that a test builds, and computing the reference's results.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "aicf/aicf.h"
#include "compiler/costs/library_algorithms.h"
#include "compiler/ir/lowered.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/handles.h"
#include "schema/artifact.h"

namespace aicf::gpu {

/// Skips every test of a suite, with the reason, on a machine without a CUDA device or without
/// NVRTC.
class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override;
  cuda::Driver& driver() { return *driver_; }

 private:
  cuda::Driver* driver_ = nullptr;
};

/// Builds the programs under test.
class LoweredBuilder {
 public:
  ir::BufferId Input(const std::string& name, const Dims& shape);
  ir::BufferId Output(const std::string& name, const Dims& shape);
  ir::BufferId Temp(const Dims& shape);
  ir::BufferId Constant(const Dims& shape, unsigned seed);
  /// out = op(a, b), element by element; the operands are broadcast to out's shape.
  void Elementwise(abi::ExprOp op, ir::BufferId a, ir::BufferId b, ir::BufferId out);
  /// out = f(a).
  void Unary(abi::ExprOp op, ir::BufferId a, ir::BufferId out);
  void Sum(ir::BufferId a, int axis, ir::BufferId out);
  void Softmax(ir::BufferId a, int axis, ir::BufferId out);
  void Gemm(ir::BufferId a, ir::BufferId b, ir::BufferId out);
  ir::Lowered Finish();

 private:
  ir::BufferId Add(const std::string& name, const Dims& shape, schema::Role role);
  abi::View ViewOf(ir::BufferId buffer, const Dims& shape) const;
  void Emit(abi::Problem problem, std::vector<ir::BufferId> inputs, ir::BufferId output);
  ir::Lowered lowered_;
};

/// Several families, enough work to be timed: y[rows, cols] from x[rows, cols].
ir::Lowered MixedProgram(int64_t rows, int64_t cols);
/// One step: y = a * x + y0 with a device time of microseconds.
ir::Lowered TinyProgram(int64_t elements);

/// y = relu(x * w + b) as one step.
ir::Lowered DenseLayer(int64_t rows, int64_t depth, int64_t cols);
/// Stands in for a library: gives the same algorithm for every problem, and remembers the problems
/// for which it was asked.
class FixedAlgorithm final : public LibraryAlgorithms {
 public:
  explicit FixedAlgorithm(LibraryAlgorithm algorithm) : algorithm_(std::move(algorithm)) {}
  Result<LibraryAlgorithm> For(const abi::Problem& problem) override;
  const std::vector<std::string>& asked() const { return asked_; }

 private:
  LibraryAlgorithm algorithm_;
  std::vector<std::string> asked_;
};

/// Compiles for cuda:sm_90a through NVRTC. With `algorithms` every gemm has to use cuBLASLt, or
/// compiling fails.
Result<schema::Contents> CompileToContents(const ir::Lowered& lowered,
                                           LibraryAlgorithms* algorithms = nullptr);
Result<std::vector<std::byte>> CompileToBytes(const ir::Lowered& lowered);
Result<std::shared_ptr<const Program>> CompileLowered(const ir::Lowered& lowered);

std::vector<float> RandomValues(int64_t count, unsigned seed);
/// Sets input 0, runs, waits and reads output 0. Records test failures.
std::vector<float> RunOnce(Session& session, const Program& program, const std::vector<float>& x);
/// The results of the reference kernels, which run the same artifact on the CPU.
std::vector<float> Reference(const std::shared_ptr<const Program>& program,
                             const std::vector<float>& x);
/// Largest difference over the largest magnitude of `expected`.
double RelativeError(const std::vector<float>& actual, const std::vector<float>& expected);

}  // namespace aicf::gpu
