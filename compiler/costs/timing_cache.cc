#include "compiler/costs/timing_cache.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <span>
#include <tuple>

#include "base/hash.h"
#include "base/scanner.h"

namespace aicf::tune {
namespace {

std::string Fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string Hex(std::span<const uint8_t> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (uint8_t b : bytes) {
    out += kDigits[b >> 4];
    out += kDigits[b & 15];
  }
  return out;
}

double Nanoseconds(double us) { return std::round(us * 1000) / 1000; }

std::string TimeLine(const TimingCache::Key& key, const Timing& t) {
  std::string line = StrCat("time ", key.problem, " ", key.kernel, " ", Fixed(t.median_us, 3), " ",
                            Fixed(t.spread_us, 3), " ", t.count, " ", t.version);
  if (!t.algorithm.bytes.empty()) {
    line += StrCat(" ", t.algorithm.workspace_bytes, " ", Hex(t.algorithm.bytes));
  }
  return line + "\n";
}

/// Whether `other` is the one to keep of two times for one key.
bool Better(const Timing& other, const Timing& mine) {
  if (other.version != mine.version) return true;
  const auto rank = [](const Timing& t) {
    return std::tuple(-t.count, t.spread_us, t.median_us, std::cref(t.algorithm.bytes).get());
  };
  return rank(other) < rank(mine);
}

}  // namespace

std::string TargetOf(const abi::DeviceSpec& device) {
  return device.backend == abi::Backend::kCpu ? "cpu" : device.name;
}

std::string HashOf(const abi::Problem& problem) { return ToHex(HashText(ToString(problem))); }

std::string TimingCache::ToText() const {
  std::set<std::string_view> used;
  std::string devices;
  for (const auto& [id, measured] : devices_) {
    devices += StrCat("device ", id.target, " ", Quote(id.name), "\n");
    for (const auto& [key, timing] : measured.times) {
      devices += TimeLine(key, timing);
      used.insert(key.problem);
    }
    for (const auto& [key, fit] : measured.fits) {
      devices += StrCat("fit ", key.first, " ", key.second, " ", Fixed(fit.scale, 4), " ",
                        Fixed(fit.offset_us, 4), " ", fit.samples, "\n");
    }
  }
  std::string out = "aicf-timing-cache 2\n";
  for (const auto& [hash, text] : problems_) {
    if (used.contains(hash)) out += StrCat("problem ", hash, " ", text, "\n");
  }
  return out + devices;
}

void TimingCache::Put(const DeviceId& device, const abi::Problem& problem, std::string_view kernel,
                      Timing timing) {
  std::string text = ToString(problem);
  std::string hash = ToHex(HashText(text));
  timing.median_us = Nanoseconds(timing.median_us);
  timing.spread_us = Nanoseconds(timing.spread_us);
  devices_[device].times[{hash, std::string(kernel)}] = std::move(timing);
  problems_.emplace(std::move(hash), std::move(text));
}

void TimingCache::PutFit(const DeviceId& device, std::string_view kernel, std::string_view math,
                         CostFit fit) {
  devices_[device].fits[{std::string(kernel), std::string(math)}] = fit;
}

void TimingCache::Merge(const TimingCache& other) {
  problems_.insert(other.problems_.begin(), other.problems_.end());
  for (const auto& [id, measured] : other.devices_) {
    Measured& mine = devices_[id];
    for (const auto& [key, timing] : measured.times) {
      const auto [at, fresh] = mine.times.emplace(key, timing);
      if (!fresh && Better(timing, at->second)) at->second = timing;
    }
    for (const auto& [key, fit] : measured.fits) mine.fits.insert_or_assign(key, fit);
  }
}

const Timing* TimingCache::Find(const DeviceId& device, const std::string& problem,
                                std::string_view kernel) const {
  const Times* times = TimesOf(device);
  if (times == nullptr) return nullptr;
  const auto found = times->find({problem, std::string(kernel)});
  return found == times->end() ? nullptr : &found->second;
}

void TimingCache::Copy(const TimingCache& from, const DeviceId& device, const std::string& problem,
                       std::string_view kernel) {
  devices_[device].times[{problem, std::string(kernel)}] = *from.Find(device, problem, kernel);
}

size_t TimingCache::size() const {
  size_t count = 0;
  for (const auto& [id, measured] : devices_) count += measured.times.size();
  return count;
}

std::vector<DeviceId> TimingCache::DevicesFor(const abi::DeviceSpec& device) const {
  std::vector<DeviceId> found;
  for (const auto& [id, measured] : devices_) {
    if (id.target == TargetOf(device)) found.push_back(id);
  }
  return found;
}

const TimingCache::Times* TimingCache::TimesOf(const DeviceId& device) const {
  const auto found = devices_.find(device);
  return found == devices_.end() ? nullptr : &found->second.times;
}

const TimingCache::Fits* TimingCache::FitsOf(const DeviceId& device) const {
  const auto found = devices_.find(device);
  return found == devices_.end() ? nullptr : &found->second.fits;
}

std::string_view TimingCache::TextOf(const std::string& problem) const {
  const auto found = problems_.find(problem);
  return found == problems_.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace aicf::tune
