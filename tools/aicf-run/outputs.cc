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

/// A file name for a tensor that is not yet in `taken`. Slashes and control bytes are replaced, and
/// the length is limited.
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

namespace {

/// Writes tensors to files one by one, and at the end a list of them.
class Exporter {
 public:
  explicit Exporter(const std::string& directory) : directory_(directory) {}

  Status Open() const {
    if (mkdir(directory_.c_str(), 0777) == 0 || errno == EEXIST) return OkStatus();
    return Error(Code::kIo, directory_, ": ", std::strerror(errno));
  }
  Status Add(const TensorInfo& info, const std::vector<std::byte>& data) {
    const std::string file = FileNameFor(info.name, taken_);
    AICF_RETURN_IF_ERROR(WriteFile(StrCat(directory_, "/", file),
                                   SerializeNpy(info.dtype, info.shape, data), Existing::kReplace));
    nlohmann::ordered_json entry;
    entry["name"] = info.name;
    entry["dtype"] = DTypeName(info.dtype);
    entry["shape"] = std::vector<int64_t>(info.shape.begin(), info.shape.end());
    entry["file"] = file;
    list_.push_back(std::move(entry));
    return OkStatus();
  }
  Status WriteList(std::string_view name) const {
    const std::string text =
        list_.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    return WriteFile(StrCat(directory_, "/", name), text, Existing::kReplace);
  }

 private:
  const std::string directory_;
  std::set<std::string> taken_;
  nlohmann::ordered_json list_ = nlohmann::ordered_json::array();
};

}  // namespace

Status ExportOutputs(Session& session, const std::vector<TensorInfo>& outputs,
                     const std::string& directory) {
  Exporter exporter(directory);
  AICF_RETURN_IF_ERROR(exporter.Open());
  for (const TensorInfo& output : outputs) {
    AICF_ASSIGN_OR_RETURN(const OutputData got, ReadOutput(session, output));
    AICF_RETURN_IF_ERROR(exporter.Add(got.info, got.data));
  }
  return exporter.WriteList("outputs.json");
}

Status ExportStates(Session& session, const std::string& directory) {
  Exporter exporter(directory);
  AICF_RETURN_IF_ERROR(exporter.Open());
  for (const TensorInfo& state : session.states()) {
    std::vector<std::byte> data(state.bytes);
    AICF_RETURN_IF_ERROR(
        session.ExportState(state.name, {state.dtype, state.shape, data.data(), data.size()}));
    AICF_RETURN_IF_ERROR(exporter.Add(state, data));
  }
  return exporter.WriteList("states.json");
}

}  // namespace aicf::tools
