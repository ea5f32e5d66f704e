#include "runtime/cuda/cublaslt.h"

#include <dlfcn.h>

#include <string>
#include <utility>

namespace aicf::cuda {
namespace {

constexpr const char* kLibrary = "libcublasLt.so.13";
/// Where NVIDIA's installers put it without telling the loader.
constexpr const char* kUsualPlace = "/usr/local/cuda/lib64/libcublasLt.so.13";
constexpr int kAllocationFailed = 3;  // CUBLAS_STATUS_ALLOC_FAILED

struct LibrarySymbol {
  const char* name;
  void** slot;
};

Status ResolveLibrary(void* library, CublasLtApi& api) {
  const LibrarySymbol symbols[] = {
#define AICF_CUBLASLT_FN(name, symbol, result, params) \
  {symbol, reinterpret_cast<void**>(&api.name)},
#include "runtime/cuda/cublaslt_functions.def"
#undef AICF_CUBLASLT_FN
  };
  for (const LibrarySymbol& symbol : symbols) {
    *symbol.slot = dlsym(library, symbol.name);
    if (*symbol.slot == nullptr) return Error(Code::kDevice, kLibrary, " lacks ", symbol.name);
  }
  return OkStatus();
}

Status Missing(const std::string& reason) {
  return Error(Code::kDevice, "cublaslt steps need ", kLibrary, ": ", reason,
               "; install cuBLAS 13, or compile the model without it (--policy gemm=cuda)");
}

}  // namespace

Result<std::unique_ptr<CublasLt>> CublasLt::Open(std::shared_ptr<const Device> device) {
  // Never closed: the library keeps state in the device's context.
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* first = dlerror();
    const std::string reason = first != nullptr ? first : "not found";
    library = dlopen(kUsualPlace, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return Missing(reason);
  }
  std::unique_ptr<CublasLt> lt(new CublasLt);
  lt->library_ = library;
  AICF_RETURN_IF_ERROR(ResolveLibrary(library, lt->api_));
  lt->device_ = std::move(device);
  AICF_CUBLASLT_CHECK(*lt, "creating a cuBLASLt handle", lt->api_.Create(&lt->handle_));
  return lt;
}

CublasLt::~CublasLt() {
  if (handle_ == nullptr) return;
  // As for Owned handles (handles.h), a second time where the context cannot be entered.
  for (int attempt = 0; attempt < 2; ++attempt) {
    const ContextScope scope(*device_);
    if (!scope.ok()) continue;
    (void)api_.Destroy(handle_);
    return;
  }
}

void* CublasLt::Symbol(const char* name) const { return dlsym(library_, name); }

Status CublasLt::Check(int status, std::string_view what) const {
  if (status == 0) return OkStatus();
  const char* name = api_.GetStatusName(status);
  return Error(status == kAllocationFailed ? Code::kResource : Code::kDevice, what, ": ",
               name != nullptr ? name : "cuBLASLt error", " (", status, ")");
}

}  // namespace aicf::cuda
