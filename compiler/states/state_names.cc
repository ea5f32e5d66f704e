#include "compiler/states/state_names.h"

namespace aicf {

const std::vector<NamePattern>& NamePatterns() {
  static const std::vector<NamePattern> patterns = {
      {"past_key_values.*", "present.*"},
      {"past_key_values.*", "present_key_values.*"},
      {"past_*", "present_*"},
      {"past.*", "present.*"},
      {"*_past", "*_present"},
      {"prev_*", "next_*"},
      {"old_*", "new_*"},
      {"*_in", "*_out"},
      {"in_*", "out_*"},
      {"*_in_0", "*_out_0"},
      {"*", "new_*"},
      {"*", "next_*"},
      {"*", "*_new"},
      {"*", "*_next"},
      {"*", "*_out"},
      {"*", "out_*"},
      {"*_0", "*_n"},
      {"*0", "*n"},
      {"*", "*N"},
      {"*", "*n"},
  };
  return patterns;
}

std::optional<std::string_view> StarOf(std::string_view form, std::string_view name) {
  const size_t star = form.find('*');
  const std::string_view before = form.substr(0, star), after = form.substr(star + 1);
  if (name.size() <= before.size() + after.size()) return std::nullopt;
  if (!name.starts_with(before) || !name.ends_with(after)) return std::nullopt;
  return name.substr(before.size(), name.size() - before.size() - after.size());
}

}  // namespace aicf
