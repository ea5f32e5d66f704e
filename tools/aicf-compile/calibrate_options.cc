#include "tools/aicf-compile/calibrate_options.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "tools/common/npy.h"
#include "tools/common/text.h"

namespace aicf::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFlag = "--calibrate";

Result<ir::Tensor> ReadTensor(const std::string& path) {
  AICF_ASSIGN_OR_RETURN(NpyArray array, ReadNpy(path));
  return ir::Tensor::Own(array.dtype, array.shape, std::move(array.data));
}

/// Reads a sample "name:file.npy,...". The last colon of an item ends the name, because tensor
/// names may hold colons.
Result<CalibrationSample> ReadCalibrationSample(const std::string& value) {
  CalibrationSample sample;
  AICF_ASSIGN_OR_RETURN(const std::vector<std::string> items, SplitItems(kFlag, {value}));
  for (const std::string& item : items) {
    const size_t colon = item.rfind(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == item.size()) {
      return Error(Code::kInvalidArgument, kFlag, ": expected a folder or name:file.npy, got '",
                   Shorten(item, 100), "'");
    }
    const std::string path = item.substr(colon + 1);
    AICF_ASSIGN_OR_RETURN(ir::Tensor tensor, ReadTensor(path));
    if (!sample.tensors.emplace(item.substr(0, colon), std::move(tensor)).second) {
      return Error(Code::kInvalidArgument, kFlag, ": '", item.substr(0, colon),
                   "' is given twice in one sample");
    }
    sample.name += sample.name.empty() ? path : "," + path;
  }
  return sample;
}

/// The .npy files in a folder, or with `folders` its subfolders, sorted by name.
Result<std::vector<fs::path>> EntriesOf(const fs::path& folder, bool folders) {
  std::vector<fs::path> found;
  std::error_code error;
  fs::directory_iterator it(folder, error), end;
  while (error == std::errc::interrupted) it = fs::directory_iterator(folder, error);
  for (; !error && it != end; it.increment(error)) {
    const bool wanted = folders ? it->is_directory(error) : it->path().extension() == ".npy";
    if (error) break;
    if (wanted) found.push_back(it->path());
  }
  if (error) return Error(Code::kIo, folder.string(), ": ", error.message());
  std::ranges::sort(found);
  return found;
}

/// Reads a sample that is a folder with one file per input, named after the input.
Result<CalibrationSample> ReadFolderSample(const fs::path& folder) {
  CalibrationSample sample{folder.string(), {}};
  AICF_ASSIGN_OR_RETURN(const std::vector<fs::path> files, EntriesOf(folder, false));
  for (const fs::path& file : files) {
    AICF_ASSIGN_OR_RETURN(ir::Tensor tensor, ReadTensor(file.string()));
    sample.tensors.emplace(file.stem().string(), std::move(tensor));
  }
  return sample;
}

Status ReadFolder(const fs::path& folder, std::vector<CalibrationSample>* samples) {
  AICF_ASSIGN_OR_RETURN(const std::vector<fs::path> files, EntriesOf(folder, false));
  for (const fs::path& file : files) {
    AICF_ASSIGN_OR_RETURN(ir::Tensor tensor, ReadTensor(file.string()));
    CalibrationSample sample{file.string(), {}};
    sample.tensors.emplace("", std::move(tensor));
    samples->push_back(std::move(sample));
  }
  if (!files.empty()) return OkStatus();
  AICF_ASSIGN_OR_RETURN(const std::vector<fs::path> folders, EntriesOf(folder, true));
  for (const fs::path& one : folders) {
    AICF_ASSIGN_OR_RETURN(CalibrationSample sample, ReadFolderSample(one));
    samples->push_back(std::move(sample));
  }
  if (!folders.empty()) return OkStatus();
  return Error(Code::kInvalidArgument, kFlag, ": ", folder.string(),
               " holds neither .npy files nor folders of them");
}

Status CheckUse(const CalibrateFlags& flags, const CompileOptions& options) {
  if (flags.samples.empty() && (!flags.method.empty() || !flags.max_error.empty())) {
    return Error(Code::kInvalidArgument,
                 flags.method.empty() ? "--max-error" : "--calibrate-method", " needs ", kFlag,
                 ": what it decides is measured on samples");
  }
  if (!flags.samples.empty() && !IsQuantized(options.precision)) {
    return Error(Code::kInvalidArgument, kFlag, " needs --precision=int8 or --precision=fp8");
  }
  if (flags.samples.empty() && IsQuantized(options.precision) &&
      options.calibration.precision != options.precision) {
    return Error(Code::kInvalidArgument, "--precision=", PrecisionName(options.precision),
                 " needs samples of the inputs: ", kFlag, "=DIR or ", kFlag, "=NAME:FILE.npy,...");
  }
  return OkStatus();
}

}  // namespace

void AddCalibrateFlags(CommandLine& line, CalibrateFlags& flags) {
  const std::string group = "Quantisation";
  line.AddList("--calibrate", flags.samples,
               "DIR or NAME:FILE.npy,...  samples of the inputs for --precision=int8 and\n"
               "fp8: a folder of .npy files for a model with one input, of folders with\n"
               "a file for each input, named after it, for others; or one sample. A\n"
               "file may hold several samples along its first axis; repeats")
      ->group(group);
  line.AddValue("--calibrate-method", flags.method,
                "METHOD  how far codes reach: minmax, to the largest magnitude of the\n"
                "samples; percentile, one of 10,000 elements lies beyond; entropy, the\n"
                "least Kullback-Leibler divergence; default minmax")
      ->group(group);
  line.AddValue("--max-error", flags.max_error,
                "X  products stay in floats, those that change most first, until the\n"
                "error of the outputs on the samples is at most X: the root mean square\n"
                "of the difference from the float model over that of its outputs, and\n"
                "of several outputs the largest; default 0.1")
      ->group(group);
}

Status ReadCalibrate(const CalibrateFlags& flags, CompileOptions* options) {
  AICF_RETURN_IF_ERROR(CheckUse(flags, *options));
  for (const std::string& value : flags.samples) {
    std::error_code error;
    const fs::file_type type = fs::status(value, error).type();
    if (type == fs::file_type::none) return Error(Code::kIo, value, ": ", error.message());
    if (type == fs::file_type::directory) {
      AICF_RETURN_IF_ERROR(ReadFolder(value, &options->calibrate.samples));
      continue;
    }
    AICF_ASSIGN_OR_RETURN(CalibrationSample sample, ReadCalibrationSample(value));
    options->calibrate.samples.push_back(std::move(sample));
  }
  if (!flags.method.empty()) {
    AICF_ASSIGN_OR_RETURN(options->calibrate.method, ParseRangeMethod(flags.method));
  }
  if (flags.max_error.empty()) return OkStatus();
  AICF_ASSIGN_OR_RETURN(options->calibrate.max_error,
                        ParseReal("--max-error", flags.max_error, 0, 1e300));
  return OkStatus();
}

}  // namespace aicf::tools
