/// A timing cache: read, printed and read again, merged; the sample compiled by its times.
#include "compiler/costs/timing_cache.h"

#include "compiler/costs/cached_costs.h"
#include "tests/fuzz/planted.h"
#include "tests/fuzz/sample.h"
#include "tests/fuzz/target.h"

namespace aicf::fuzz {
namespace {

using tune::TimingCache;

void CheckPrint(const TimingCache& cache) {
  const std::string text = cache.ToText();
  const auto again = TimingCache::Parse(text);
  if (!again.ok()) Broken("a printed cache is refused: " + again.status().ToString());
  if (again->ToText() != text) Broken("a printed cache is read as another one:\n" + text);
  TimingCache merged = cache;
  merged.Merge(*again);
  if (merged.ToText() != text) Broken("a cache merged with itself is another one:\n" + text);
}

/// As a reader with room for one device would.
void ReadDevices(const TimingCache& cache) {
  const size_t devices = cache.DevicesFor(*abi::FindDevice("cpu:avx2")).size();
  for (size_t i = 0; i < devices; ++i) ReadElement(i, 2);
}

void RunTimingCache(Input input) {
  const auto cache = TimingCache::Parse(TextOf(input));
  CheckTyped(cache);
  if (!cache.ok()) return;
  CheckPrint(*cache);
  if (Planted()) ReadDevices(*cache);
  const Sample& sample = TheSample();
  tune::CachedCosts costs(*cache, {});
  CompileOptions options = sample.options;
  options.costs = &costs;
  CheckTyped(Recompile(sample.artifact, options));
  CheckTyped(tune::CachedCosts::FromUsed(costs.UsedTimings()));
}

}  // namespace

Target TimingCacheTarget() { return {"timing_cache", &RunTimingCache}; }

}  // namespace aicf::fuzz
