#include "tools/aicf-compile/golden.h"

#include <utility>

#include "tools/common/npy.h"
#include "tools/common/text.h"

namespace aicf::tools {
namespace {

/// Reads a sample "name:file.npy,...". The last colon of an item ends the name, because tensor
/// names may hold colons.
Result<GoldenSpec> ReadSample(const std::string& value) {
  GoldenSpec spec;
  AICF_ASSIGN_OR_RETURN(const std::vector<std::string> items, SplitItems("--golden", {value}));
  for (const std::string& item : items) {
    const size_t colon = item.rfind(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == item.size()) {
      return Error(Code::kInvalidArgument, "--golden: expected name:file.npy, got '",
                   Shorten(item, 100), "'");
    }
    AICF_ASSIGN_OR_RETURN(NpyArray array, ReadNpy(item.substr(colon + 1)));
    ir::Tensor tensor = ir::Tensor::Own(array.dtype, array.shape, std::move(array.data));
    if (!spec.tensors.emplace(item.substr(0, colon), std::move(tensor)).second) {
      return Error(Code::kInvalidArgument, "--golden: '", item.substr(0, colon),
                   "' is given twice in one sample");
    }
  }
  return spec;
}

Status SetTolerance(std::string_view flag, const std::string& text, std::optional<double>* out) {
  if (text.empty()) return OkStatus();
  AICF_ASSIGN_OR_RETURN(*out, ParseReal(flag, text, 0, 1e300));
  return OkStatus();
}

}  // namespace

void AddGoldenFlags(CommandLine& line, GoldenFlags& flags) {
  const std::string group = "Acceptance test";
  line.AddList("--golden", flags.golden,
               "NAME:FILE.npy,...  a sample for the artifact to carry: all inputs,\n"
               "metas that are not zero, and the outputs expected of them; without\n"
               "outputs the reference kernels compute them; repeats, each is one\n"
               "sample")
      ->group(group);
  line.AddValue("--golden-atol", flags.atol,
                "X  absolute tolerance of the samples; default 1e-3 and\n"
                "--golden-rtol=1e-3 where none of the three is given")
      ->group(group);
  line.AddValue("--golden-rtol", flags.rtol, "X  tolerance relative to the expected element")
      ->group(group);
  line.AddValue("--golden-rel", flags.rel,
                "X  tolerance of the largest error, relative to the\n"
                "largest expected element")
      ->group(group);
}

Status ReadGolden(const GoldenFlags& flags, CompileOptions* options) {
  GoldenSpec tolerance;
  AICF_RETURN_IF_ERROR(SetTolerance("--golden-atol", flags.atol, &tolerance.atol));
  AICF_RETURN_IF_ERROR(SetTolerance("--golden-rtol", flags.rtol, &tolerance.rtol));
  AICF_RETURN_IF_ERROR(SetTolerance("--golden-rel", flags.rel, &tolerance.rel));
  if (flags.golden.empty() && (tolerance.atol || tolerance.rtol || tolerance.rel)) {
    return Status(Code::kInvalidArgument,
                  "--golden-atol, --golden-rtol and --golden-rel need --golden");
  }
  for (const std::string& value : flags.golden) {
    AICF_ASSIGN_OR_RETURN(GoldenSpec spec, ReadSample(value));
    spec.atol = tolerance.atol;
    spec.rtol = tolerance.rtol;
    spec.rel = tolerance.rel;
    options->golden.push_back(std::move(spec));
  }
  return OkStatus();
}

}  // namespace aicf::tools
