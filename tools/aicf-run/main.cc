/// aicf-run: load, first inference, steady state.
#include <nlohmann/json.hpp>
#include <optional>

#include "kernels/cpu/threads/thread_pool.h"
#include "tools/aicf-run/generate.h"
#include "tools/aicf-run/load.h"
#include "tools/aicf-run/options.h"
#include "tools/aicf-run/report.h"
#include "tools/aicf-run/verify.h"
#include "tools/common/files.h"
#include "tools/common/process.h"

namespace aicf::tools {
namespace {

constexpr int kProfileIterations = 50;

/// The output files. They are opened before the work, so that a bad path is reported at once.
struct Outputs {
  std::optional<AtomicFile> profile;
  std::optional<AtomicFile> times;
};

Status OpenOutputs(const RunOptions& options, Outputs* outputs) {
  const auto open = [](const std::string& path, std::optional<AtomicFile>* file) -> Status {
    if (path.empty()) return OkStatus();
    AICF_ASSIGN_OR_RETURN(AtomicFile opened, AtomicFile::Create(path, Existing::kReplace));
    *file = std::move(opened);
    return OkStatus();
  };
  for (const std::string& path : {options.export_profile, options.export_times}) {
    if (!path.empty() && SameFile(path, options.artifact)) {
      return Error(Code::kInvalidArgument, path, ": the output is the artifact itself");
    }
  }
  AICF_RETURN_IF_ERROR(open(options.export_profile, &outputs->profile));
  return open(options.export_times, &outputs->times);
}

Status Finish(std::optional<AtomicFile>& file, const std::string& text) {
  if (!file) return OkStatus();
  AICF_RETURN_IF_ERROR(file->Write(text));
  return file->Commit();
}

std::string TimesJson(const Measurement& m) {
  auto rows = nlohmann::ordered_json::array();
  for (size_t i = 0; i < m.latency.size(); ++i) {
    nlohmann::ordered_json row = {{"latencyMs", m.latency[i]}};
    if (i < m.enqueue.size()) row["enqueueMs"] = m.enqueue[i];
    if (i < m.compute.size()) row["computeMs"] = m.compute[i];
    rows.push_back(std::move(row));
  }
  return rows.dump(1) + "\n";
}

Status Verdict(const Report& report) {
  for (const CheckResult& c : report.checks) {
    if (c.pass()) continue;
    return Error(Code::kCheckFailed, "output '", c.output, "' ", c.Reason(report.tolerance));
  }
  return OkStatus();
}

/// Runs the first inference and then everything that needs its outputs: checks and exports.
Status FirstRun(Session& session, const RunOptions& options,
                const std::vector<Reference>& references, Report* report) {
  AICF_RETURN_IF_ERROR(SetTensors(session, *report->selection));
  const double start = NowMs();
  AICF_RETURN_IF_ERROR(session.Run());
  AICF_RETURN_IF_ERROR(session.Wait());
  report->first_ms = NowMs() - start;
  const std::vector<TensorInfo>& outputs = report->selection->outputs;
  for (const TensorInfo& output : outputs) {
    AICF_ASSIGN_OR_RETURN(Dims shape, session.OutputShape(output.name));
    report->output_shapes.push_back(shape);
  }
  AICF_ASSIGN_OR_RETURN(report->checks, CheckOutputs(session, references, report->tolerance));
  if (!options.export_states.empty()) {
    AICF_RETURN_IF_ERROR(ExportStates(session, options.export_states));
  }
  if (options.export_output.empty()) return OkStatus();
  return ExportOutputs(session, outputs, options.export_output);
}

Status SteadyState(Session& session, const RunOptions& options, const Program& program,
                   Outputs& outputs, Report* report) {
  AICF_ASSIGN_OR_RETURN(report->measurement, Measure(session, options, report->on_cuda));
  if (options.profile || outputs.profile) {
    AICF_ASSIGN_OR_RETURN(report->profile,
                          ProfileSteps(session, program, report->on_cuda, kProfileIterations));
  }
  report->memory = session.memory();
  AICF_RETURN_IF_ERROR(Finish(outputs.times, TimesJson(report->measurement)));
  const Samples replay(report->measurement.compute.empty() ? report->measurement.latency
                                                           : report->measurement.compute);
  return Finish(outputs.profile, ProfileTrace(report->profile, report->device, replay.median()));
}

Status Run(RunOptions options) {
  Outputs outputs;
  AICF_RETURN_IF_ERROR(OpenOutputs(options, &outputs));
  const double start = NowMs();
  AICF_ASSIGN_OR_RETURN(const std::shared_ptr<const Program> program,
                        LoadProgram(options.artifact, options.signature));
  const double program_ms = NowMs() - start;
  AICF_ASSIGN_OR_RETURN(Selection selection,
                        GatherInputs(*program, options.entry, options.load_inputs));
  AICF_RETURN_IF_ERROR(GatherStates(*program, options.load_states, /*make_up=*/false, &selection));
  AICF_ASSIGN_OR_RETURN(const auto references,
                        LoadReferences(selection.outputs, options.load_ref_outputs));
  Report report;
  report.options = &options;
  report.program = program.get();
  report.selection = &selection;
  report.tolerance = options.tolerance.OrDefault();
  const bool cuda_artifact = program->target().starts_with("cuda");
  report.on_cuda = cuda_artifact && options.session.device != "cpu";
  report.reference = cuda_artifact && !report.on_cuda;
  if (report.on_cuda) options.session.sync = SyncPolicy::kEventRecord;
  if (!report.on_cuda) {
    const int threads = options.session.threads;
    report.threads = threads > 0 ? threads : cpu::ThreadPool::DefaultThreads();
  }
  const double session_start = NowMs();
  AICF_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                        Session::Create(program, options.session));
  AICF_RETURN_IF_ERROR(Select(*session, *program, selection));
  report.load_ms = program_ms + NowMs() - session_start;
  report.device = session->device_name();
  report.memory = session->memory();

  AICF_RETURN_IF_ERROR(FirstRun(*session, options, references, &report));
  if (!options.json) Print(HeadText(report) + CheckText(report));
  AICF_RETURN_IF_ERROR(SteadyState(*session, options, *program, outputs, &report));
  Print(options.json ? JsonText(report) : TailText(report));
  return Verdict(report);
}

Status Main(const std::vector<std::string>& args) {
  RunOptions options;
  bool run = false;
  AICF_RETURN_IF_ERROR(ParseRunOptions(args, &options, &run));
  if (!run) return OkStatus();
  if (options.generate.mode == GenerateMode::kText) return RunGenerate(options);
  if (options.generate.mode == GenerateMode::kBench) return RunBench(options);
  return options.verify == VerifyMode::kOff ? Run(std::move(options)) : RunVerify(options);
}

}  // namespace
}  // namespace aicf::tools

int main(int argc, char** argv) {
  return aicf::tools::RunTool("aicf-run", argc, argv, &aicf::tools::Main);
}
