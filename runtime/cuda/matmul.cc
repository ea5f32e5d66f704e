#include "runtime/cuda/matmul.h"

#include <cstring>
#include <utility>

#include "runtime/cuda/matmul_descriptors.h"

namespace aicf::cuda {
namespace {

struct MatmulCall {
  LtAlgo algorithm;
  float alpha = 1;
  float beta = 0;
  void* data[4] = {};  ///< a, b, c, d
  void* workspace = nullptr;
  uint64_t workspace_bytes = 0;
};

class MatmulLaunch final : public Launch {
 public:
  MatmulLaunch(const CublasLt& lt, MatmulDescriptors descriptors, const MatmulCall& call)
      : lt_(lt), descriptors_(std::move(descriptors)), call_(call) {}

  Status Enqueue(CUstream stream) const override {
    const MatmulDescriptors& d = descriptors_;
    return lt_.Check(
        lt_.api().Matmul(lt_.handle(), d.desc(), &call_.alpha, call_.data[0], d.a(), call_.data[1],
                         d.b(), &call_.beta, call_.data[2], d.c(), call_.data[3], d.d(),
                         &call_.algorithm, call_.workspace, call_.workspace_bytes, stream),
        "launching the matrix product");
  }

 private:
  const CublasLt& lt_;
  MatmulDescriptors descriptors_;
  MatmulCall call_;
};

Result<LtAlgo> ReadAlgorithm(const CublasLt& lt, const schema::Step& step) {
  LtAlgo algorithm;
  if (step.algorithm.size() != sizeof(algorithm)) {
    return Error(Code::kBadArtifact, "the recorded algorithm has ", step.algorithm.size(),
                 " bytes, expected ", sizeof(algorithm));
  }
  // Another version may give the same bytes another meaning.
  if (step.library_version != lt.version()) {
    return Error(Code::kDevice, "the algorithm was recorded with cuBLASLt ", step.library_version,
                 " but this machine has ", lt.version(),
                 "; compile the model again with a timing cache of this version");
  }
  std::memcpy(&algorithm, step.algorithm.data(), sizeof(algorithm));
  return algorithm;
}

void* At(const AddressMap& addresses, uint32_t buffer, int64_t offset, DType dtype) {
  const auto bytes = static_cast<uint64_t>(offset * DTypeBytes(dtype));
  return reinterpret_cast<void*>(addresses.Of(buffer) + bytes);
}

MatmulCall BindCall(const MatmulLayout& layout, const schema::Step& step,
                    const AddressMap& addresses) {
  MatmulCall call;
  call.alpha = static_cast<float>(layout.alpha);
  call.beta = layout.residual_input >= 0 ? 1.0f : 0.0f;
  const uint32_t residual =
      layout.residual_input >= 0 ? step.inputs[layout.residual_input] : step.outputs[0];
  call.data[0] = At(addresses, step.inputs[1], layout.a.offset, layout.a.dtype);
  call.data[1] = At(addresses, step.inputs[0], layout.b.offset, layout.b.dtype);
  call.data[2] = At(addresses, residual, layout.c.offset, layout.c.dtype);
  call.data[3] = At(addresses, step.outputs[0], layout.d.offset, layout.d.dtype);
  call.workspace = reinterpret_cast<void*>(addresses.Workspace(step));
  call.workspace_bytes = step.workspace_bytes;
  return call;
}

Status CheckAlgorithm(const CublasLt& lt, const MatmulDescriptors& d, const MatmulCall& call) {
  LtHeuristic checked;
  AICF_CUBLASLT_CHECK(lt, "checking the recorded algorithm",
                      lt.api().MatmulAlgoCheck(lt.handle(), d.desc(), d.a(), d.b(), d.c(), d.d(),
                                               &call.algorithm, &checked));
  if (checked.workspace_bytes <= call.workspace_bytes) return OkStatus();
  return Error(Code::kBadArtifact, "the recorded algorithm needs ", checked.workspace_bytes,
               " bytes of workspace, the step has ", call.workspace_bytes);
}

}  // namespace

Result<std::unique_ptr<Launch>> MakeMatmulLaunch(const CublasLt& lt, const schema::Step& step,
                                                 const AddressMap& addresses) {
  AICF_ASSIGN_OR_RETURN(const LtAlgo algorithm, ReadAlgorithm(lt, step));
  const Result<MatmulLayout> described = DescribeMatmul(step.problem);
  if (!described.ok()) return described.status().WithContext(step.kernel);
  const MatmulLayout& layout = *described;
  MatmulCall call = BindCall(layout, step, addresses);
  call.algorithm = algorithm;
  void* bias = layout.bias_input < 0 ? nullptr
                                     : At(addresses, step.inputs[layout.bias_input],
                                          layout.bias_offset, layout.d.dtype);
  AICF_ASSIGN_OR_RETURN(MatmulDescriptors descriptors, MatmulDescriptors::Make(lt, layout, bias));
  AICF_RETURN_IF_ERROR(CheckAlgorithm(lt, descriptors, call));
  return std::unique_ptr<Launch>(std::make_unique<MatmulLaunch>(lt, std::move(descriptors), call));
}

}  // namespace aicf::cuda
