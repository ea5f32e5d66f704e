#include "runtime/cuda/guards.h"

#include <algorithm>

namespace aicf::cuda {

Result<GuardedSteps> GuardedSteps::Prepare(const DeviceProgram& program,
                                           const schema::EntryPoint& entry,
                                           const AddressMap& addresses,
                                           const std::vector<std::unique_ptr<Launch>>& launches) {
  GuardedSteps steps(program, entry, addresses, launches);
  AICF_ASSIGN_OR_RETURN(steps.loops_, schema::LoopTree::Build(entry));
  AICF_ASSIGN_OR_RETURN(StepStreams streams, StepStreams::Prepare(program, entry));
  steps.streams_.emplace(std::move(streams));
  const size_t depth = steps.Depth();
  for (size_t d = 0; d < depth; ++d) {
    AICF_ASSIGN_OR_RETURN(Stream stream, CreateStream(program.device()));
    steps.bodies_.push_back(std::move(stream));
  }
  return steps;
}

// Conditional nodes around the most deeply nested step.
size_t GuardedSteps::Depth() const {
  size_t depth = 0;
  for (size_t i = 0; i < launches_->size(); ++i) {
    size_t here = GuardsOf(i).size();
    for (int l = loops_.InnermostOf(static_cast<int64_t>(entry_->first_step + i));
         l != schema::LoopTree::kNone; l = loops_.ParentOf(l)) {
      ++here;
    }
    depth = std::max(depth, here);
  }
  return depth;
}

// The launches [LoopBegin, LoopEnd) of a loop. Launches are numbered from the entry point's first
// step, steps from the first one of the program.
size_t GuardedSteps::LoopBegin(size_t loop) const {
  return static_cast<size_t>(loops_.begin(static_cast<int>(loop)) - entry_->first_step);
}
size_t GuardedSteps::LoopEnd(size_t loop) const {
  return static_cast<size_t>(loops_.end(static_cast<int>(loop)) - entry_->first_step);
}
// The first loop after this one and those inside it.
size_t GuardedSteps::LoopAfter(size_t loop) const {
  size_t next = loop + 1;
  while (next < loops_.size() && LoopBegin(next) < LoopEnd(loop)) ++next;
  return next;
}

// The end of the run of steps from `first` on that share its next guard; the next loop ends it,
// too.
size_t GuardedSteps::GuardEnd(const Part& part, size_t first) const {
  const schema::Guard& guard = GuardsOf(first)[part.guards];
  const size_t limit =
      part.loop < loops_.size() ? std::min(part.last, LoopBegin(part.loop)) : part.last;
  size_t end = first + 1;
  while (end < limit && GuardsOf(end).size() > part.guards && GuardsOf(end)[part.guards] == guard) {
    ++end;
  }
  return end;
}

// For plans with several streams, which have neither guards nor loops (VerifyStreams).
Status GuardedSteps::CaptureStreams(CUstream stream) const {
  AICF_RETURN_IF_ERROR(streams_->Fork(stream));
  for (uint32_t i = 0; i < launches_->size(); ++i) {
    const uint32_t step = entry_->first_step + i;
    AICF_RETURN_IF_ERROR(streams_->Enter(stream, step));
    AICF_RETURN_IF_ERROR((*launches_)[i]->EnqueueInOrder(streams_->StreamOf(stream, step)));
    AICF_RETURN_IF_ERROR(streams_->Leave(stream, step));
  }
  return streams_->Join(stream);
}

Status GuardedSteps::Capture(CUstream stream) const {
  if (!streams_->serial()) return CaptureStreams(stream);
  return Range(stream, {0, launches_->size(), 0, 0, 0});
}

Status GuardedSteps::Range(CUstream stream, const Part& part) const {
  Part rest = part;
  while (rest.first < rest.last) {
    const size_t i = rest.first;
    if (rest.loop < loops_.size() && LoopBegin(rest.loop) == i) {
      const size_t end = LoopEnd(rest.loop);
      const schema::Guard condition{entry_->loops[rest.loop].condition, true};
      AICF_RETURN_IF_ERROR(
          Body(stream, {condition, kConditionalWhile}, {i, end, rest.loop + 1, 0, rest.level + 1}));
      rest.first = end;
      rest.loop = LoopAfter(rest.loop);
    } else if (GuardsOf(i).size() <= rest.guards) {
      AICF_RETURN_IF_ERROR((*launches_)[i]->EnqueueInOrder(stream));
      rest.first = i + 1;
    } else {
      const size_t end = GuardEnd(rest, i);
      AICF_RETURN_IF_ERROR(Body(stream, {GuardsOf(i)[rest.guards], kConditionalIf},
                                {i, end, rest.loop, rest.guards + 1, rest.level + 1}));
      rest.first = end;
    }
  }
  return OkStatus();
}

Status GuardedSteps::Body(CUstream stream, const Question& question, const Part& part) const {
  const Driver& driver = program_->device()->driver();
  CUgraphConditionalHandle handle = 0;
  AICF_ASSIGN_OR_RETURN(const CUgraph body, AddConditional(stream, question, &handle));
  const CUstream inner = bodies_[part.level - 1].get();
  AICF_CUDA_CHECK(driver, "starting the capture of a conditional part",
                  driver.StreamBeginCaptureToGraph(inner, body, static_cast<CUgraphNode*>(nullptr),
                                                   static_cast<const void*>(nullptr), size_t{0},
                                                   kCaptureThreadLocal));
  Status captured = Range(inner, part);
  if (captured.ok() && question.type == kConditionalWhile) {
    captured = Decide(inner, handle, question.guard);
  }
  CUgraph same = nullptr;
  const CUresult ended = driver.StreamEndCapture(inner, &same);
  AICF_RETURN_IF_ERROR(captured);
  return driver.Check(ended, "ending the capture of a conditional part");
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

Result<CUgraph> GuardedSteps::AddConditional(CUstream stream, const Question& question,
                                             CUgraphConditionalHandle* handle) const {
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
  AICF_CUDA_CHECK(driver, "creating a conditional handle",
                  driver.GraphConditionalHandleCreate(handle, graph, program_->device()->context(),
                                                      0u, kConditionalAssignDefault));
  AICF_RETURN_IF_ERROR(Decide(stream, *handle, question.guard));
  AICF_RETURN_IF_ERROR(read(&graph, &nodes, &count));
  CUgraphNodeParams parameters;
  parameters.type = kNodeConditional;
  parameters.conditional.handle = *handle;
  parameters.conditional.type = question.type;
  parameters.conditional.size = 1;
  parameters.conditional.context = program_->device()->context();
  CUgraphNode node = nullptr;
  AICF_CUDA_CHECK(driver, "adding a conditional node",
                  driver.GraphAddNode(&node, graph, nodes, static_cast<const void*>(nullptr), count,
                                      &parameters));
  AICF_CUDA_CHECK(
      driver, "continuing a capture",
      driver.StreamUpdateCaptureDependencies(stream, &node, static_cast<const void*>(nullptr),
                                             size_t{1}, kCaptureSetDependencies));
  return parameters.conditional.graphs[0];
}

Result<bool> GuardedSteps::Holds(CUstream stream, size_t loop) const {
  const Driver& driver = program_->device()->driver();
  const CUdeviceptr from = addresses_.Of(entry_->loops[loop].condition);
  uint8_t value = 0;
  AICF_CUDA_CHECK(driver, "reading a loop's condition",
                  driver.MemcpyDtoHAsync(&value, from, size_t{1}, stream));
  AICF_CUDA_CHECK(driver, "reading a loop's condition", driver.StreamSynchronize(stream));
  return value != 0;
}

Status GuardedSteps::Repeat(CUstream stream, size_t first, size_t last, size_t loop) const {
  for (size_t i = first; i < last;) {
    if (loop == loops_.size() || LoopBegin(loop) != i) {
      AICF_RETURN_IF_ERROR((*launches_)[i++]->Enqueue(stream));
      continue;
    }
    while (true) {
      AICF_ASSIGN_OR_RETURN(const bool again, Holds(stream, loop));
      if (!again) break;
      AICF_RETURN_IF_ERROR(Repeat(stream, LoopBegin(loop), LoopEnd(loop), loop + 1));
    }
    i = LoopEnd(loop);
    loop = LoopAfter(loop);
  }
  return OkStatus();
}

}  // namespace aicf::cuda
