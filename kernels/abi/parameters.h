/// A kernel's parameter set: the named integers that tell its variants for one problem apart (tile,
/// stages, split, cluster, vector width). The compiler chooses one, the step records it, the source
/// writer turns every number into a constant of the device code (ConstantName), and the instance's
/// symbol hashes the numbers.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/short_text.h"
#include "base/status.h"

namespace aicf::abi {

/// Most parameters of one set, and most characters of a name. They bound what files from outside
/// may contain.
inline constexpr size_t kMaxParameters = 32;
inline constexpr size_t kMaxParameterName = 32;

struct Parameter {
  std::string name;  ///< lower-case words joined by '_', e.g. "tile_m"
  int64_t value = 0;

  friend bool operator==(const Parameter&, const Parameter&) = default;
};

/// A value type: numbers in the order in which the kernel lists them, every name once.
class Parameters {
 public:
  Parameters() = default;
  Parameters(std::initializer_list<Parameter> list) : Parameters(std::vector<Parameter>(list)) {}
  explicit Parameters(std::vector<Parameter> list);

  /// The value of the parameter `name`; 0 where the set has no such name. A kernel's functions ask
  /// only for names that its ranges (ParameterRange) list, after CheckParameters accepted the set.
  /// They ask dozens of times for each step, with string literals: always inlined, so that a
  /// literal's slot and length are compile-time constants.
  [[gnu::always_inline]] int64_t operator[](std::string_view name) const {
    const Parameter* found = Find(name);
    return found == nullptr ? 0 : found->value;
  }
  bool Has(std::string_view name) const { return Find(name) != nullptr; }

  bool empty() const { return list_.empty(); }
  size_t size() const { return list_.size(); }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }

  friend bool operator==(const Parameters& a, const Parameters& b);

 private:
  /// A hash of a name. In nearly every kernel all names have different hashes, since they mostly
  /// differ in their length or their first or last character (tile_m, tile_n, thread_m).
  static constexpr size_t SlotOf(std::string_view name) {
    if (name.empty()) return 0;
    const auto first = static_cast<size_t>(name.front()), last = static_cast<size_t>(name.back());
    return (name.size() + 6 * first + 3 * last) % 64;
  }
  [[gnu::always_inline]] const Parameter* Find(std::string_view name) const {
    const size_t probable = slots_[SlotOf(name)];
    if (probable != 0 && SameText(list_[probable - 1].name, name)) return &list_[probable - 1];
    return FindInList(name);
  }
  const Parameter* FindInList(std::string_view name) const;

  std::vector<Parameter> list_;
  /// slots_[SlotOf(name)] is 1 + the index in list_ where that name probably is; 0: none is there.
  std::array<uint8_t, 64> slots_{};
};

/// A parameter that a kernel has, and the range of values that it may take at all. The kernel's own
/// functions (KernelInfo::refuse) decide which of them are legal for a problem.
///
/// A kernel that gains a parameter lists it last and says in `absent` what a set without the name
/// means, so that artifacts made before stay legal; sets made now have all names.
struct ParameterRange {
  std::string_view name;
  int64_t least = 0;
  int64_t most = 0;
  std::optional<int64_t> absent = std::nullopt;
};

/// Empty, or one sentence saying what is wrong: the set does not have exactly the names of `ranges`
/// in their order (the last ones may be missing where their ranges have `absent`), or a value is
/// outside of its range.
std::string CheckParameters(const Parameters& parameters, std::span<const ParameterRange> ranges);

/// The set with every name of `ranges`: a missing parameter gets the value that its absence means.
/// REQUIRES: CheckParameters accepts the set.
Parameters Completed(const Parameters& parameters, std::span<const ParameterRange> ranges);

/// The result of Completed, but without a copy where no parameter is missing. The set that it is
/// made from has to outlive it.
class WholeParameters {
 public:
  WholeParameters(const Parameters& given, std::span<const ParameterRange> ranges) : all_(&given) {
    if (given.size() < ranges.size()) all_ = &made_.emplace(Completed(given, ranges));
  }
  WholeParameters(const WholeParameters&) = delete;
  WholeParameters& operator=(const WholeParameters&) = delete;

  operator const Parameters&() const { return *all_; }  // NOLINT(google-explicit-constructor)
  [[gnu::always_inline]] int64_t operator[](std::string_view name) const { return (*all_)[name]; }

 private:
  std::optional<Parameters> made_;
  const Parameters* all_;
};

/// The shortest set that means the same: parameters at the end are dropped while their values are
/// those that their absence means. A set that has such parameters and one made before the kernel
/// had them are therefore shortened to equal sets.
Parameters Shortened(const Parameters& parameters, std::span<const ParameterRange> ranges);

/// "tile_m=128,tile_n=64"; empty for an empty set. One word without blanks, and parses back.
std::string ToString(const Parameters& parameters);
/// The inverse of ToString. Errors: kInvalidArgument, saying what was expected and found, or that
/// there are more than kMaxParameters.
Result<Parameters> ParseParameters(std::string_view text);

/// Whether `name` may name a parameter: lower-case letters, digits and '_', a letter first, at most
/// kMaxParameterName characters.
bool IsParameterName(std::string_view name);

/// The constant of device code that holds a parameter: "kTileM" of "tile_m".
std::string ConstantName(std::string_view parameter);

}  // namespace aicf::abi
