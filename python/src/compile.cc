#include "python/src/compile.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "compiler/edit/named_kernels.h"
#include "compiler/import/file.h"
#include "compiler/passes/lowered/choose_math.h"
#include "tools/library/cublaslt_algorithms.h"

namespace aicf::python {
namespace {

Result<ShapeMap> ToShapes(const NamedShapes& given) {
  ShapeMap shapes;
  for (const auto& [name, shape] : given) {
    AICF_ASSIGN_OR_RETURN(shapes[name], ToDims(shape));
  }
  return shapes;
}

Status SetMath(const std::string& text, CompileOptions* options) {
  AICF_ASSIGN_OR_RETURN(options->math, ReadMathMode("math", text));
  options->math_given = true;
  // An unknown target is refused by the compiler.
  const Result<abi::DeviceSpec> device = abi::FindDevice(options->target);
  if (device.ok()) WarnOfUnusedMath(*device, options->math);
  return OkStatus();
}

Status SetShapes(const CompileRequest& request, CompileOptions* options) {
  if (request.shapes) {
    AICF_ASSIGN_OR_RETURN(options->shapes, ToShapes(*request.shapes));
  }
  if (request.buckets) {
    options->buckets.clear();
    for (const auto& [name, shapes] : *request.buckets) {
      AICF_ASSIGN_OR_RETURN(ShapeMap map, ToShapes(shapes));
      options->buckets.push_back({name, std::move(map)});
    }
  }
  for (const auto& [name, value] : request.bind) options->values.insert_or_assign(name, value);
  return EntryPointsOf(options->shapes, options->buckets).status();
}

void SetStates(const CompileRequest& request, CompileOptions* options) {
  for (const auto& [past, present] : request.states.value_or(NamePairs())) {
    options->states.push_back({past, present});
  }
  if (request.auto_states) options->auto_states = *request.auto_states;
  if (request.metas) options->metas = *request.metas;
}

Status CheckSize(std::string_view name, int64_t size) {
  constexpr int64_t kMost = int64_t{1} << 31;
  if (size >= 1 && size <= kMost) return OkStatus();
  return Error(Code::kInvalidArgument, name, ": expected 1 to ", kMost, ", got ", size);
}

Status SetSize(std::string_view name, std::optional<int64_t> given, int64_t* size) {
  if (!given) return OkStatus();
  *size = *given;
  return CheckSize(name, *given);
}

Status SetSizes(std::string_view name, const std::optional<std::vector<int64_t>>& given,
                std::vector<int64_t>* sizes) {
  if (!given) return OkStatus();
  *sizes = *given;
  for (const int64_t size : *given) AICF_RETURN_IF_ERROR(CheckSize(name, size));
  if (!given->empty()) return OkStatus();
  return Error(Code::kInvalidArgument, name, ": expected at least one size");
}

Status SetLanguage(const CompileRequest& request, language::LanguageOptions* options) {
  AICF_RETURN_IF_ERROR(SetSize("context", request.context, &options->context));
  AICF_RETURN_IF_ERROR(SetSize("page", request.page, &options->page));
  AICF_RETURN_IF_ERROR(SetSize("cache", request.cache, &options->cache));
  AICF_RETURN_IF_ERROR(SetSizes("prefill", request.prefill, &options->prefill));
  AICF_RETURN_IF_ERROR(SetSizes("decode", request.decode, &options->decode));
  if (request.logits) options->logits = *request.logits;
  if (!request.cache_precision) return OkStatus();
  const auto precision = ParsePrecision(*request.cache_precision);
  if (!precision.ok()) return precision.status().WithContext("cache_precision");
  if (IsQuantized(*precision)) {
    return Error(Code::kUnsupported, "cache_precision='", *request.cache_precision,
                 "': a cache holds floats of 16 or 32 bits");
  }
  options->cache_dtype = *precision;
  return OkStatus();
}

/// Whether the caller said anything about a language model's entry points and cache.
bool IsAboutLanguage(const CompileRequest& r) {
  return r.context || r.page || r.cache || r.prefill || r.decode || r.cache_precision || r.logits;
}

Status SetDecisions(const CompileRequest& request, CompileOptions* options) {
  // An unknown target is refused by the compiler.
  const Result<abi::DeviceSpec> device = abi::FindDevice(options->target);
  for (const std::string& clause : request.policy) {
    AICF_ASSIGN_OR_RETURN(const Policy policy, Policy::ParseClause(clause));
    if (device.ok()) {
      for (const abi::MathMode mode : policy.MathModes()) WarnOfUnusedMath(*device, mode);
      AICF_RETURN_IF_ERROR(CheckPolicyKernels(policy, *device));
    }
    AICF_RETURN_IF_ERROR(options->policy.Add(policy));
  }
  if (request.policy_strict) options->policy_strict = *request.policy_strict;
  options->passes.disabled.insert(request.disable_passes.begin(), request.disable_passes.end());
  options->no_fusion.insert(request.disable_fusion.begin(), request.disable_fusion.end());
  options->sets.insert(options->sets.end(), request.edits.begin(), request.edits.end());
  if (!request.decisions) return OkStatus();
  AICF_ASSIGN_OR_RETURN(options->decisions, DecisionLog::Parse(*request.decisions));
  return OkStatus();
}

Status SetCalibration(const CompileRequest& request, CompileOptions* options) {
  const bool more = request.calibrate_method || request.max_error;
  if (request.calibrate.empty() && more) {
    return Error(Code::kInvalidArgument,
                 "calibrate_method and max_error need calibrate: what they decide is measured on "
                 "samples");
  }
  if (!request.calibrate.empty() && !IsQuantized(options->precision)) {
    return Error(Code::kInvalidArgument, "calibrate needs precision='int8' or 'fp8'");
  }
  options->calibrate.samples = request.calibrate;
  if (request.calibrate_method) {
    AICF_ASSIGN_OR_RETURN(options->calibrate.method, ParseRangeMethod(*request.calibrate_method));
  }
  if (!request.max_error) return OkStatus();
  if (!(*request.max_error >= 0)) {
    return Error(Code::kInvalidArgument, "max_error: expected a number from 0 on, got ",
                 *request.max_error);
  }
  options->calibrate.max_error = *request.max_error;
  return OkStatus();
}

Status Apply(const CompileRequest& request, CompileOptions* options) {
  if (request.target) options->target = *request.target;
  if (request.math) AICF_RETURN_IF_ERROR(SetMath(*request.math, options));
  if (request.precision) {
    AICF_ASSIGN_OR_RETURN(options->precision, ParsePrecision(*request.precision));
  }
  AICF_RETURN_IF_ERROR(SetCalibration(request, options));
  if (request.kernel_cache) options->kernel_cache_dir = *request.kernel_cache;
  if (request.deterministic) options->deterministic = *request.deterministic;
  options->files.store = request.external_data_dir;
  if (request.strip) options->strip = *request.strip;
  if (request.nan_branches) options->nan_branches = *request.nan_branches;
  if (request.images) options->images = *request.images;
  AICF_RETURN_IF_ERROR(SetShapes(request, options));
  SetStates(request, options);
  AICF_RETURN_IF_ERROR(SetLanguage(request, &options->language));
  return SetDecisions(request, options);
}

/// Calls compile(options). If the target may use vendor libraries, those of this machine are made
/// available to it.
template <class F>
Result<LoadedProgram> WithLibraries(CompileOptions options, F&& compile) {
  std::optional<tools::CublasLtAlgorithms> algorithms;
  const Result<abi::DeviceSpec> target = abi::FindDevice(options.target);
  if (target.ok() && target->backend == abi::Backend::kCuda) {
    options.library_algorithms = &algorithms.emplace(*target);
  }
  AICF_ASSIGN_OR_RETURN(CompileResult result, compile(options));
  return LoadedProgram::FromBytes(std::move(result.bytes));
}

Status WriteAll(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return Error(Code::kResource, "no memory for a copy of the model");
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return OkStatus();
}

/// Replaces a file name that means nothing to the user in the message: bytes were given, no file.
Status Renamed(const Status& status, const std::string& path) {
  std::string message = status.message();
  for (size_t at; (at = message.find(path)) != std::string::npos;) {
    message.replace(at, path.size(), "(bytes)");
  }
  return Status(status.code(), std::move(message));
}

}  // namespace

Result<LoadedProgram> CompileFile(const std::string& path, const CompileRequest& request) {
  CompileOptions options;
  AICF_RETURN_IF_ERROR(Apply(request, &options));
  return WithLibraries(std::move(options),
                       [&](const CompileOptions& full) { return Compile(path, full); });
}

Result<LoadedProgram> CompileBytes(std::span<const std::byte> model,
                                   const CompileRequest& request) {
  const FileDescriptor fd(memfd_create("aicf-model", MFD_CLOEXEC));
  if (fd.get() < 0) return Error(Code::kResource, "no memory for a copy of the model");
  AICF_RETURN_IF_ERROR(WriteAll(fd.get(), model));
  const std::string path = StrCat("/proc/self/fd/", fd.get());
  auto program = CompileFile(path, request);
  if (!program.ok()) return Renamed(program.status(), path);
  return program;
}

Result<LoadedProgram> CompileProgram(const LoadedProgram& program, const CompileRequest& request) {
  const bool states = request.states || request.auto_states || request.metas;
  if (request.shapes || request.buckets || !request.bind.empty() || states) {
    return Error(Code::kInvalidArgument,
                 "shapes, buckets, bind, states and metas are about the model; a program starts "
                 "from its lowered form, which has fixed them");
  }
  if (IsAboutLanguage(request)) {
    return Error(Code::kInvalidArgument,
                 "context, cache, cache_precision, page, prefill, decode and logits are about the "
                 "model; a program starts from its lowered form, which has fixed them");
  }
  AICF_ASSIGN_OR_RETURN(const auto stored, program.Stored());
  AICF_ASSIGN_OR_RETURN(CompileOptions options, OptionsOf(*stored));
  AICF_RETURN_IF_ERROR(Apply(request, &options));
  return WithLibraries(std::move(options),
                       [&](const CompileOptions& full) { return Recompile(stored, full); });
}

}  // namespace aicf::python
