#include "tools/common/golden_text.h"

#include <algorithm>

#include "schema/golden.h"

namespace aicf::tools {

Result<std::string> GoldenText(const schema::Artifact& artifact) {
  const auto section = artifact.bytes(schema::SectionKind::kGolden);
  if (section.empty()) return std::string();
  AICF_ASSIGN_OR_RETURN(const schema::Golden golden, schema::ParseGolden(section));
  const size_t count = golden.samples.size();
  const auto given = static_cast<size_t>(std::ranges::count(
      golden.samples, schema::GoldenOrigin::kGiven, &schema::GoldenSample::origin));
  std::string text = StrCat(count, count == 1 ? " sample, outputs " : " samples, outputs ");
  if (given == count) return text + "given";
  if (given == 0) return text + "computed by the reference kernels";
  return StrCat(text, "given for ", given, ", computed for ", count - given);
}

}  // namespace aicf::tools
