#include "compiler/tune/bench_program.h"

#include "compiler/plan/contents.h"
#include "compiler/plan/images.h"
#include "compiler/plan/memory.h"
#include "compiler/plan/weights.h"
#include "compiler/tune/bench_data.h"
#include "kernels/abi/packing.h"

namespace aicf::tune {
namespace {

class BenchBuilder {
 public:
  BenchBuilder(const abi::Problem& problem, const abi::DeviceSpec& device)
      : problem_(problem), device_(device) {
    program_.target = device.name;
    program_.math = problem.math;
  }

  Result<schema::Contents> Build(std::span<const BenchKernel> kernels) {
    schema::EntryPoint main;
    main.name = "main";
    for (size_t i = 0; i < problem_.inputs.size(); ++i) {
      main.inputs.push_back(AddBuffer(problem_.inputs[i], schema::Role::kInput));
    }
    for (const BenchKernel& k : kernels) AddStep(k, main.inputs);
    main.step_count = static_cast<uint32_t>(program_.steps.size());
    program_.entry_points.push_back(std::move(main));
    DecisionLog unread;
    PassContext context;
    context.device = device_;
    context.decisions = &unread;
    AICF_RETURN_IF_ERROR(PlanMemory(program_, context));
    return TakeContents(std::move(program_), weights_, std::move(images_));
  }

 private:
  uint32_t Add(DType dtype, int64_t elements, schema::Role role) {
    schema::Buffer buffer;
    buffer.name = StrCat("b", program_.buffers.size());
    buffer.dtype = dtype;
    buffer.shape = Dims{elements};
    buffer.bytes = static_cast<uint64_t>(elements * DTypeBytes(dtype));
    buffer.role = role;
    program_.buffers.push_back(std::move(buffer));
    return static_cast<uint32_t>(program_.buffers.size() - 1);
  }

  uint32_t AddBuffer(const abi::View& view, schema::Role role) {
    const auto bytes = static_cast<int64_t>(BufferBytes(view));
    return Add(view.dtype, bytes / DTypeBytes(view.dtype), role);
  }

  void AddStep(const BenchKernel& k, const std::vector<uint32_t>& inputs) {
    const abi::KernelInfo& kernel = *k.option->kernel;
    const abi::Variant& variant = k.option->candidate.variant;
    schema::Step step;
    step.sources = {std::string(kernel.key)};
    step.kernel = kernel.key;
    step.problem = problem_;
    step.inputs = inputs;
    for (const abi::View& out : problem_.outputs) {
      step.outputs.push_back(AddBuffer(out, schema::Role::kTemp));
    }
    schema::SetVariant(step, variant);
    if (k.algorithm != nullptr) SetAlgorithm(step, *k.algorithm);
    PackInputs(kernel, step);
    if (kernel.backend == abi::Backend::kCuda) {
      step.symbol = abi::InstanceSymbol(kernel.key, problem_, variant);
    }
    if (k.image != nullptr) step.image = AppendImage(*k.image, program_, images_);
    program_.steps.push_back(std::move(step));
  }

  void PackInputs(const abi::KernelInfo& kernel, schema::Step& step) {
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      const auto layout = abi::LayoutOf(kernel, problem_, step.parameters, i);
      if (!layout) continue;
      const std::vector<std::byte> constant = BenchData(problem_, static_cast<int>(i));
      const std::vector<std::byte> packed =
          abi::PackedInput(kernel, problem_, step.parameters, i, constant.data());
      const auto bytes = static_cast<int64_t>(layout->bytes);
      step.inputs[i] = Add(DType::kU8, bytes, schema::Role::kConstant);
      schema::Buffer& buffer = program_.buffers.back();
      buffer.storage = schema::Storage::kWeights;
      buffer.origin = {std::string(layout->name), HashBytes(constant)};
      buffer.offset = weights_.Add(packed);
      step.packed_inputs |= 1u << i;
    }
  }

  const abi::Problem& problem_;
  const abi::DeviceSpec& device_;
  schema::Program program_;
  WeightsBuilder weights_;
  std::vector<std::byte> images_;
};

}  // namespace

Result<schema::Contents> MakeBenchProgram(const abi::Problem& problem,
                                          std::span<const BenchKernel> kernels,
                                          const abi::DeviceSpec& device) {
  return BenchBuilder(problem, device).Build(kernels);
}

}  // namespace aicf::tune
