#include "tools/aicf-run/verify.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/box.h"
#include "schema/golden.h"
#include "tools/aicf-run/load.h"
#include "tools/aicf-run/tensors.h"
#include "tools/aicf-run/verify_report.h"
#include "tools/common/output.h"
#include "tools/common/process.h"
#include "tools/common/progress.h"
#include "tools/verify/verify_steps.h"

namespace aicf::tools {
namespace {

/// The inputs extended to the size of the entry point's buffers. The padding is zero, as in a new
/// session.
Result<std::vector<std::vector<std::byte>>> WholeInputs(const Program& program,
                                                        const Selection& selection) {
  std::vector<std::vector<std::byte>> whole;
  const EntryInfo& entry = program.entries()[selection.choice.entry];
  for (size_t i = 0; i < entry.inputs.size(); ++i) {
    const InputSource& from = selection.inputs[i];
    std::vector<std::byte>& to = whole.emplace_back(entry.inputs[i].bytes);
    AICF_RETURN_IF_ERROR(ForEachRun(from.info.shape, entry.inputs[i].shape,
                                    DTypeBytes(from.info.dtype),
                                    [&](uint64_t part, uint64_t at, uint64_t run) {
                                      std::memcpy(&to[at], &from.data[part], run);
                                      return OkStatus();
                                    }));
  }
  return whole;
}

/// What metas and states hold at the start, each with the number of its buffer.
std::vector<std::pair<uint32_t, std::vector<std::byte>>> StartOf(const Program& program,
                                                                 const Selection& selection) {
  const schema::Program& plan = program.artifact().program();
  std::vector<std::pair<uint32_t, std::vector<std::byte>>> start;
  const std::vector<uint32_t>& metas = plan.entry_points[selection.choice.entry].metas;
  for (size_t i = 0; i < metas.size(); ++i) start.emplace_back(metas[i], selection.metas[i].data);
  size_t state = 0;
  for (uint32_t b = 0; b < plan.buffers.size(); ++b) {
    if (schema::IsState(plan.buffers[b])) start.emplace_back(b, selection.states[state++].data);
  }
  return start;
}

Status VerifyEveryStep(const RunOptions& options) {
  AICF_ASSIGN_OR_RETURN(const auto program, LoadProgram(options.artifact, options.signature));
  AICF_ASSIGN_OR_RETURN(const auto stored,
                        LoadWithOptional(options.artifact, options.signature, *program));
  AICF_ASSIGN_OR_RETURN(Selection selection,
                        GatherInputs(*program, options.entry, options.load_inputs));
  // States are made up, because with zeros half of a recurrent step's arithmetic would have no
  // effect.
  AICF_RETURN_IF_ERROR(GatherStates(*program, options.load_states, /*make_up=*/true, &selection));
  AICF_ASSIGN_OR_RETURN(const auto inputs, WholeInputs(*program, selection));
  VerifyOptions verify;
  verify.tolerance = options.tolerance;
  verify.max_operations = options.session.max_operations;
  verify.start = StartOf(*program, selection);
  verify.progress = [](int done, int total) { ShowProgress("verifying", done, total); };
  const size_t entry = selection.choice.entry;
  auto report = VerifySteps(program, stored, entry, options.session, inputs, verify);
  ClearProgress();
  AICF_RETURN_IF_ERROR(report.status());
  Print(options.json ? StepsJson(options, *program, entry, *report)
                     : StepsText(options, *program, entry, *report));
  if (!report->first_failed) return OkStatus();
  const StepCheck& first = report->steps[*report->first_failed];
  return Error(Code::kCheckFailed, StepName(*program, first.step),
               first.changed.empty() ? " differs from the reference kernel"
                                     : " reads what another step has changed");
}

/// The sample's outputs as references.
std::vector<Reference> ReferencesOf(const schema::GoldenSample& sample, const EntryInfo& entry) {
  std::vector<Reference> references;
  for (const schema::GoldenTensor& t : sample.outputs) {
    for (const TensorInfo& info : entry.outputs) {
      if (info.name != t.name) continue;
      references.push_back({info, "golden", t.dtype, t.shape, {t.data.begin(), t.data.end()}});
    }
  }
  return references;
}

/// Sets all metas to zero, so that those which the sample leaves out are as in a new session.
Status ClearMetas(Session& session, const EntryInfo& entry) {
  for (const TensorInfo& meta : entry.metas) {
    const std::vector<std::byte> zeros(meta.bytes);
    AICF_RETURN_IF_ERROR(
        session.SetMeta(meta.name, {meta.dtype, meta.shape, zeros.data(), zeros.size()}));
  }
  return OkStatus();
}

Status SetTensor(Session& session, const EntryInfo& entry, const schema::GoldenTensor& t) {
  const ConstTensor view = {t.dtype, t.shape, t.data.data(), t.data.size()};
  const bool meta =
      std::ranges::any_of(entry.metas, [&](const auto& m) { return m.name == t.name; });
  return meta ? session.SetMeta(t.name, view) : session.SetInput(t.name, view);
}

Result<SampleCheck> CheckSample(Session& session, const Program& program,
                                const schema::GoldenSample& sample, const Tolerance& given) {
  SampleCheck check;
  check.entry = sample.entry;
  check.origin = schema::GoldenOriginName(sample.origin);
  check.tolerance = {sample.atol, sample.rtol, sample.rel};
  if (given.atol || given.rtol || given.rel) check.tolerance = given;
  const EntryInfo& entry = program.entries()[sample.entry];
  AICF_RETURN_IF_ERROR(session.SelectEntry(entry.name));
  AICF_RETURN_IF_ERROR(ClearMetas(session, entry));
  for (const schema::GoldenTensor& t : sample.inputs) {
    AICF_RETURN_IF_ERROR(SetTensor(session, entry, t));
  }
  AICF_RETURN_IF_ERROR(session.Run());
  AICF_RETURN_IF_ERROR(session.Wait());
  AICF_ASSIGN_OR_RETURN(check.checks,
                        CheckOutputs(session, ReferencesOf(sample, entry), check.tolerance));
  return check;
}

Status SamplesVerdict(const std::vector<SampleCheck>& samples) {
  for (size_t i = 0; i < samples.size(); ++i) {
    for (const CheckResult& c : samples[i].checks) {
      if (c.pass()) continue;
      return Error(Code::kCheckFailed, "golden sample ", i + 1, ": output '", c.output, "' ",
                   c.Reason(samples[i].tolerance));
    }
  }
  return OkStatus();
}

Status VerifySamples(const RunOptions& options) {
  AICF_ASSIGN_OR_RETURN(const auto program, LoadProgram(options.artifact, options.signature));
  AICF_ASSIGN_OR_RETURN(const auto stored,
                        LoadWithOptional(options.artifact, options.signature, *program));
  const auto section = stored->bytes(schema::SectionKind::kGolden);
  if (section.empty()) {
    return Error(Code::kInvalidArgument, options.artifact,
                 ": the artifact carries no samples; compile it with aicf-compile --golden");
  }
  AICF_ASSIGN_OR_RETURN(const schema::Golden golden, schema::ParseGolden(section));
  AICF_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                        Session::Create(program, options.session));
  const std::string device = session->device_name();
  std::vector<SampleCheck> samples;
  for (const schema::GoldenSample& sample : golden.samples) {
    AICF_RETURN_IF_ERROR(session->ResetStates());  // each begins as in a fresh session
    AICF_ASSIGN_OR_RETURN(SampleCheck check,
                          CheckSample(*session, *program, sample, options.tolerance));
    samples.push_back(std::move(check));
  }
  Print(options.json ? SamplesJson(options, *program, device, samples)
                     : SamplesText(options, *program, device, samples));
  return SamplesVerdict(samples);
}

}  // namespace

Status RunVerify(const RunOptions& options) {
  return options.verify == VerifyMode::kGolden ? VerifySamples(options) : VerifyEveryStep(options);
}

}  // namespace aicf::tools
