#include <utility>

#include "aicf/aicf.h"
#include "runtime/guard.h"
#include "schema/artifact.h"

namespace aicf {
namespace {

std::vector<TensorInfo> Describe(const schema::Program& program,
                                 const std::vector<uint32_t>& buffers) {
  std::vector<TensorInfo> tensors;
  tensors.reserve(buffers.size());
  for (uint32_t index : buffers) {
    const schema::Buffer& buffer = program.buffers[index];
    tensors.push_back({buffer.name, buffer.dtype, buffer.shape, buffer.bytes});
  }
  return tensors;
}

/// The model's outputs; counts of extents are the session's business.
std::vector<TensorInfo> DescribeOutputs(const schema::Program& program,
                                        const schema::EntryPoint& entry) {
  std::vector<TensorInfo> tensors = Describe(program, entry.outputs);
  tensors.resize(entry.model_outputs());
  for (const schema::OutputExtent& e : entry.extents) {
    tensors[e.output].dynamic_axis = static_cast<int>(e.axis);
  }
  return tensors;
}

}  // namespace

struct Program::Impl {
  std::shared_ptr<const schema::Artifact> artifact;
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
};

Program::Program(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Program::~Program() = default;

Result<std::shared_ptr<const Program>> Program::Adopt(
    Result<std::shared_ptr<const schema::Artifact>> artifact) {
  if (!artifact.ok()) return artifact.status();
  const schema::Program& program = (*artifact)->program();
  if (program.entry_points.empty()) {
    return Error(Code::kBadArtifact, "the program has no entry point");
  }
  auto impl = std::make_unique<Impl>();
  impl->inputs = Describe(program, program.entry_points.front().inputs);
  impl->outputs = DescribeOutputs(program, program.entry_points.front());
  impl->artifact = *std::move(artifact);
  return std::shared_ptr<const Program>(new Program(std::move(impl)));
}

Result<std::shared_ptr<const Program>> Program::Load(const std::string& path) {
  return Guarded([&] { return Adopt(schema::Artifact::Load(path, /*with_optional=*/false)); });
}

Result<std::shared_ptr<const Program>> Program::FromBytes(std::span<const std::byte> bytes) {
  return Guarded([&] { return Adopt(schema::Artifact::Parse(bytes, /*with_optional=*/false)); });
}

const std::string& Program::target() const { return impl_->artifact->program().target; }
const std::vector<TensorInfo>& Program::inputs() const { return impl_->inputs; }
const std::vector<TensorInfo>& Program::outputs() const { return impl_->outputs; }
size_t Program::step_count() const {
  return impl_->artifact->program().entry_points.front().step_count;
}
std::string_view Program::metadata(std::string_view key) const {
  for (const auto& [name, value] : impl_->artifact->program().metadata) {
    if (name == key) return value;
  }
  return {};
}
uint64_t Program::arena_bytes() const { return impl_->artifact->program().arena_bytes; }
uint64_t Program::weights_bytes() const { return impl_->artifact->program().weights_bytes; }
const schema::Artifact& Program::artifact() const { return *impl_->artifact; }

}  // namespace aicf
