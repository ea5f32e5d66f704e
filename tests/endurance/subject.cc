#include "tests/endurance/subject.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <random>
#include <utility>

namespace aicf::endurance {
namespace {

/// Whether a meta can be drawn without regard to others.
bool IsFree(const std::string& meta) { return meta == "tokens"; }

std::vector<std::byte> Drawn(std::span<const std::byte> from, size_t element_bytes,
                             std::mt19937_64& random) {
  std::vector<std::byte> out(from.size());
  const size_t count = from.size() / element_bytes;
  for (size_t i = 0; i < count; ++i) {
    std::memcpy(&out[i * element_bytes], &from[random() % count * element_bytes], element_bytes);
  }
  return out;
}

}  // namespace

Result<Subject> Subject::Load(const std::string& path) {
  Subject s;
  s.path_ = path;
  s.name_ = std::filesystem::path(path).stem().string();
  AICF_ASSIGN_OR_RETURN(s.artifact_, schema::Artifact::Load(path, /*with_optional=*/true));
  AICF_ASSIGN_OR_RETURN(s.program_, Program::Load(path));
  AICF_ASSIGN_OR_RETURN(s.golden_,
                        schema::ParseGolden(s.artifact_->bytes(schema::SectionKind::kGolden)));
  AICF_RETURN_IF_ERROR(schema::CheckGolden(s.golden_, s.artifact_->program()));
  if (s.golden_.samples.empty()) return Error(Code::kBadArtifact, path, ": no samples");
  return s;
}

Script Subject::MakeScript(uint64_t seed) const {
  std::mt19937_64 random(seed);
  Script script;
  for (const schema::GoldenSample& sample : golden_.samples) {
    const EntryInfo& entry = program_->entries()[sample.entry];
    Request request{entry.name, {}};
    for (const schema::GoldenTensor& t : sample.inputs) {
      const bool meta =
          std::ranges::find(entry.metas, t.name, &TensorInfo::name) != entry.metas.end();
      Given given{meta, t.name, t.dtype, t.shape, {t.data.begin(), t.data.end()}};
      if (seed != 0 && !t.data.empty() && (!meta || IsFree(t.name))) {
        given.data = Drawn(t.data, static_cast<size_t>(DTypeBytes(t.dtype)), random);
      }
      request.given.push_back(std::move(given));
    }
    script.push_back(std::move(request));
  }
  return script;
}

Client::Client(std::shared_ptr<const Program> program) : program_(std::move(program)) {
  uint64_t bytes = 0;
  for (const EntryInfo& entry : program_->entries()) {
    for (const TensorInfo& t : entry.outputs) bytes = std::max(bytes, t.bytes);
  }
  buffer_.resize(bytes + kMaxRank * sizeof(int64_t));
}

Result<std::unique_ptr<Client>> Client::Create(const std::shared_ptr<const Program>& program,
                                               const SessionOptions& options) {
  std::unique_ptr<Client> client(new Client(program));
  AICF_ASSIGN_OR_RETURN(client->owned_, Session::Create(program, options));
  client->session_ = client->owned_.get();
  return client;
}

std::unique_ptr<Client> Client::Reader(Client& of) {
  std::unique_ptr<Client> client(new Client(of.program_));
  client->session_ = of.session_;
  client->bound_ = of.bound_;
  client->bound_name_ = of.bound_name_;
  return client;
}

Status Client::BecomeFork() {
  AICF_ASSIGN_OR_RETURN(owned_, session_->Fork());
  session_ = owned_.get();
  return OkStatus();
}

Status Client::Set(const Request& request) {
  AICF_RETURN_IF_ERROR(session_->SelectEntry(request.entry));
  for (const Given& g : request.given) {
    AICF_RETURN_IF_ERROR(g.meta ? session_->SetMeta(g.name, g.view())
                                : session_->SetInput(g.name, g.view()));
  }
  return OkStatus();
}

Status Client::Run() {
  AICF_RETURN_IF_ERROR(session_->Run());
  return session_->Wait();
}

Status Client::ReadOutput(const TensorInfo& output, Hash128* hash) {
  const bool directly = bound_ != nullptr && output.name == bound_name_;
  Dims shape = output.shape;
  if (!directly) {
    AICF_ASSIGN_OR_RETURN(shape, session_->OutputShape(output.name));
  }
  const auto bytes = static_cast<size_t>(*ElementCount(shape) * DTypeBytes(output.dtype));
  if (directly) {
    std::memcpy(buffer_.data(), bound_, bytes);
  } else {
    AICF_RETURN_IF_ERROR(
        session_->GetOutput(output.name, {output.dtype, shape, buffer_.data(), bytes}));
  }
  if (std::exchange(flip_, false)) buffer_[bytes / 2] ^= std::byte{1};
  *hash = HashOf(bytes, shape);
  return OkStatus();
}

Hash128 Client::HashOf(size_t bytes, const Dims& shape) {
  size_t length = bytes;
  for (const int64_t extent : shape) {
    std::memcpy(&buffer_[length], &extent, sizeof extent);
    length += sizeof extent;
  }
  return HashBytes({buffer_.data(), length});
}

Status Client::BindFirstOutput(void* data) {
  const TensorInfo& output = program_->entries()[session_->selected_entry()].outputs[0];
  AICF_RETURN_IF_ERROR(session_->BindOutput(output.name, data, output.bytes));
  bound_ = data;
  bound_name_ = output.name;
  return OkStatus();
}

Status Client::PeekAtFirstOutput() {
  bound_name_ = program_->entries()[session_->selected_entry()].outputs[0].name;
  AICF_ASSIGN_OR_RETURN(bound_, session_->OutputPointer(bound_name_));
  return OkStatus();
}

Status Client::Read(Answer* answer) {
  for (const TensorInfo& output : program_->entries()[session_->selected_entry()].outputs) {
    Hash128 hash;
    AICF_RETURN_IF_ERROR(ReadOutput(output, &hash));
    answer->push_back(hash);
  }
  return OkStatus();
}

Status Client::Ask(const Script& script, Answer* answer) {
  answer->clear();
  AICF_RETURN_IF_ERROR(session_->ResetStates());
  for (const Request& request : script) {
    AICF_RETURN_IF_ERROR(Set(request));
    AICF_RETURN_IF_ERROR(Run());
    AICF_RETURN_IF_ERROR(Read(answer));
  }
  return OkStatus();
}

}  // namespace aicf::endurance
