#include "tools/library/cublaslt_heuristic.h"

#include <algorithm>
#include <cstring>

#include "kernels/cuda/gemm/library.h"
#include "runtime/cuda/matmul_descriptors.h"
#include "schema/program.h"

namespace aicf::tools {
namespace {

using cuda::CublasLt;
using cuda::MatmulDescriptors;
using cuda::MatmulLayout;

// Values of the library's public enumerations.
constexpr int kPreferenceMaxWorkspace = 1;
constexpr int kPreferenceReductionSchemes = 3;
constexpr int kPreferenceMinAlignmentA = 5;  // A, B, C, D: 5, 6, 7, 8
// The only way in which a product that is split along its depth may be summed: in f32 in the
// workspace, by one more pass. Sums in the output's place and sums in the output's dtype are
// excluded.
constexpr uint32_t kReductionInComputeType = 2;

using LtPreference = struct LtPreferenceTag*;

struct HeuristicApi {
  int (*create)(LtPreference*) = nullptr;
  int (*set)(LtPreference, int attribute, const void* value, size_t bytes) = nullptr;
  int (*destroy)(LtPreference) = nullptr;
  int (*choose)(cuda::LtHandle, cuda::LtMatmulDesc, cuda::LtMatrixLayout a, cuda::LtMatrixLayout b,
                cuda::LtMatrixLayout c, cuda::LtMatrixLayout d, LtPreference, int wanted,
                cuda::LtHeuristic* results, int* found) = nullptr;
};

template <class F>
Status Find(const CublasLt& lt, const char* symbol, F* function) {
  *function = reinterpret_cast<F>(lt.Symbol(symbol));
  return *function != nullptr ? OkStatus() : Error(Code::kDevice, "cuBLASLt lacks ", symbol);
}

Result<HeuristicApi> FindApi(const CublasLt& lt) {
  HeuristicApi api;
  AICF_RETURN_IF_ERROR(Find(lt, "cublasLtMatmulPreferenceCreate", &api.create));
  AICF_RETURN_IF_ERROR(Find(lt, "cublasLtMatmulPreferenceSetAttribute", &api.set));
  AICF_RETURN_IF_ERROR(Find(lt, "cublasLtMatmulPreferenceDestroy", &api.destroy));
  AICF_RETURN_IF_ERROR(Find(lt, "cublasLtMatmulAlgoGetHeuristic", &api.choose));
  return api;
}

/// The conditions under which the library is asked for an algorithm: workspace, reduction scheme
/// and alignment of the operands.
class Preference {
 public:
  Preference(const CublasLt& lt, const HeuristicApi& api) : lt_(lt), api_(api) {}
  ~Preference() {
    if (preference_ != nullptr) (void)api_.destroy(preference_);
  }
  Preference(const Preference&) = delete;
  Preference& operator=(const Preference&) = delete;

  Status Describe(const MatmulLayout& layout) {
    AICF_CUBLASLT_CHECK(lt_, "preparing a question", api_.create(&preference_));
    const uint64_t workspace = cuda::kLibraryWorkspaceBytes;
    AICF_RETURN_IF_ERROR(Set(kPreferenceMaxWorkspace, workspace));
    AICF_RETURN_IF_ERROR(Set(kPreferenceReductionSchemes, kReductionInComputeType));
    int attribute = kPreferenceMinAlignmentA;
    for (const cuda::MatrixLayout* m : {&layout.a, &layout.b, &layout.c, &layout.d}) {
      AICF_RETURN_IF_ERROR(Set(attribute++, AlignmentOf(*m)));
    }
    return OkStatus();
  }

  LtPreference get() const { return preference_; }

 private:
  /// Alignment in bytes of the matrix's first element, at most that of buffers. The library takes
  /// the strides into account by itself: they are in the layout.
  static uint32_t AlignmentOf(const cuda::MatrixLayout& matrix) {
    const auto bytes = static_cast<uint64_t>(matrix.offset * DTypeBytes(matrix.dtype));
    const uint64_t lowest_bit = bytes & (~bytes + 1);
    const uint64_t buffer = schema::kBufferAlignment;
    return static_cast<uint32_t>(bytes == 0 ? buffer : std::min(lowest_bit, buffer));
  }

  template <class T>
  Status Set(int attribute, const T& value) {
    return lt_.Check(api_.set(preference_, attribute, &value, sizeof(value)),
                     "preparing a question");
  }

  const CublasLt& lt_;
  const HeuristicApi& api_;
  LtPreference preference_ = nullptr;
};

/// The library looks at the alignment of the bias, never at its elements. So an address that is
/// aligned like the real one stands in for it.
void* StandInForBias(const MatmulLayout& layout) {
  if (layout.bias_input < 0) return nullptr;
  const auto bytes = static_cast<uint64_t>(layout.bias_offset * DTypeBytes(layout.d.dtype));
  return reinterpret_cast<void*>(schema::kBufferAlignment + bytes);
}

}  // namespace

Result<LibraryAlgorithm> ChooseAlgorithm(const CublasLt& lt, const MatmulLayout& layout) {
  AICF_ASSIGN_OR_RETURN(const HeuristicApi api, FindApi(lt));
  AICF_ASSIGN_OR_RETURN(const MatmulDescriptors d,
                        MatmulDescriptors::Make(lt, layout, StandInForBias(layout)));
  Preference preference(lt, api);
  AICF_RETURN_IF_ERROR(preference.Describe(layout));
  cuda::LtHeuristic best;
  int found = 0;
  AICF_CUBLASLT_CHECK(lt, "cuBLASLt was asked for an algorithm",
                      api.choose(lt.handle(), d.desc(), d.a(), d.b(), d.c(), d.d(),
                                 preference.get(), 1, &best, &found));
  if (found == 0 || best.state != 0) {
    return Status(Code::kUnsupported, "cuBLASLt has no algorithm that gives equal bits");
  }
  // The runtime makes the same check before it replays the algorithm, so one that fails here must
  // not be recorded.
  cuda::LtHeuristic checked;
  AICF_CUBLASLT_CHECK(lt, "checking the chosen algorithm",
                      lt.api().MatmulAlgoCheck(lt.handle(), d.desc(), d.a(), d.b(), d.c(), d.d(),
                                               &best.algorithm, &checked));
  LibraryAlgorithm algorithm;
  algorithm.bytes.resize(sizeof(best.algorithm));
  std::memcpy(algorithm.bytes.data(), &best.algorithm, algorithm.bytes.size());
  algorithm.library_version = lt.version();
  algorithm.workspace_bytes = std::max(best.workspace_bytes, checked.workspace_bytes);
  return algorithm;
}

}  // namespace aicf::tools
