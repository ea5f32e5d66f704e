#include "runtime/cuda/modules.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "runtime/cuda/cubin.h"

namespace aicf::cuda {
namespace {

Status ExplainLoad(const Driver& driver, CUresult result, const schema::Image& image, size_t index,
                   const char* log) {
  int version = 0;
  (void)driver.DriverGetVersion(&version);
  const Status status = driver.Check(result, StrCat("loading image ", index));
  if (status.ok()) return status;
  const std::string_view detail(log);
  // Bytes that are no device code are the artifact's fault, code for another device is not.
  const Code code = result == kCudaInvalidImage ? Code::kBadArtifact : status.code();
  return Error(code, status.message(), "; it was compiled for ", image.arch, " by ", image.compiler,
               ", the driver is for CUDA ", VersionText(version), detail.empty() ? "" : ": ",
               detail);
}

Result<Module> LoadImage(const std::shared_ptr<const Device>& device,
                         const schema::Artifact& artifact, size_t index) {
  const schema::Image& image = artifact.program().images[index];
  AICF_RETURN_IF_ERROR(device->CheckArch(image.arch).WithContext(StrCat("image ", index)));
  // A copy of its own: the driver reads the image as ELF structures, which need alignment.
  const std::span<const std::byte> bytes = artifact.images().subspan(image.offset, image.bytes);
  const std::vector<std::byte> code(bytes.begin(), bytes.end());
  AICF_RETURN_IF_ERROR(CheckCubin(code).WithContext(StrCat("image ", index)));
  char log[1024] = {};
  CUjit_option options[] = {kJitErrorLogBuffer, kJitErrorLogBufferBytes};
  void* values[] = {log, reinterpret_cast<void*>(sizeof(log) - 1)};
  CUmodule module = nullptr;
  const CUresult result =
      device->driver().ModuleLoadDataEx(&module, code.data(), 2u, options, values);
  AICF_RETURN_IF_ERROR(ExplainLoad(device->driver(), result, image, index, log));
  return Module(device, module);
}

/// Checks that the kernel takes exactly the step's addresses (inputs, outputs, workspace) and its
/// tensor maps. The compiler promises this of its own code; it is checked because with a wrong
/// count a launch would read past the parameters. A map may begin at any offset after what precedes
/// it, since the device compiler aligns maps in its own way.
Status CheckParameters(const Driver& driver, CUfunction function, const schema::Step& step) {
  const size_t addresses = step.inputs.size() + step.outputs.size() + 1;
  const size_t expected = addresses + step.tensor_maps.size();
  size_t count = 0;
  size_t end = 0;  // of the parameters so far
  size_t offset = 0;
  size_t bytes = 0;
  while (count <= expected) {
    const CUresult result = driver.FuncGetParamInfo(function, count, &offset, &bytes);
    if (result == kCudaInvalidValue) break;  // there is no such parameter
    AICF_CUDA_CHECK(driver, StrCat("reading the parameters of ", step.symbol), result);
    const bool map = count >= addresses;
    const bool right = map ? offset >= end && bytes == sizeof(CUtensorMap)
                           : offset == end && bytes == sizeof(CUdeviceptr);
    if (count < expected && !right) {
      return Error(Code::kBadArtifact, "parameter ", count, " of ", step.symbol, " has ", bytes,
                   " bytes at offset ", offset, ", expected ", map ? "a tensor map" : "an address");
    }
    end = offset + bytes;
    ++count;
  }
  if (count == expected) return OkStatus();
  return Error(Code::kBadArtifact, step.symbol, " takes ", count, " parameters, expected ",
               addresses, " addresses and ", step.tensor_maps.size(), " tensor maps");
}

Status CheckFunction(const Device& device, CUfunction function, const schema::Step& step) {
  const Driver& driver = device.driver();
  AICF_RETURN_IF_ERROR(device.CheckLaunch(step.launch));
  AICF_RETURN_IF_ERROR(CheckParameters(driver, function, step));
  int max_threads = 0;
  int static_bytes = 0;
  AICF_CUDA_CHECK(driver, "reading a kernel's thread limit",
                  driver.FuncGetAttribute(&max_threads, kFuncMaxThreadsPerBlock, function));
  AICF_CUDA_CHECK(driver, "reading a kernel's shared memory",
                  driver.FuncGetAttribute(&static_bytes, kFuncStaticSharedBytes, function));
  const abi::LaunchConfig& launch = step.launch;
  const uint64_t threads = uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
  if (threads > static_cast<uint64_t>(max_threads)) {
    return Error(Code::kBadArtifact, step.symbol, " is launched with ", threads,
                 " threads per block but was compiled for at most ", max_threads);
  }
  const uint64_t shared =
      uint64_t{launch.dynamic_shared_bytes} + static_cast<uint64_t>(static_bytes);
  if (shared > static_cast<uint64_t>(device.limits().max_shared_bytes)) {
    return Error(Code::kDevice, step.symbol, " needs ", shared, " bytes of shared memory but ",
                 device.name(), " has ", device.limits().max_shared_bytes, " per block");
  }
  // Clusters of more than 8 blocks are allowed only on request.
  const uint64_t cluster = uint64_t{launch.cluster[0]} * launch.cluster[1] * launch.cluster[2];
  if (cluster > 8) {
    AICF_CUDA_CHECK(driver, "granting a kernel a larger cluster",
                    driver.FuncSetAttribute(function, kFuncNonPortableClusterSize, 1));
  }
  if (launch.dynamic_shared_bytes > 0) {
    AICF_CUDA_CHECK(driver, "granting a kernel shared memory",
                    driver.FuncSetAttribute(function, kFuncMaxDynamicSharedBytes,
                                            static_cast<int>(launch.dynamic_shared_bytes)));
  }
  return OkStatus();
}

Result<CUfunction> FindFunction(const Device& device, CUmodule module, const schema::Step& step) {
  CUfunction function = nullptr;
  const CUresult found = device.driver().ModuleGetFunction(&function, module, step.symbol.c_str());
  if (found == kCudaNotFound) {
    return Error(Code::kBadArtifact, "image ", step.image, " has no function ", step.symbol);
  }
  AICF_RETURN_IF_ERROR(device.driver().Check(found, StrCat("finding ", step.symbol)));
  AICF_RETURN_IF_ERROR(CheckFunction(device, function, step));
  return function;
}

}  // namespace

Result<Modules> Modules::Load(const std::shared_ptr<const Device>& device,
                              const schema::Artifact& artifact) {
  const schema::Program& program = artifact.program();
  const auto needs_image = [](const schema::Step& s) { return s.image < 0 && !s.symbol.empty(); };
  if (std::ranges::any_of(program.steps, needs_image)) {
    return Error(
        Code::kDevice,
        "the artifact holds no device code (it was compiled with --no-images); device 'cpu' "
        "executes it on the reference kernels");
  }
  Modules loaded;
  for (size_t i = 0; i < program.images.size(); ++i) {
    AICF_ASSIGN_OR_RETURN(Module module, LoadImage(device, artifact, i));
    loaded.modules_.push_back(std::move(module));
  }
  if (program.guard_image >= 0) {
    const CUmodule module = loaded.modules_[static_cast<size_t>(program.guard_image)].get();
    AICF_CUDA_CHECK(device->driver(), StrCat("finding ", abi::kGuardSymbol),
                    device->driver().ModuleGetFunction(&loaded.guard_, module, abi::kGuardSymbol));
  }
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const schema::Step& step = program.steps[i];
    if (step.image < 0) {
      loaded.functions_.push_back(nullptr);
      continue;
    }
    const CUmodule module = loaded.modules_[static_cast<size_t>(step.image)].get();
    Result<CUfunction> function = FindFunction(*device, module, step);
    if (!function.ok()) {
      return function.status().WithContext(StrCat("step ", i, " (", step.kernel, ")"));
    }
    loaded.functions_.push_back(*function);
  }
  return loaded;
}

}  // namespace aicf::cuda
