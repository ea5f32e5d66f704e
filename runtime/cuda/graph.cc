#include "runtime/cuda/graph.h"

namespace aicf::cuda {

Result<GraphExec> CaptureGraph(const std::shared_ptr<const Device>& device, CUstream stream,
                               const std::function<Status()>& enqueue) {
  const Driver& driver = device->driver();
  AICF_CUDA_CHECK(driver, "starting the capture",
                  driver.StreamBeginCapture(stream, kCaptureThreadLocal));
  const Status enqueued = enqueue();
  CUgraph captured = nullptr;
  // Always ended, or the stream would stay in capture mode.
  const CUresult ended = driver.StreamEndCapture(stream, &captured);
  const Graph graph(device, captured);
  AICF_RETURN_IF_ERROR(enqueued.WithContext("capturing"));
  AICF_CUDA_CHECK(driver, "ending the capture", ended);
  CUgraphExec exec = nullptr;
  AICF_CUDA_CHECK(driver, "instantiating the graph",
                  driver.GraphInstantiate(&exec, captured, 0ull));
  GraphExec owned(device, exec);
  AICF_CUDA_CHECK(driver, "uploading the graph", driver.GraphUpload(exec, stream));
  return owned;
}

}  // namespace aicf::cuda
