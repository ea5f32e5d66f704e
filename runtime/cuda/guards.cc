#include "runtime/cuda/guards.h"

#include <algorithm>

namespace aicf::cuda {

Result<GuardedSteps> GuardedSteps::Prepare(const DeviceProgram& program,
                                           const schema::EntryPoint& entry,
                                           const AddressMap& addresses,
                                           const std::vector<std::unique_ptr<Launch>>& launches) {
  GuardedSteps steps(program, entry, addresses, launches);
  size_t depth = 0;
  for (size_t i = 0; i < launches.size(); ++i) depth = std::max(depth, steps.GuardsOf(i).size());
  for (size_t d = 0; d < depth; ++d) {
    AICF_ASSIGN_OR_RETURN(Stream stream, CreateStream(program.device()));
    steps.bodies_.push_back(std::move(stream));
  }
  return steps;
}

Status GuardedSteps::Range(CUstream stream, size_t first, size_t last, size_t depth) const {
  for (size_t i = first; i < last;) {
    const std::vector<schema::Guard>& guards = GuardsOf(i);
    if (guards.size() <= depth) {
      AICF_RETURN_IF_ERROR((*launches_)[i++]->Enqueue(stream));
      continue;
    }
    size_t end = i + 1;
    while (end < last && GuardsOf(end).size() > depth && GuardsOf(end)[depth] == guards[depth]) {
      ++end;
    }
    AICF_RETURN_IF_ERROR(Body(stream, guards[depth], i, end, depth));
    i = end;
  }
  return OkStatus();
}

Status GuardedSteps::Body(CUstream stream, const schema::Guard& guard, size_t first, size_t last,
                          size_t depth) const {
  const Driver& driver = program_->device()->driver();
  AICF_ASSIGN_OR_RETURN(const CUgraph body, AddConditional(stream, guard));
  const CUstream inner = bodies_[depth].get();
  AICF_CUDA_CHECK(driver, "starting the capture of a guarded part",
                  driver.StreamBeginCaptureToGraph(inner, body, static_cast<CUgraphNode*>(nullptr),
                                                   static_cast<const void*>(nullptr), size_t{0},
                                                   kCaptureThreadLocal));
  const Status captured = Range(inner, first, last, depth + 1);
  CUgraph same = nullptr;
  const CUresult ended = driver.StreamEndCapture(inner, &same);
  AICF_RETURN_IF_ERROR(captured);
  return driver.Check(ended, "ending the capture of a guarded part");
}

Status GuardedSteps::Decide(CUstream stream, CUgraphConditionalHandle handle,
                            const schema::Guard& guard) const {
  const Driver& driver = program_->device()->driver();
  CUdeviceptr value = addresses_.Of(guard.buffer);
  uint32_t expected = guard.expected ? 1 : 0;
  void* parameters[] = {&handle, &value, &expected};
  CUlaunchConfig config;
  for (int axis = 0; axis < 3; ++axis) config.grid[axis] = config.block[axis] = 1;
  config.stream = stream;
  AICF_CUDA_CHECK(driver, "launching a guard",
                  driver.LaunchKernelEx(&config, program_->modules().guard(), parameters,
                                        static_cast<void**>(nullptr)));
  return OkStatus();
}

Result<CUgraph> GuardedSteps::AddConditional(CUstream stream, const schema::Guard& guard) const {
  const Driver& driver = program_->device()->driver();
  const auto read = [&](CUgraph* graph, const CUgraphNode** nodes, size_t* count) {
    CUstreamCaptureStatus status = kCaptureNone;
    unsigned long long id = 0;
    const void* edges = nullptr;
    return driver.Check(
        driver.StreamGetCaptureInfo(stream, &status, &id, graph, nodes, &edges, count),
        "examining a capture");
  };
  CUgraph graph = nullptr;
  const CUgraphNode* nodes = nullptr;
  size_t count = 0;
  AICF_RETURN_IF_ERROR(read(&graph, &nodes, &count));
  CUgraphConditionalHandle handle = 0;
  AICF_CUDA_CHECK(driver, "creating a conditional handle",
                  driver.GraphConditionalHandleCreate(&handle, graph, program_->device()->context(),
                                                      0u, kConditionalAssignDefault));
  AICF_RETURN_IF_ERROR(Decide(stream, handle, guard));
  AICF_RETURN_IF_ERROR(read(&graph, &nodes, &count));
  CUgraphNodeParams parameters;
  parameters.type = kNodeConditional;
  parameters.conditional.handle = handle;
  parameters.conditional.type = kConditionalIf;
  parameters.conditional.size = 1;
  parameters.conditional.context = program_->device()->context();
  CUgraphNode node = nullptr;
  AICF_CUDA_CHECK(driver, "adding a conditional node",
                  driver.GraphAddNode(&node, graph, nodes, static_cast<const void*>(nullptr), count,
                                      &parameters));
  AICF_CUDA_CHECK(driver, "continuing a capture",
                  driver.StreamUpdateCaptureDependencies(stream, &node,
                                                         static_cast<const void*>(nullptr),
                                                         size_t{1}, kCaptureSetDependencies));
  return parameters.conditional.graphs[0];
}

}  // namespace aicf::cuda
