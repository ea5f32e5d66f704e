#include "tests/gpu/record_algorithm.h"

#include <dlfcn.h>

#include <cstring>

#include "runtime/cuda/matmul_descriptors.h"

namespace aicf::gpu {
namespace {

using Preference = struct PreferenceTag*;
using CreateFn = int (*)(Preference*);
using SetFn = int (*)(Preference, int, const void*, size_t);
using DestroyFn = int (*)(Preference);
using GetHeuristicFn = int (*)(cuda::LtHandle, cuda::LtMatmulDesc, cuda::LtMatrixLayout,
                               cuda::LtMatrixLayout, cuda::LtMatrixLayout, cuda::LtMatrixLayout,
                               Preference, int, cuda::LtHeuristic*, int*);

constexpr int kPreferenceMaxWorkspace = 1;
/// Alignment in bytes of A, B, C, D: 5, 6, 7, 8.
constexpr int kPreferenceMinAlignmentA = 5;

template <class F>
F Find(const char* name) {
  static void* const library = dlopen("libcublasLt.so.13", RTLD_NOW);
  return reinterpret_cast<F>(dlsym(library, name));
}

}  // namespace

Result<std::vector<uint8_t>> RecordAlgorithm(const cuda::CublasLt& lt,
                                             const cuda::MatmulLayout& layout, void* bias,
                                             uint64_t workspace_bytes) {
  AICF_ASSIGN_OR_RETURN(const cuda::MatmulDescriptors d,
                        cuda::MatmulDescriptors::Make(lt, layout, bias));
  const auto set = Find<SetFn>("cublasLtMatmulPreferenceSetAttribute");
  Preference preference = nullptr;
  AICF_RETURN_IF_ERROR(
      lt.Check(Find<CreateFn>("cublasLtMatmulPreferenceCreate")(&preference), "a preference"));
  (void)set(preference, kPreferenceMaxWorkspace, &workspace_bytes, sizeof(workspace_bytes));
  // Views start anywhere: promise no more than an element's alignment.
  const uint32_t alignment = static_cast<uint32_t>(DTypeBytes(layout.a.dtype));
  for (int i = 0; i < 4; ++i) {
    (void)set(preference, kPreferenceMinAlignmentA + i, &alignment, sizeof(alignment));
  }
  cuda::LtHeuristic best;
  int found = 0;
  const int status = Find<GetHeuristicFn>("cublasLtMatmulAlgoGetHeuristic")(
      lt.handle(), d.desc(), d.a(), d.b(), d.c(), d.d(), preference, 1, &best, &found);
  (void)Find<DestroyFn>("cublasLtMatmulPreferenceDestroy")(preference);
  AICF_RETURN_IF_ERROR(lt.Check(status, "asking for an algorithm"));
  if (found == 0) return Error(Code::kUnsupported, "cuBLASLt has no algorithm");
  std::vector<uint8_t> bytes(sizeof(best.algorithm));
  std::memcpy(bytes.data(), &best.algorithm, bytes.size());
  return bytes;
}

}  // namespace aicf::gpu
