#include "tools/aicf-compile/options.h"

#include <algorithm>

#include "compiler/import/onnx_support.h"
#include "compiler/passes/lowered/choose_math.h"
#include "compiler/select/choose.h"
#include "tools/aicf-compile/calibrate_options.h"
#include "tools/aicf-compile/decision_files.h"
#include "tools/aicf-compile/golden.h"
#include "tools/aicf-compile/language_options.h"
#include "tools/aicf-compile/tune_options.h"
#include "tools/common/exit_codes.h"
#include "tools/common/flags.h"
#include "tools/common/keys.h"
#include "tools/common/log.h"
#include "tools/common/npy.h"
#include "tools/common/process.h"
#include "tools/common/text.h"

namespace aicf::tools {
namespace {

constexpr std::string_view kDescription =
    "Compiles an ONNX model, a language model (a GGUF file or a Hugging Face folder), or an\n"
    "artifact's own program once more, into one artifact that records every decision. Needs no "
    "GPU, also for a CUDA target; "
    "only --tune and\n"
    "--policy=gemm=cublaslt do.";

constexpr std::string_view kExamples = R"(Examples:
  aicf-compile rec.onnx -o rec.aicf --shapes=x:1x3x48x320
      for this machine's CPU
  aicf-compile rec.onnx -o rec.aicf --target=cuda:sm_90a --math=fp16 --shapes=x:1x3x48x320
      for an H100 or H200
  aicf-compile rec.onnx --check --shapes=x:1x3x48x320
      what the model needs that aicf lacks, all at once; writes nothing
  aicf-compile rec.onnx --stop-after=lowered --shapes=x:1x3x48x320
      the program before any kernel is chosen, as text
  aicf-compile up.onnx -o up.aicf --shapes=x:1x3x64x64 --bind=sizes:sizes.npy
      an input that the output's shape follows from becomes a constant
  aicf-compile rec.onnx -o rec.aicf --bucket=one=x:1x3x48x320 --bucket=six=x:6x3x48x320
      two entry points in one artifact, which share weights and memory; a batch of 4 runs in
      'six', padded, because no result depends on what the batch is padded with
  aicf-compile vad.onnx -o vad.aicf --state=state:stateN
      a streaming model: its state stays in the session, from run to run
  aicf-compile rec.onnx -o rec.aicf --target=cuda --policy=conv=implicit_gemm --policy-strict
      a kernel for every convolution, or an error
  aicf-compile rec.onnx -o rec.aicf --golden=x:line.npy,y:scores.npy --golden=x:other.npy
      two samples travel in the artifact, the second's outputs computed by the reference
      kernels; aicf-run rec.aicf --verify=golden checks them on any machine
  aicf-compile rec.onnx -o rec.aicf --precision=int8 --calibrate=lines --shapes=x:1x3x48x320
      products of 8-bit integers, with scales from the samples lines/*.npy; --from takes it back
      to fp32
  aicf-compile rec.onnx -o rec.aicf --target=cuda --policy=gemm=cublaslt
      matrix products by cuBLASLt: its algorithms are recorded, so this needs a GPU of the
      target's architecture and cuBLAS 13, and the artifact needs that same cuBLAS version
  aicf-compile rec.onnx -o rec.aicf --target=cuda --tune=60 --timing-cache=h200.txt
      on the GPU machine: kernels by measured times, which h200.txt keeps
  aicf-compile rec.onnx -o rec.aicf --target=cuda --timing-cache=h200.txt
      the same artifact, on any machine
  aicf-compile --from rec.aicf -o rec_gpu.aicf --target=cuda
      the same program for another target, without the model
  aicf-compile --from rec.aicf -o pinned.aicf --set=step.12.kernel=cpu.conv.igemm_avx2
      one decision made otherwise, or an error that says why it cannot be
  aicf-compile rec.onnx -o rec.aicf --sign=key.pem
      signed, so that aicf-run --require-signature=key.pub.pem takes it
  aicf-compile --rebuild rec.aicf rec.onnx
      makes rec.aicf's bytes again from the model and says whether they are the same

trtexec's spellings work too: --onnx --saveEngine --timingCacheFile --errorOnTimingCacheMiss.

)";

std::string ExitCodes() {
  return ExitCodesText({{Code::kCheckFailed, "--rebuild gave other bytes or a timing cache miss"},
                        {Code::kBadModel},
                        {Code::kUnsupported},
                        {Code::kBadArtifact},
                        {Code::kDevice}});
}

const std::vector<Spelling>& Spellings() {
  static const std::vector<Spelling> spellings = [] {
    std::vector<Spelling> all = {{"--onnx", ""}, {"--saveEngine", "--output"}};
    for (const Spelling& s : TuneSpellings()) all.push_back(s);
    return all;
  }();
  return spellings;
}

/// The flags' values as the user wrote them.
struct Raw {
  std::string math, precision = "fp32", stop_after, impossible_branches;
  std::string decisions, sign;
  const CLI::Option* sign_option = nullptr;  ///< valid only while the command line is parsed
  bool sign_given = false;
  bool math_asked = false;  ///< by this command line, not by the artifact that it starts from
  RequiredSignature signature;
  std::vector<std::string> shapes, buckets, bind, states, metas, policy, disable_pass,
      disable_fusion, dump_after, budgets;
  bool drop_edits = false, force = false, verbose = false, no_images = false;
  bool list_ops = false, list_targets = false;
  LanguageFlags language;
  TuneFlags tune;
  GoldenFlags golden;
  CalibrateFlags calibrate;
};

std::string PassList() {
  std::vector<std::string> names;
  for (const PassInfo& pass : AllPasses()) {
    names.push_back(pass.required ? StrCat(pass.name, "*") : std::string(pass.name));
  }
  std::string out = "\n\nPasses in order (* cannot be disabled):";
  size_t column = 80;
  for (const std::string& name : names) {
    if (column + name.size() > 78) {
      out += "\n ";
      column = 1;
    }
    out += " " + name;
    column += name.size() + 1;
  }
  return out;
}

void AddTargetFlags(CommandLine& line, Raw& raw, CompileArgs& args) {
  const std::string group = "What to compile for";
  line.AddValue("--target", args.options.target,
                "TARGET  cpu (this machine), cpu:baseline, cpu:avx2, cpu:avx512,\n"
                "cuda (as cuda:sm_90a), cuda:sm_80, cuda:sm_86, cuda:sm_89,\n"
                "cuda:sm_100a, cuda:sm_120; default cpu. Of the CUDA targets\n"
                "only sm_90a has run on hardware: see --list-targets")
      ->group(group);
  line.AddList("--shapes", raw.shapes,
               "NAME:1x3x48x320  an input's shape; a scalar is NAME:; repeats")
      ->group(group);
  line.AddList("--bucket", raw.buckets,
               "NAME=SHAPES  an entry point of its own, with shapes as for --shapes;\n"
               "--shapes gives the one named main; repeats")
      ->group(group);
  line.AddList("--bind", raw.bind,
               "NAME:FILE.npy  an input becomes this constant, and no input of the\n"
               "artifact: what shapes, axes or loop counts follow from; repeats")
      ->group(group);
  line.AddList("--state", raw.states,
               "PAST:PRESENT  an input and the output that is its next value become one\n"
               "state, which stays on the device and is neither input nor output of the\n"
               "artifact; auto: also the pairs that their names suggest; repeats")
      ->group(group);
  line.AddList("--meta", raw.metas,
               "NAME  a small input that the host rewrites before a run (positions,\n"
               "lengths): all of them are handed over in one copy; repeats")
      ->group(group);
  line.AddValue("--impossible-branches", raw.impossible_branches,
                "MODE  what becomes of an If's branch that cannot run with these shapes,\n"
                "where a run decides which one is taken: refuse, or nan for results that\n"
                "are NaN when it is taken; default refuse")
      ->group(group);
  line.AddValue("--external-data-dir", args.options.files.store,
                "DIR  files that the model names, or that lie in its folder, may be links\n"
                "to files in this directory, as in caches of downloaded models;\n"
                "without it no link is followed")
      ->group(group);
  line.AddList("--budget", raw.budgets,
               StrCat("NAME:VALUE  what the compilation may take at most, whatever the model says\n"
                      "(exit code 7 beyond it); repeats. With their defaults:\n",
                      BudgetList()))
      ->group(group);
  line.AddValue("--math", raw.math,
                "MODE  fp32, or on a GPU tf32, fp16 or bf16 for matrix products, or fp8 for\n"
                "those that a model gives float8 operands, whose sums are then less exact,\n"
                "or on a CPU int8 for those with quantised weights, which then round the\n"
                "other operand, too; default fp32, but int8 for quantised language models\n"
                "on a CPU. A mode that the target has not is a warning, and means fp32")
      ->group(group);
  line.AddValue("--precision", raw.precision,
                "TYPE  what f32 activations and weights are stored in: fp32, fp16 or\n"
                "bf16; sensitive values, inputs, outputs and states keep f32; samples\n"
                "of --golden show which values are too large. int8 or fp8: products with\n"
                "constant weights multiply codes of 8 bits, whose scales samples of\n"
                "--calibrate show, and on a GPU the rest is as with fp16; default fp32")
      ->group(group);
  line.app
      .add_flag("--deterministic", args.options.deterministic, "only kernels that give equal bits")
      ->group(group);
}

void AddDecisionFlags(CommandLine& line, Raw& raw, CompileArgs& args) {
  const std::string group = "Decisions";
  line.AddList("--policy", raw.policy,
               "LIST  preferences, as clauses or a file with one on a line: FAMILY=VALUE,\n"
               "node:PATTERN=VALUE or step.N=VALUE, where VALUE is a kernel, a part of its\n"
               "name, flash or general for attention, a math mode, or\n"
               "programmatic or full for the launches on a GPU; repeats")
      ->group(group);
  line.app
      .add_flag("--policy-strict", args.options.policy_strict,
                "fail where a preferred kernel cannot run a step")
      ->group(group);
  line.AddList("--disable-pass", raw.disable_pass, "PASS  leave a pass out; repeats")->group(group);
  line.AddList("--disable-fusion", raw.disable_fusion, "NODE  keep a node unfused; repeats")
      ->group(group);
  line.AddValue("--export-decisions", args.export_decisions,
                "FILE  every decision as a line of JSON")
      ->group(group);
  line.AddValue("--decisions", raw.decisions,
                "FILE  exported decisions, edited: choices that differ from the compiler's own\n"
                "are taken instead, or the compilation fails with the reason")
      ->group(group);
  line.AddList("--set", args.options.sets,
               StrCat("step.N.KIND=CHOICE or node:NAME.KIND=CHOICE  one edit; KIND is\n",
                      schema::EditedKindList(), "; repeats"))
      ->group(group);
  line.AddSwitch("--explain", args.explain,
                 "[=NODE]  print the decisions with reasons and refusals: all, or those about the\n"
                 "source nodes of this name, in which * stands for any text")
      ->group(group);
}

void AddSourceFlags(CommandLine& line, Raw& raw, CompileArgs& args) {
  const std::string group = "Artifacts as source";
  line.AddValue("--from", args.from,
                "ARTIFACT  compile the program that it carries, with its options unless given;\n"
                "takes the model's place")
      ->group(group);
  line.app
      .add_flag("--drop-edits", raw.drop_edits,
                "with --from: without the edits that the artifact was made with")
      ->group(group);
  line.AddValue("--rebuild", args.rebuild,
                "ARTIFACT  compile MODEL as it was compiled and compare the bytes; --bind has to\n"
                "be given again, -o is optional")
      ->group(group);
  raw.signature.AddTo(line)->group(group);
}

void AddOutputFlags(CommandLine& line, Raw& raw, CompileArgs& args) {
  const std::string group = "Output";
  line.AddValue("-o,--output", args.output, "FILE  the artifact (or --stop-after's text)")
      ->group(group);
  line.app.add_flag("--force", raw.force, "replace existing outputs")->group(group);
  CLI::Option* sign =
      line.AddValue("--sign", raw.sign,
                    "FILE  sign the artifact with this private key (PEM, Ed25519);\n"
                    "aicf-sign makes one");
  sign->group(group);
  raw.sign_option = sign;
  line.app
      .add_flag("--strip", args.options.strip,
                "leave decisions and the lowered program out of the artifact")
      ->group(group);
  line.app
      .add_flag("--no-images", raw.no_images,
                "a CUDA plan without device code, which needs no NVRTC: only\n"
                "aicf-run --device=cpu executes it")
      ->group(group);
  line.app
      .add_flag("--check", args.check, "list every gap of the model with what helps; write nothing")
      ->group(group);
  line.AddValue("--stop-after", raw.stop_after,
                "STAGE  graph, lowered or plan: print that stage as text")
      ->group(group);
  line.AddList("--dump-after", raw.dump_after,
               "PASS  a pass or all: print the program after it; repeats")
      ->group(group);
  line.AddValue(
          "--kernel-cache", args.options.kernel_cache_dir,
          "DIR  compiled device code, or none;\ndefault $XDG_CACHE_HOME/aicf or ~/.cache/aicf")
      ->group(group);
  line.app.add_flag("--list-ops", raw.list_ops, "print which ONNX ops are supported, as Markdown")
      ->group(group);
  line.app
      .add_flag("--list-targets", raw.list_targets,
                "print the GPUs of the CUDA targets, as Markdown")
      ->group(group);
  line.app.add_flag("--timings", args.timings, "time of every pass")->group(group);
  line.app.add_flag("--verbose", raw.verbose, "log what the compiler does, on stderr")
      ->group(group);
}

/// Reads items "name:file.npy". The last colon ends the name, because tensor names may hold colons.
Status ReadBindings(const std::vector<std::string>& values, CompileOptions* options) {
  AICF_ASSIGN_OR_RETURN(const std::vector<std::string> items, SplitItems("--bind", values));
  for (const std::string& item : items) {
    const size_t colon = item.rfind(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == item.size()) {
      return Error(Code::kInvalidArgument, "--bind: expected name:file.npy, got '",
                   Shorten(item, 100), "'");
    }
    AICF_ASSIGN_OR_RETURN(NpyArray array, ReadNpy(item.substr(colon + 1)));
    ir::Tensor tensor = ir::Tensor::Own(array.dtype, array.shape, std::move(array.data));
    if (!options->values.emplace(item.substr(0, colon), std::move(tensor)).second) {
      return Error(Code::kInvalidArgument, "--bind: input '", item.substr(0, colon),
                   "' is given twice");
    }
  }
  return OkStatus();
}

/// Reads items "past:present" or "auto". Tensor names may hold colons. Both names of a pair usually
/// hold equally many, so the middle colon of the item separates them.
Status ReadStates(const std::vector<std::string>& values, CompileOptions* options) {
  AICF_ASSIGN_OR_RETURN(const std::vector<std::string> items, SplitItems("--state", values));
  for (const std::string& item : items) {
    if (item == "auto") {
      options->auto_states = true;
      continue;
    }
    std::vector<size_t> colons;
    for (size_t i = 0; i < item.size(); ++i) {
      if (item[i] == ':') colons.push_back(i);
    }
    const size_t colon = colons.empty() ? 0 : colons[colons.size() / 2];
    if (colons.size() % 2 == 0 || colon == 0 || colon + 1 == item.size()) {
      return Error(Code::kInvalidArgument,
                   "--state: expected PAST:PRESENT (names with equally many colons) or auto, got '",
                   Shorten(item, 100), "'");
    }
    options->states.push_back({item.substr(0, colon), item.substr(colon + 1)});
  }
  return OkStatus();
}

/// Reads buckets such as "name=input:1x3,other:4". The first '=' ends the bucket's name, because
/// tensor names may hold '=' as well.
Status ReadBuckets(const std::vector<std::string>& values, CompileOptions* options) {
  for (const std::string& value : values) {
    const size_t equals = value.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == value.size()) {
      return Error(Code::kInvalidArgument, "--bucket: expected name=input:1x3x48x320, got '",
                   Shorten(value, 100), "'");
    }
    Bucket bucket{value.substr(0, equals), {}};
    AICF_ASSIGN_OR_RETURN(bucket.shapes, ParseShapes(StrCat("--bucket ", Shorten(bucket.name, 60)),
                                                     {value.substr(equals + 1)}));
    options->buckets.push_back(std::move(bucket));
  }
  return EntryPointsOf(options->shapes, options->buckets).status().WithContext("--bucket");
}

Status InsertItems(std::string_view flag, const std::vector<std::string>& values,
                   std::set<std::string, std::less<>>* out) {
  AICF_ASSIGN_OR_RETURN(const std::vector<std::string> items, SplitItems(flag, values));
  out->insert(items.begin(), items.end());
  return OkStatus();
}

Status ParseStage(const std::string& text, std::optional<Stage>* stage) {
  if (text.empty()) return OkStatus();
  if (text == "graph") *stage = Stage::kGraph;
  if (text == "lowered") *stage = Stage::kLowered;
  if (text == "plan") *stage = Stage::kPlan;
  if (*stage) return OkStatus();
  return Error(Code::kInvalidArgument, "--stop-after: expected graph, lowered or plan, got '", text,
               "'");
}

/// The first given flag about the model's inputs; empty when there is none.
std::string_view GivenInputFlag(const Raw& raw) {
  const std::pair<std::string_view, bool> given[] = {{"--shapes", !raw.shapes.empty()},
                                                     {"--bucket", !raw.buckets.empty()},
                                                     {"--state", !raw.states.empty()},
                                                     {"--meta", !raw.metas.empty()}};
  for (const auto& [flag, present] : given) {
    if (present) return flag;
  }
  return GivenFlag(raw.language);
}

/// Refuses flags about the model's inputs, which a rebuild takes from the artifact.
Status CheckRebuild(const Raw& raw, const CompileArgs& args) {
  const std::string_view flag = args.rebuild.empty() ? "" : GivenInputFlag(raw);
  if (flag.empty()) return OkStatus();
  return Error(Code::kInvalidArgument, flag,
               " and --rebuild exclude each other: the artifact says what its model's inputs are");
}

/// Refuses flags about what the lowered program of the --from artifact has fixed already.
Status CheckFrom(const Raw& raw, const CompileArgs& args) {
  if (args.from.empty()) return OkStatus();
  const std::pair<std::string_view, bool> given[] = {
      {"--bind", !raw.bind.empty()},
      {"--impossible-branches", !raw.impossible_branches.empty()},
      {"--external-data-dir", !args.options.files.store.empty()},
      {"--check", args.check}};
  std::string_view about_model = GivenInputFlag(raw);
  for (const auto& [flag, present] : given) {
    if (present) about_model = flag;
  }
  if (!about_model.empty()) {
    return Error(Code::kInvalidArgument, about_model,
                 " is about the model; --from starts from the lowered program in the artifact");
  }
  for (const PassInfo& pass : AllPasses()) {
    if (pass.stage != Stage::kGraph || std::ranges::count(raw.disable_pass, pass.name) == 0)
      continue;
    return Error(Code::kInvalidArgument, "--disable-pass=", pass.name,
                 " is about the model's graph; --from starts after it");
  }
  if (args.stop_after == Stage::kGraph) {
    return Status(Code::kInvalidArgument, "--stop-after=graph needs the model, not --from");
  }
  return OkStatus();
}

Status CheckArguments(const CompileArgs& args) {
  if (args.check && args.stop_after) {
    return Status(Code::kInvalidArgument, "--check and --stop-after exclude each other");
  }
  if (!args.from.empty() && args.has_model) {
    return Status(Code::kInvalidArgument, "--from takes the model's place: give one of them");
  }
  if (args.from.empty() && !args.has_model) {
    return Status(Code::kInvalidArgument, "the model is missing (or --from=ARTIFACT)");
  }
  if (args.check && !args.export_decisions.empty()) {
    return Status(Code::kInvalidArgument,
                  "--check makes no decisions that --export-decisions could write");
  }
  const bool quiet = args.check || args.stop_after || !args.rebuild.empty();
  if (args.output.empty() && !quiet) {
    return Status(Code::kInvalidArgument, "-o FILE is missing (or --check, or --stop-after)");
  }
  return OkStatus();
}

Status ReadSigningKey(const std::string& path, CompileArgs* args) {
  if (args->check || args->stop_after || args->output.empty()) {
    return Status(Code::kInvalidArgument, "--sign: no artifact is written");
  }
  AICF_ASSIGN_OR_RETURN(args->sign, ReadSecretKey(path));
  return OkStatus();
}

/// Adds measured times: those that the flags name, or those that the artifact was made with.
Status AddCosts(const TuneFlags& flags, CompileArgs* args) {
  const bool tunes = !flags.tune.empty();
  if (tunes && (args->check || !args->rebuild.empty())) {
    return Error(Code::kInvalidArgument, args->check ? "--check" : "--rebuild",
                 " and --tune exclude each other");
  }
  if (args->artifact != nullptr) {
    AICF_ASSIGN_OR_RETURN(args->costs, RecordedCosts(*args->artifact));
  }
  AICF_ASSIGN_OR_RETURN(const std::shared_ptr<CostSource> asked,
                        MakeCosts(flags, args->options, args->stop_after.has_value()));
  if (asked != nullptr) args->costs = asked;
  args->options.costs = args->costs.get();
  return OkStatus();
}

Status Convert(const Raw& raw, CompileArgs* args) {
  CompileOptions& options = args->options;
  AICF_RETURN_IF_ERROR(ParseStage(raw.stop_after, &args->stop_after));
  AICF_RETURN_IF_ERROR(CheckFrom(raw, *args));
  AICF_RETURN_IF_ERROR(CheckRebuild(raw, *args));
  if (raw.drop_edits && args->from.empty()) {
    return Status(Code::kInvalidArgument, "--drop-edits is about the artifact of --from");
  }
  if (args->artifact == nullptr) {
    AICF_ASSIGN_OR_RETURN(options.shapes, ParseShapes("--shapes", raw.shapes));
    AICF_RETURN_IF_ERROR(ReadBuckets(raw.buckets, &options));
    AICF_RETURN_IF_ERROR(ReadStates(raw.states, &options));
    AICF_ASSIGN_OR_RETURN(options.metas, SplitItems("--meta", raw.metas));
    AICF_RETURN_IF_ERROR(ReadLanguage(raw.language, &options));
  }
  AICF_RETURN_IF_ERROR(ReadBindings(raw.bind, &options));
  AICF_RETURN_IF_ERROR(ReadGolden(raw.golden, &options));
  // --check writes nothing, not even into the cache of device code, so it makes no images.
  options.images = options.images && !raw.no_images && !args->check;
  if (!raw.impossible_branches.empty()) {
    if (raw.impossible_branches != "nan" && raw.impossible_branches != "refuse") {
      return Error(Code::kInvalidArgument, "--impossible-branches: expected refuse or nan, got '",
                   raw.impossible_branches, "'");
    }
    options.nan_branches = raw.impossible_branches == "nan";
  }
  for (const std::string& budget : raw.budgets) {
    AICF_RETURN_IF_ERROR(options.budgets.Parse(budget));
  }
  options.math_given = !raw.math.empty();
  AICF_ASSIGN_OR_RETURN(options.math, ReadMathMode("--math", raw.math.empty() ? "fp32" : raw.math));
  // An unknown target is refused by the compiler.
  const Result<abi::DeviceSpec> target = abi::FindDevice(options.target);
  if (raw.math_asked && target.ok()) WarnOfUnusedMath(*target, options.math);
  AICF_ASSIGN_OR_RETURN(options.precision, ParsePrecision(raw.precision));
  AICF_RETURN_IF_ERROR(ReadCalibrate(raw.calibrate, &options));
  if (raw.drop_edits) options.wishes = Wishes();
  AICF_RETURN_IF_ERROR(ReadPolicy(raw.policy, options.target, &options.policy));
  AICF_RETURN_IF_ERROR(ReadDecisions(raw.decisions, &options.decisions));
  AICF_RETURN_IF_ERROR(InsertItems("--disable-pass", raw.disable_pass, &options.passes.disabled));
  AICF_RETURN_IF_ERROR(InsertItems("--dump-after", raw.dump_after, &options.passes.dump_after));
  AICF_RETURN_IF_ERROR(InsertItems("--disable-fusion", raw.disable_fusion, &options.no_fusion));
  args->existing = raw.force ? Existing::kReplace : Existing::kRefuse;
  AICF_RETURN_IF_ERROR(CheckArguments(*args));
  if (raw.sign_given) AICF_RETURN_IF_ERROR(ReadSigningKey(raw.sign, args));
  AICF_RETURN_IF_ERROR(PassRunner(options.passes).CheckNames());
  return AddCosts(raw.tune, args);
}

Status Parse(const std::vector<std::string>& argv, Raw* raw, CompileArgs* args, bool* run) {
  CommandLine line("aicf-compile", kDescription);
  const CLI::Option* model =
      line.AddValue("model", args->model, "ONNX file, GGUF file or Hugging Face folder");
  AddTargetFlags(line, *raw, *args);
  AddDecisionFlags(line, *raw, *args);
  AddLanguageFlags(line, raw->language);
  AddTuneFlags(line, raw->tune);
  AddSourceFlags(line, *raw, *args);
  AddOutputFlags(line, *raw, *args);
  AddCalibrateFlags(line, raw->calibrate);
  AddGoldenFlags(line, raw->golden);
  line.app.footer(StrCat(kExamples, ExitCodes(), PassList()));
  const Status status = line.Parse(argv, Spellings(), run);
  args->has_model = model->count() > 0;
  raw->math_asked = line.app.count("--math") > 0;
  raw->sign_given = raw->sign_option->count() > 0;
  raw->sign_option = nullptr;
  if (!status.ok() || !*run) return status;
  return raw->signature.Read();
}

/// Takes over the options that an artifact was made with. A --rebuild takes them all.
Status AdoptArtifact(const std::string& path, const schema::TrustedKeys* required, Raw* raw,
                     CompileArgs* args) {
  auto artifact = schema::Artifact::Load(path, /*with_optional=*/true, required);
  if (!artifact.ok()) {
    const bool named = artifact.status().message().find(path) != std::string::npos;
    return named ? artifact.status() : artifact.status().WithContext(path);
  }
  args->artifact = *std::move(artifact);
  Result<CompileOptions> options = OptionsOf(*args->artifact);
  if (!options.ok()) return options.status().WithContext(path);
  args->options = *std::move(options);
  raw->math = abi::MathModeName(args->options.math);
  raw->precision = PrecisionName(args->options.precision);
  return OkStatus();
}

}  // namespace

Status ParseCompileArgs(const std::vector<std::string>& argv, CompileArgs* args, bool* run) {
  if (std::ranges::find(argv, "--list-ops") != argv.end()) {
    Print(OnnxSupportMarkdown());
    return OkStatus();
  }
  if (std::ranges::find(argv, "--list-targets") != argv.end()) {
    Print(abi::CudaTargetsMarkdown());
    return OkStatus();
  }
  bool fit_costs = false;
  AICF_RETURN_IF_ERROR(FitCostsCommand(argv, &fit_costs));
  if (fit_costs) return OkStatus();
  Raw raw;
  AICF_RETURN_IF_ERROR(Parse(argv, &raw, args, run));
  if (!*run) return OkStatus();
  if (raw.verbose) SetVerbose();
  if (!args->from.empty() && !args->rebuild.empty()) {
    return Status(Code::kInvalidArgument, "--from and --rebuild exclude each other");
  }
  const std::string source = args->from.empty() ? args->rebuild : args->from;
  if (source.empty() && raw.signature.given()) {
    return Status(Code::kInvalidArgument,
                  "--require-signature is about artifacts; it needs --from or --rebuild");
  }
  if (!source.empty()) {
    // Parses the command line a second time, on top of the options that the artifact was made with.
    Raw adopted;
    CompileArgs fresh;
    AICF_RETURN_IF_ERROR(AdoptArtifact(source, raw.signature.keys(), &adopted, &fresh));
    AICF_RETURN_IF_ERROR(Parse(argv, &adopted, &fresh, run));
    raw = std::move(adopted);
    *args = std::move(fresh);
  }
  return Convert(raw, args);
}

}  // namespace aicf::tools
