/// A timing cache is read, printed and read again, and merged; the sample is compiled by its times.
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

/// As a reader would that has room for 20 samples of a known device.
void ReadTimes(const TimingCache& cache) {
  for (const char* target : {"cpu:avx2", "cuda:sm_90a"}) {
    for (const tune::DeviceId& device : cache.DevicesFor(*abi::FindDevice(target))) {
      ReadWord(device.name);
      for (const auto& [key, time] : *cache.TimesOf(device)) {
        if (time.count > 20) ReadElement(1, 1);
      }
    }
  }
}

void RunTimingCache(Input input) {
  const auto cache = TimingCache::Parse(TextOf(input));
  CheckTyped(cache);
  if (!cache.ok()) return;
  CheckPrint(*cache);
  if (Planted()) ReadTimes(*cache);
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
