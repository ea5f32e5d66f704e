#include "tests/artifacts/samples.h"

#include <algorithm>
#include <filesystem>

#include "tools/common/compare.h"

namespace aicf::artifacts {
namespace {

namespace fs = std::filesystem;

Result<std::vector<std::byte>> OutputOf(Session& session, const schema::GoldenTensor& expected) {
  AICF_ASSIGN_OR_RETURN(const Dims shape, session.OutputShape(expected.name));
  if (shape != expected.shape) {
    return Error(Code::kCheckFailed, "output '", expected.name, "': shape ", ToString(shape),
                 ", expected ", ToString(expected.shape));
  }
  std::vector<std::byte> bytes(expected.data.size());
  AICF_RETURN_IF_ERROR(session.GetOutput(
      expected.name, {expected.dtype, expected.shape, bytes.data(), bytes.size()}));
  return bytes;
}

Status Compare(const schema::GoldenSample& sample, const schema::GoldenTensor& expected,
               const std::vector<std::byte>& got) {
  const tools::Tolerance tolerance{sample.atol, sample.rtol, sample.rel};
  const tools::Comparison found =
      tools::Compare({expected.dtype, got}, {expected.dtype, expected.data}, tolerance);
  if (found.pass) return OkStatus();
  return Error(Code::kCheckFailed, "output '", expected.name, "' is outside ", tolerance.ToString(),
               ": largest error ", found.max_abs_error, ", got ", found.got, ", expected ",
               found.expected);
}

Status SetTensor(Session& session, const EntryInfo& entry, const schema::GoldenTensor& t) {
  const bool meta =
      std::ranges::any_of(entry.metas, [&](const auto& m) { return m.name == t.name; });
  const ConstTensor view = {t.dtype, t.shape, t.data.data(), t.data.size()};
  return meta ? session.SetMeta(t.name, view) : session.SetInput(t.name, view);
}

Status RunSample(const std::shared_ptr<const Program>& program, const schema::GoldenSample& sample,
                 const SessionOptions& options, Outputs& outputs) {
  AICF_ASSIGN_OR_RETURN(const auto session, Session::Create(program, options));
  const EntryInfo& entry = program->entries()[sample.entry];
  AICF_RETURN_IF_ERROR(session->SelectEntry(entry.name));
  for (const schema::GoldenTensor& t : sample.inputs) {
    AICF_RETURN_IF_ERROR(SetTensor(*session, entry, t));
  }
  AICF_RETURN_IF_ERROR(session->Run());
  for (const schema::GoldenTensor& t : sample.outputs) {
    AICF_ASSIGN_OR_RETURN(std::vector<std::byte> got, OutputOf(*session, t));
    AICF_RETURN_IF_ERROR(Compare(sample, t, got));
    outputs.push_back(std::move(got));
  }
  return OkStatus();
}

}  // namespace

std::vector<std::string> CommittedArtifacts() {
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(AICF_SOURCE_DIR "/tests/artifacts")) {
    if (entry.path().extension() == ".aicf") paths.push_back(entry.path().string());
  }
  std::ranges::sort(paths);
  return paths;
}

std::vector<std::string> CommittedArtifacts(const std::string& backend) {
  std::vector<std::string> paths = CommittedArtifacts();
  std::erase_if(paths,
                [&](const std::string& path) { return !path.ends_with("." + backend + ".aicf"); });
  return paths;
}

std::string NameOf(const std::string& path) { return fs::path(path).stem().string(); }

std::vector<abi::Family> CommittedFamilies() {
  int last = -1;
  for (const std::string& path : CommittedArtifacts()) {
    const auto artifact = schema::Artifact::Load(path, false);
    if (!artifact.ok()) continue;  // the tests of loading say so
    for (const schema::Step& step : (*artifact)->program().steps) {
      last = std::max(last, static_cast<int>(step.problem.family));
    }
  }
  std::vector<abi::Family> families;
  for (int f = 0; f <= last; ++f) families.push_back(static_cast<abi::Family>(f));
  return families;
}

bool HasSteps(abi::Family family, const std::string& backend) {
  return backend != "cpu" || family != abi::Family::kExcite;
}

Result<Committed> Load(const std::string& path) {
  Committed out;
  AICF_ASSIGN_OR_RETURN(out.artifact, schema::Artifact::Load(path, true));
  AICF_ASSIGN_OR_RETURN(out.program, Program::Load(path));
  AICF_ASSIGN_OR_RETURN(out.golden,
                        schema::ParseGolden(out.artifact->bytes(schema::SectionKind::kGolden)));
  AICF_RETURN_IF_ERROR(schema::CheckGolden(out.golden, out.artifact->program()));
  if (out.golden.samples.empty()) return Error(Code::kBadArtifact, path, ": no samples");
  return out;
}

Result<Outputs> RunSamples(const std::shared_ptr<const Program>& program,
                           const schema::Golden& golden, const SessionOptions& options) {
  Outputs outputs;
  for (size_t i = 0; i < golden.samples.size(); ++i) {
    const Status status = RunSample(program, golden.samples[i], options, outputs);
    if (!status.ok()) return status.WithContext(StrCat("sample ", i + 1));
  }
  return outputs;
}

Result<Outputs> RunSamplesOnCpu(const std::shared_ptr<const Program>& program,
                                const schema::Golden& golden) {
  SessionOptions options;
  options.device = "cpu";
  options.threads = 1;
  return RunSamples(program, golden, options);
}

}  // namespace aicf::artifacts
