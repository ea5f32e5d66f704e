#include "tools/aicf-compile/tune_options.h"

#include <unistd.h>

#include <algorithm>

#include "compiler/costs/cached_costs.h"
#include "compiler/costs/fit.h"
#include "compiler/source/provenance.h"
#include "tools/aicf-compile/tuned_costs.h"
#include "tools/common/files.h"
#include "tools/common/process.h"

namespace aicf::tools {
namespace {

Result<tune::TimingCache> ReadCache(const std::string& path) {
  AICF_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, ReadFile(path));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  Result<tune::TimingCache> cache = tune::TimingCache::Parse(text);
  return cache.ok() ? std::move(cache) : cache.status().WithContext(path);
}

/// Merges all cache files. The last one may be absent if it is going to be written.
Result<tune::TimingCache> ReadCaches(const std::vector<std::string>& paths, bool last_is_written) {
  tune::TimingCache all;
  for (const std::string& path : paths) {
    const bool written = last_is_written && &path == &paths.back();
    if (written && access(path.c_str(), F_OK) != 0) continue;
    AICF_ASSIGN_OR_RETURN(const tune::TimingCache one, ReadCache(path));
    all.Merge(one);
  }
  return all;
}

Status CheckFlags(const TuneFlags& flags) {
  if (flags.state != "cold" && flags.state != "warm") {
    return Error(Code::kInvalidArgument, "--tune-state: expected cold or warm, got '", flags.state,
                 "'");
  }
  if (flags.tune.empty()) {
    if (flags.state != "cold") {
      return Status(Code::kInvalidArgument, "--tune-state is about --tune, which was not given");
    }
    if (!flags.device.empty() && flags.caches.empty()) {
      return Status(Code::kInvalidArgument,
                    "--timing-device chooses among the times of --timing-cache, which is missing");
    }
    return OkStatus();
  }
  if (!flags.device.empty()) {
    return Status(Code::kInvalidArgument,
                  "--tune measures on this machine's device, so --timing-device cannot name one");
  }
  return OkStatus();
}

std::string Percent(double share) {
  return StrCat(static_cast<int>(share * 1000 + 0.5) / 10.0).substr(0, 5) + "%";
}

std::string QualityLine(std::string_view what, const tune::FitQuality& q) {
  return StrCat("// ", what, ": error of ", q.times, " times: median ", Percent(q.median_error),
                ", p90 ", Percent(q.p90_error), "; predicted choice within 1.3x of the fastest in ",
                q.near_best, " of ", q.problems, " problems, geometric mean ",
                std::to_string(q.mean_ratio).substr(0, 5), "x\n");
}

}  // namespace

void AddTuneFlags(CommandLine& line, TuneFlags& flags) {
  const std::string group = "Measured times";
  line.AddList("--timing-cache", flags.caches,
               "FILE  measured times of kernels, which decide before predictions do;\n"
               "repeats; with --tune the last one is also written")
      ->group(group);
  line.AddValue("--timing-device", flags.device,
                "NAME  whose times count, where the caches have several devices for\n"
                "the target: \"NVIDIA H200\"")
      ->group(group);
  line.AddSwitch("--tune", flags.tune,
                 "[=SECONDS]  measure what the timing cache lacks, on this machine's\n"
                 "device of the target, for at most so long (default: until all is\n"
                 "measured); interrupted, it keeps what it has")
      ->group(group);
  line.AddValue("--tune-state", flags.state,
                "STATE  cold: operands in no cache (default); warm: as the run before\n"
                "left them, for small models that stay in the cache")
      ->group(group);
  line.app
      .add_flag("--error-on-timing-cache-miss", flags.error_on_miss,
                "fail (exit 1) where a kernel would be chosen by prediction")
      ->group(group);
  line.app
      .add_flag("--fit-costs", flags.fit_costs,
                "no model: print the corrections of predicted costs that follow from\n"
                "--timing-cache, for --target (default cuda)")
      ->group(group);
}

std::vector<Spelling> TuneSpellings() {
  return {{"--timingCacheFile", "--timing-cache"},
          {"--errorOnTimingCacheMiss", "--error-on-timing-cache-miss"}};
}

Result<std::shared_ptr<CostSource>> MakeCosts(const TuneFlags& flags, const CompileOptions& options,
                                              bool quiet) {
  AICF_RETURN_IF_ERROR(CheckFlags(flags));
  const bool tune = !flags.tune.empty();
  if (!tune && flags.caches.empty() && !flags.error_on_miss) return std::shared_ptr<CostSource>();
  tune::CostRules rules{flags.device, std::nullopt, flags.error_on_miss};
  AICF_ASSIGN_OR_RETURN(tune::TimingCache cache, ReadCaches(flags.caches, tune));
  if (!tune) {
    return std::shared_ptr<CostSource>(
        std::make_shared<tune::CachedCosts>(std::move(cache), std::move(rules)));
  }
  TunedCostsOptions tuning;
  tuning.file = flags.caches.empty() ? "" : flags.caches.back();
  tuning.warm = flags.state == "warm";
  tuning.quiet = quiet;
  tuning.kernel_cache_dir = options.kernel_cache_dir;
  tuning.programs =
      static_cast<int>(std::max<size_t>(1, options.buckets.size() + !options.shapes.empty()));
  if (flags.tune != "true") {
    AICF_ASSIGN_OR_RETURN(tuning.seconds, ParseReal("--tune", flags.tune, 0.01, 1e6));
  }
  // Fails before the work, rather than after it, if the cache cannot be written.
  if (!tuning.file.empty()) {
    AICF_RETURN_IF_ERROR(AtomicFile::Create(tuning.file, Existing::kReplace).status());
  }
  return TunedCosts::Make(options.target, std::move(cache), std::move(rules), std::move(tuning));
}

Result<std::shared_ptr<CostSource>> RecordedCosts(const schema::Artifact& artifact) {
  AICF_ASSIGN_OR_RETURN(const Provenance made,
                        ReadProvenance(artifact.text(schema::SectionKind::kProvenance)));
  if (made.timings.empty()) return std::shared_ptr<CostSource>();
  Result<tune::CachedCosts> costs = tune::CachedCosts::FromUsed(made.timings);
  if (costs.ok()) {
    return std::shared_ptr<CostSource>(std::make_shared<tune::CachedCosts>(*std::move(costs)));
  }
  return Error(Code::kBadArtifact, "provenance: 'timings': ", costs.status().message());
}

Status FitCostsCommand(const std::vector<std::string>& argv, bool* asked) {
  *asked = std::ranges::find(argv, "--fit-costs") != argv.end();
  if (!*asked) return OkStatus();
  CommandLine line("aicf-compile --fit-costs", "Fits the predicted costs to measured times.");
  TuneFlags flags;
  bool fit = false, run = false;
  std::string target = "cuda";
  line.app.add_flag("--fit-costs", fit, "print compiler/costs/fitted_costs.def");
  line.AddList("--timing-cache", flags.caches, "FILE  measured times; repeats")->required();
  line.AddValue("--timing-device", flags.device, "NAME  whose times, where there are several");
  line.AddValue("--target", target, "TARGET  what the times are of; default cuda");
  AICF_RETURN_IF_ERROR(line.Parse(argv, TuneSpellings(), &run));
  if (!run) return OkStatus();
  AICF_ASSIGN_OR_RETURN(const abi::DeviceSpec device, abi::FindDevice(target));
  AICF_ASSIGN_OR_RETURN(const tune::TimingCache cache, ReadCaches(flags.caches, false));
  AICF_ASSIGN_OR_RETURN(const std::optional<tune::DeviceId> id,
                        tune::ChooseDevice(cache, flags.device, device));
  if (!id) return Error(Code::kInvalidArgument, "the timing cache has no times for ", device.name);
  const tune::FitTable table = tune::FitCosts(cache, *id, device);
  Print(tune::DefinitionText(table, *id, device));
  Print(QualityLine("as predicted", tune::Judge(tune::FitTable(), cache, *id, device)));
  Print(QualityLine("with this table", tune::Judge(table, cache, *id, device)));
  return OkStatus();
}

}  // namespace aicf::tools
