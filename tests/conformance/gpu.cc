#include "tests/conformance/gpu.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>

namespace aicf::conformance {

// CUresult is an int; handles are pointers; CUdeviceptr is 64 bits.
struct Gpu::Api {
  int (*Init)(unsigned);
  int (*DeviceGet)(int*, int);
  int (*DeviceGetName)(char*, int, int);
  int (*DeviceGetAttribute)(int*, int, int);
  int (*CtxRetain)(void**, int);
  int (*CtxSetCurrent)(void*);
  int (*MemAlloc)(uint64_t*, size_t);
  int (*MemFree)(uint64_t);
  int (*HtoD)(uint64_t, const void*, size_t);
  int (*DtoH)(void*, uint64_t, size_t);
  int (*MemsetD8)(uint64_t, unsigned char, size_t);
  int (*ModuleLoadData)(void**, const void*);
  int (*ModuleUnload)(void*);
  int (*ModuleGetFunction)(void**, void*, const char*);
  int (*FuncSetAttribute)(void*, int, int);
  int (*LaunchKernelEx)(const void*, void*, void**, void**);
  int (*CtxSynchronize)();
  int (*StreamCreate)(void**, unsigned);
  int (*StreamDestroy)(void*);
  int (*EventCreate)(void**, unsigned);
  int (*EventRecord)(void*, void*);
  int (*EventElapsedTime)(float*, void*, void*);
  int (*EventDestroy)(void*);
  int (*GetErrorString)(int, const char**);
};

namespace {

// As cuda.h lays them out.
struct Attribute {
  uint32_t id = 0, pad = 0;
  uint32_t value[16] = {};
};
struct Config {
  uint32_t grid[3], block[3];
  uint32_t shared = 0;
  void* stream = nullptr;
  Attribute* attributes = nullptr;
  uint32_t count = 0;
};

template <class F>
bool Bind(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

Result<std::shared_ptr<Gpu>> Gpu::Open() {
  std::shared_ptr<Gpu> gpu(new Gpu());
  gpu->library_ = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (gpu->library_ == nullptr) return Error(Code::kDevice, "no CUDA driver (libcuda.so.1) here");
  gpu->api_ = std::make_unique<Api>();
  Api& a = *gpu->api_;
  void* l = gpu->library_;
  const bool bound =
      Bind(l, "cuInit", a.Init) && Bind(l, "cuDeviceGet", a.DeviceGet) &&
      Bind(l, "cuDeviceGetName", a.DeviceGetName) &&
      Bind(l, "cuDeviceGetAttribute", a.DeviceGetAttribute) &&
      Bind(l, "cuDevicePrimaryCtxRetain", a.CtxRetain) &&
      Bind(l, "cuCtxSetCurrent", a.CtxSetCurrent) && Bind(l, "cuMemAlloc_v2", a.MemAlloc) &&
      Bind(l, "cuMemFree_v2", a.MemFree) && Bind(l, "cuMemcpyHtoD_v2", a.HtoD) &&
      Bind(l, "cuMemcpyDtoH_v2", a.DtoH) && Bind(l, "cuMemsetD8_v2", a.MemsetD8) &&
      Bind(l, "cuModuleLoadData", a.ModuleLoadData) && Bind(l, "cuModuleUnload", a.ModuleUnload) &&
      Bind(l, "cuModuleGetFunction", a.ModuleGetFunction) &&
      Bind(l, "cuFuncSetAttribute", a.FuncSetAttribute) &&
      Bind(l, "cuLaunchKernelEx", a.LaunchKernelEx) &&
      Bind(l, "cuCtxSynchronize", a.CtxSynchronize) && Bind(l, "cuEventCreate", a.EventCreate) &&
      Bind(l, "cuStreamCreate", a.StreamCreate) && Bind(l, "cuStreamDestroy_v2", a.StreamDestroy) &&
      Bind(l, "cuEventRecord", a.EventRecord) &&
      Bind(l, "cuEventElapsedTime", a.EventElapsedTime) &&
      Bind(l, "cuEventDestroy_v2", a.EventDestroy) && Bind(l, "cuGetErrorString", a.GetErrorString);
  if (!bound) return Error(Code::kDevice, "the CUDA driver is too old");
  AICF_RETURN_IF_ERROR(gpu->Check(a.Init(0), "starting the driver"));
  int device = 0, major = 0;
  char name[128] = {};
  AICF_RETURN_IF_ERROR(gpu->Check(a.DeviceGet(&device, 0), "finding a GPU"));
  AICF_RETURN_IF_ERROR(
      gpu->Check(a.DeviceGetName(name, sizeof name - 1, device), "naming the GPU"));
  AICF_RETURN_IF_ERROR(gpu->Check(a.DeviceGetAttribute(&major, 75, device), "reading the GPU"));
  if (major != 9) return Error(Code::kDevice, name, " is no GPU of compute capability 9.0");
  void* context = nullptr;
  AICF_RETURN_IF_ERROR(gpu->Check(a.CtxRetain(&context, device), "making a context"));
  AICF_RETURN_IF_ERROR(gpu->Check(a.CtxSetCurrent(context), "making a context"));
  gpu->name_ = name;
  return gpu;
}

Gpu::~Gpu() {
  if (api_ == nullptr || api_->MemFree == nullptr) return;
  for (uint64_t address : allocations_) api_->MemFree(address);
}

Status Gpu::Check(int result, std::string_view what) const {
  if (result == 0) return OkStatus();
  const char* text = nullptr;
  api_->GetErrorString(result, &text);
  return Error(Code::kDevice, what, ": ", text == nullptr ? "unknown error" : text, " (", result,
               ")");
}

Result<uint64_t> Gpu::Allocate(size_t bytes) {
  uint64_t address = 0;
  AICF_RETURN_IF_ERROR(Check(api_->MemAlloc(&address, std::max<size_t>(bytes, 1)), "allocating"));
  allocations_.push_back(address);
  return address;
}

Status Gpu::Free(uint64_t address) {
  std::erase(allocations_, address);
  return Check(api_->MemFree(address), "freeing");
}

Status Gpu::Upload(uint64_t to, const void* from, size_t bytes) {
  return bytes == 0 ? OkStatus() : Check(api_->HtoD(to, from, bytes), "uploading");
}
Status Gpu::Download(void* to, uint64_t from, size_t bytes) {
  return bytes == 0 ? OkStatus() : Check(api_->DtoH(to, from, bytes), "downloading");
}
Status Gpu::Fill(uint64_t to, unsigned char value, size_t bytes) {
  return bytes == 0 ? OkStatus() : Check(api_->MemsetD8(to, value, bytes), "filling");
}

Status Gpu::Run(const std::vector<std::byte>& cubin, const std::string& symbol,
                const abi::LaunchConfig& launch, const std::vector<uint64_t>& addresses, int times,
                double* microseconds, const std::vector<cuda::CUtensorMap>& maps, bool early) {
  const Api& a = *api_;
  void *module = nullptr, *function = nullptr;
  AICF_RETURN_IF_ERROR(Check(a.ModuleLoadData(&module, cubin.data()), "loading the cubin"));
  AICF_RETURN_IF_ERROR(Check(a.ModuleGetFunction(&function, module, symbol.c_str()), symbol));
  Config config{};
  for (int d = 0; d < 3; ++d) {
    config.grid[d] = launch.grid[d];
    config.block[d] = launch.block[d];
  }
  config.shared = launch.dynamic_shared_bytes;
  if (config.shared > 0) {
    const int bytes = static_cast<int>(config.shared);
    AICF_RETURN_IF_ERROR(Check(a.FuncSetAttribute(function, 8, bytes), "granting shared memory"));
  }
  constexpr uint32_t kClusterAttribute = 4, kProgrammaticAttribute = 6;
  Attribute attributes[2];
  config.attributes = attributes;
  if (launch.cluster[0] > 1) {
    Attribute& cluster = attributes[config.count++];
    cluster.id = kClusterAttribute;
    std::copy_n(launch.cluster, 3, cluster.value);
  }
  if (launch.cluster[0] > 8) {
    AICF_RETURN_IF_ERROR(Check(a.FuncSetAttribute(function, 14, 1), "allowing a large cluster"));
  }
  if (early) {
    AICF_RETURN_IF_ERROR(Check(a.StreamCreate(&config.stream, 1), "making a stream"));
    Attribute& programmatic = attributes[config.count++];
    programmatic.id = kProgrammaticAttribute;
    programmatic.value[0] = 1;
  }
  std::vector<uint64_t> values = addresses;
  std::vector<void*> parameters;
  for (uint64_t& v : values) parameters.push_back(&v);
  for (const cuda::CUtensorMap& m : maps) parameters.push_back(const_cast<cuda::CUtensorMap*>(&m));
  void* events[2] = {};
  for (void*& e : events) AICF_RETURN_IF_ERROR(Check(a.EventCreate(&e, 0), "making an event"));
  // The first launch is not timed: it loads the code and warms the cache.
  Status status =
      Check(a.LaunchKernelEx(&config, function, parameters.data(), nullptr), "launching");
  a.EventRecord(events[0], config.stream);
  for (int t = 1; t < times && status.ok(); ++t) {
    status = Check(a.LaunchKernelEx(&config, function, parameters.data(), nullptr), "launching");
  }
  a.EventRecord(events[1], config.stream);
  if (status.ok()) status = Check(a.CtxSynchronize(), "running");
  float ms = 0;
  if (status.ok() && times > 1 && microseconds != nullptr &&
      a.EventElapsedTime(&ms, events[0], events[1]) == 0) {
    *microseconds = 1000.0 * static_cast<double>(ms) / (times - 1);
  }
  for (void* e : events) a.EventDestroy(e);
  if (config.stream != nullptr) a.StreamDestroy(config.stream);
  a.ModuleUnload(module);
  return status;
}

}  // namespace aicf::conformance
