#include <errno.h>
#include <sys/stat.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "tools/aicf-run/tensors.h"
#include "tools/common/files.h"
#include "tools/common/npy.h"
#include "tools/common/output.h"

namespace aicf::tools {
namespace {

/// A file name for a tensor name: slashes and control bytes replaced, length limited, not yet
/// taken.
std::string FileNameFor(const std::string& tensor, std::set<std::string>& taken) {
  std::string stem = tensor.substr(0, 200);
  for (char& c : stem) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '_' || c == '-' || c == '.';
    if (!plain) c = '_';
  }
  if (stem.empty() || stem.front() == '.') stem.insert(0, "_");
  std::string name = stem + ".npy";
  for (int n = 1; !taken.insert(name).second; ++n) name = StrCat(stem, "-", n, ".npy");
  return name;
}

}  // namespace

std::string CheckResult::Reason(const Tolerance& tolerance) const {
  if (shape == expected) return "is outside " + tolerance.ToString();
  return StrCat("has another shape: expected shape ", ToString(expected), ", found ",
                ToString(shape));
}

Result<std::vector<CheckResult>> CheckOutputs(Session& session,
                                              const std::vector<Reference>& references,
                                              const Tolerance& tolerance) {
  std::vector<CheckResult> results;
  for (const Reference& reference : references) {
    const TensorInfo& info = reference.info;
    AICF_ASSIGN_OR_RETURN(const OutputData got, ReadOutput(session, info));
    CheckResult result{info.name, got.info.shape, reference.shape, {}};
    if (result.shape == result.expected) {
      result.comparison =
          Compare({info.dtype, got.data}, {reference.dtype, reference.data}, tolerance);
    }
    results.push_back(std::move(result));
  }
  return results;
}

Status ExportOutputs(Session& session, const std::vector<TensorInfo>& outputs,
                     const std::string& directory) {
  if (mkdir(directory.c_str(), 0777) != 0 && errno != EEXIST) {
    return Error(Code::kIo, directory, ": ", std::strerror(errno));
  }
  auto list = nlohmann::ordered_json::array();
  std::set<std::string> taken;
  for (const TensorInfo& output : outputs) {
    AICF_ASSIGN_OR_RETURN(const OutputData got, ReadOutput(session, output));
    const TensorInfo& info = got.info;
    const std::string file = FileNameFor(info.name, taken);
    AICF_RETURN_IF_ERROR(WriteFile(StrCat(directory, "/", file),
                                   SerializeNpy(info.dtype, info.shape, got.data), Existing::kReplace));
    nlohmann::ordered_json entry;
    entry["name"] = info.name;
    entry["dtype"] = DTypeName(info.dtype);
    entry["shape"] = std::vector<int64_t>(info.shape.begin(), info.shape.end());
    entry["file"] = file;
    list.push_back(std::move(entry));
  }
  const std::string text =
      list.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  return WriteFile(directory + "/outputs.json", text, Existing::kReplace);
}

}  // namespace aicf::tools
