#include "runtime/device_choice.h"

#include <charconv>

namespace aicf {
namespace {

/// What a device name means. ordinal -1: the CPU.
Result<int> ParseDevice(std::string_view device, bool cuda_artifact) {
  if (device.empty()) return cuda_artifact ? 0 : -1;
  if (device == "cpu") return -1;
  if (device == "cuda") return 0;
  constexpr std::string_view kPrefix = "cuda:";
  if (device.starts_with(kPrefix)) {
    const std::string_view digits = device.substr(kPrefix.size());
    unsigned ordinal = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
    if (error == std::errc() && end == digits.data() + digits.size() && ordinal < 1024) {
      return static_cast<int>(ordinal);
    }
  }
  return Error(Code::kInvalidArgument, "device '", device, "': expected 'cpu' or 'cuda:N'");
}

}  // namespace

Result<int> ChooseDevice(const Program& program, std::string_view device) {
  const bool cuda_artifact = program.target().starts_with("cuda");
  AICF_ASSIGN_OR_RETURN(const int ordinal, ParseDevice(device, cuda_artifact));
  if (ordinal < 0 || cuda_artifact) return ordinal;
  return Error(Code::kDevice, "the artifact is compiled for ", program.target(),
               " and cannot run on '", device,
               "'; compile the model with aicf-compile --target=cuda, or use device 'cpu'");
}

}  // namespace aicf
