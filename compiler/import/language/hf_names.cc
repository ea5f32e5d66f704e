#include "compiler/import/language/hf_names.h"

#include <algorithm>

#include "compiler/import/language/model.h"

namespace aicf::language {
namespace {

struct NameRow {
  std::string_view families, name, role;
  bool turned;
};

constexpr NameRow kNames[] = {
#define AICF_HF_NAME(families, name, role, turned) {families, name, role, turned},
#include "compiler/import/language/hf_names.def"
#undef AICF_HF_NAME
};

bool IsOf(std::string_view families, std::string_view architecture) {
  const bool encoder = architecture == "bert", gpt2 = architecture == "gpt2";
  const bool gemma2 = architecture == "gemma2" || architecture == "gemma3";
  if (families == "decoder") return !encoder && !gpt2;
  if (families == "plain") return !encoder && !gpt2 && !gemma2;
  if (families == "gemma2") return gemma2;
  return families == architecture;
}

// Matches a name against a pattern. Gives the text in the place of the star, which is the number of
// a layer, and "" where there is no star or the pattern ends in "**"; nullopt where the name does
// not match.
std::optional<std::string_view> Starred(std::string_view pattern, std::string_view name) {
  if (pattern.ends_with("**")) {
    const bool begins = name.starts_with(pattern.substr(0, pattern.size() - 2));
    return begins ? std::optional(std::string_view()) : std::nullopt;
  }
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) {
    return pattern == name ? std::optional(std::string_view()) : std::nullopt;
  }
  const std::string_view before = pattern.substr(0, star), after = pattern.substr(star + 1);
  if (name.size() <= before.size() + after.size() || !name.starts_with(before) ||
      !name.ends_with(after)) {
    return std::nullopt;
  }
  const std::string_view text =
      name.substr(before.size(), name.size() - before.size() - after.size());
  return LayerNumber(text) ? std::optional(text) : std::nullopt;
}

// Takes the suffix off a name. Gives ".bias" for a bias, else "". The first files of BERT call the
// weight and the bias of a norm "gamma" and "beta".
std::string TakeSuffix(std::string_view& name) {
  for (const std::string_view suffix : {".weight", ".gamma", ".bias", ".beta"}) {
    if (!name.ends_with(suffix)) continue;
    name.remove_suffix(suffix.size());
    return suffix[1] == 'b' ? ".bias" : "";
  }
  return "";
}

}  // namespace

std::optional<HfRole> RoleOfHfName(std::string_view architecture, std::string_view name) {
  for (std::string_view prefix :
       {"language_model.", "model.", "language_model.", "transformer.", "bert."}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  const std::string suffix = TakeSuffix(name);
  for (const NameRow& row : kNames) {
    if (!IsOf(row.families, architecture)) continue;
    const auto layer = Starred(row.name, name);
    if (!layer) continue;
    HfRole out{std::string(row.role), row.turned && suffix.empty(),
               LayerNumber(*layer).value_or(0)};
    const size_t star = out.role.find('*');
    if (star != std::string::npos) out.role.replace(star, 1, *layer);
    if (!out.role.empty()) out.role += suffix;
    return out;
  }
  return std::nullopt;
}

}  // namespace aicf::language
