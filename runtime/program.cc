#include <utility>

#include "aicf/aicf.h"
#include "base/guard.h"
#include "runtime/entry_choice.h"
#include "schema/artifact.h"
#include "schema/keys.h"

namespace aicf {

struct Program::Impl {
  std::shared_ptr<const schema::Artifact> artifact;
  std::vector<EntryInfo> entries;
  std::vector<TensorInfo> states;
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
  impl->entries = DescribeEntries(program);
  impl->states = DescribeStates(program);
  impl->artifact = *std::move(artifact);
  return std::shared_ptr<const Program>(new Program(std::move(impl)));
}

namespace {

/// Calls `load` with the keys of which one must have signed the artifact, or with null where no
/// signature is required.
template <class Load>
Result<std::shared_ptr<const schema::Artifact>> WithKeys(const LoadOptions& options, Load load) {
  if (!options.require_signature) return load(nullptr);
  AICF_ASSIGN_OR_RETURN(const schema::TrustedKeys keys,
                        schema::ParsePublicKeys(*options.require_signature));
  return load(&keys);
}

}  // namespace

Result<std::shared_ptr<const Program>> Program::Load(const std::string& path,
                                                     const LoadOptions& options) {
  return Guarded([&] {
    return Adopt(WithKeys(options, [&](const schema::TrustedKeys* keys) {
      return schema::Artifact::Load(path, /*with_optional=*/false, keys);
    }));
  });
}

Result<std::shared_ptr<const Program>> Program::FromBytes(std::span<const std::byte> bytes,
                                                          const LoadOptions& options) {
  return Guarded([&] {
    return Adopt(WithKeys(options, [&](const schema::TrustedKeys* keys) {
      return schema::Artifact::Parse(bytes, /*with_optional=*/false, keys);
    }));
  });
}

const std::string& Program::target() const { return impl_->artifact->program().target; }
const std::vector<EntryInfo>& Program::entries() const { return impl_->entries; }
const std::vector<TensorInfo>& Program::inputs() const { return entries().front().inputs; }
const std::vector<TensorInfo>& Program::outputs() const { return entries().front().outputs; }
const std::vector<TensorInfo>& Program::states() const { return impl_->states; }
size_t Program::step_count() const { return entries().front().step_count; }
Result<EntryChoice> Program::Choose(std::span<const InputShape> shapes) const {
  return Guarded([&]() -> Result<EntryChoice> {
    EntryChoice choice;
    AICF_RETURN_IF_ERROR(ChooseEntry(impl_->artifact->program(), entries(), shapes, &choice));
    return choice;
  });
}
std::string_view Program::metadata(std::string_view key) const {
  for (const auto& [name, value] : impl_->artifact->program().metadata) {
    if (name == key) return value;
  }
  return {};
}
uint64_t Program::arena_bytes() const { return impl_->artifact->program().arena_bytes; }
uint64_t Program::weights_bytes() const { return impl_->artifact->program().weights_bytes; }
uint64_t Program::state_bytes() const { return impl_->artifact->program().state_bytes; }
const schema::Artifact& Program::artifact() const { return *impl_->artifact; }

}  // namespace aicf
