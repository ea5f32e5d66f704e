/// cuBLASLt, opened with dlopen only for artifacts that name it. Never asked for a heuristic: steps
/// carry the algorithm that was recorded when they were measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/status.h"
#include "runtime/cuda/device.h"

namespace aicf::cuda {

using LtHandle = struct LtContextTag*;
using LtMatmulDesc = struct LtMatmulDescTag*;
using LtMatrixLayout = struct LtMatrixLayoutTag*;

/// The library's own record of an algorithm; opaque, meaningful to one library version.
struct LtAlgo {
  uint64_t data[8] = {};
};

struct LtHeuristic {
  LtAlgo algorithm;
  size_t workspace_bytes = 0;
  int state = 0;
  float waves = 0;
  int reserved[4] = {};
};

struct CublasLtApi {
#define AICF_CUBLASLT_FN(name, symbol, result, params) result(*name) params = nullptr;
#include "runtime/cuda/cublaslt_functions.def"
#undef AICF_CUBLASLT_FN
};

/// Thread safety: const functions may be called from any thread (the library's handle allows it).
class CublasLt {
 public:
  /// REQUIRES: the device's context is current.
  /// Errors: kDevice naming the library that is missing and what would work.
  static Result<std::unique_ptr<CublasLt>> Open(std::shared_ptr<const Device> device);
  ~CublasLt();
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;

  const CublasLtApi& api() const { return api_; }
  LtHandle handle() const { return handle_; }
  /// cublasLtGetVersion(), e.g. 130100.
  uint64_t version() const { return api_.GetVersion(); }

  /// A function of the library that no session needs; nullptr when it has none of that name.
  void* Symbol(const char* name) const;

  /// ok for 0. kResource when the library could not allocate; kDevice otherwise.
  Status Check(int status, std::string_view what) const;

 private:
  CublasLt() = default;
  CublasLtApi api_;
  void* library_ = nullptr;
  std::shared_ptr<const Device> device_;
  LtHandle handle_ = nullptr;
};

/// Returns lt.Check(call, what) from the enclosing function when it is an error.
#define AICF_CUBLASLT_CHECK(lt, what, call) AICF_RETURN_IF_ERROR((lt).Check((call), (what)))

}  // namespace aicf::cuda
