/// A CUDA driver made of host memory, for tests on machines without a GPU: allocations, streams,
/// capture, graphs and events behave as documented; kernels are C++ functions registered by symbol.
/// It can fail any call, checks what a real driver would only corrupt (bounds, use after free,
/// calls without a context), and knows what is still allocated. Tests only; header-only so that no
/// library holds it.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cuda/driver.h"

namespace aicf::cuda::testing {

/// A kernel: receives the addresses of its parameters' values, as cuLaunchKernel does.
using FakeKernel = std::function<void(void** parameters)>;

struct FakeFunction {
  FakeKernel run;
  size_t parameters = 0;   ///< addresses
  size_t tensor_maps = 0;  ///< after them
  int max_threads = 1024;
  int static_shared = 0;
  size_t last_bytes = 8;  ///< of the last parameter; the others are addresses or handles
};

/// What the fake machine is and has; tests change it before making sessions.
struct FakeMachine {
  int devices = 1;
  int capability_major = 9;
  int capability_minor = 0;
  uint64_t memory = uint64_t{64} << 20;
  std::map<std::string, FakeFunction> functions;

  int fail_call = -1;  ///< fails the n-th call from now that can fail (0: the next); -1: none
  bool fail_sticky = false;
  CUresult fail_code = kCudaOutOfMemory;

  // What happened.
  bool failed = false;
  std::string problem;  ///< first thing that a correct runtime never does; "" while there is none
  uint64_t memory_used = 0;
  std::map<CUdeviceptr, size_t> device_blocks;
  std::set<void*> host_blocks;
  std::map<void*, std::shared_ptr<void>> alive;  ///< streams, events, modules, graphs and execs
  std::map<CUgraphConditionalHandle, unsigned> conditions;  ///< what kernels set
  std::map<CUgraphNode, std::function<CUresult()>> added;   ///< nodes that no capture follows yet
  std::vector<CUgraph> bodies;                              ///< of the conditional node made last
  int programmatic_launches = 0;
  int contexts = 0;  ///< retained
  int context_depth = 0;
  unsigned long long context_id = 1;  ///< a test changes it to simulate a reset of the device
  /// Another library captures in the global mode: a call that a thread may not make then is
  /// recorded in `problem`.
  bool foreign_capture = false;
  std::mutex mutex;
};

/// The machine behind the table; one at a time, since driver functions have no state argument.
inline FakeMachine*& Machine() {
  static FakeMachine* machine = nullptr;
  return machine;
}

struct FakeNode {
  std::function<CUresult()> work;
  std::vector<size_t> after;  ///< nodes that have finished when this one runs
  bool kernel = false;
};
struct FakeGraph {
  std::vector<FakeNode> nodes;

  /// Always runs, of the nodes that could run next, the one captured last, so that nodes without a
  /// needed edge between them run in the wrong order.
  CUresult Run() const {
    std::vector<bool> ran(nodes.size());
    for (size_t count = 0; count < nodes.size(); ++count) {
      size_t next = nodes.size();
      for (size_t i = 0; i < nodes.size(); ++i) {
        const auto done = [&](size_t before) { return ran[before]; };
        if (!ran[i] && std::ranges::all_of(nodes[i].after, done)) next = i;
      }
      ran[next] = true;
      if (const CUresult result = nodes[next].work(); result != kCudaSuccess) return result;
    }
    return kCudaSuccess;
  }
};
/// Where a capture stands on one of its streams: the graph, which all its streams fill, and the
/// nodes after which the stream's next node goes.
struct FakePosition {
  std::shared_ptr<FakeGraph> graph;
  std::vector<size_t> tail;
};
struct FakeStream {
  bool capturing = false;
  FakePosition at;
  FakeGraph* body = nullptr;  ///< where a capture into a conditional node's body goes
};
struct FakeEvent {
  FakePosition at;  ///< without a graph: recorded outside captures, or not at all
};

namespace internal {

inline FakeStream* StreamOf(CUstream s) { return reinterpret_cast<FakeStream*>(s); }
inline FakeGraph* GraphOf(void* g) { return static_cast<FakeGraph*>(g); }

inline void Problem(const std::string& text) {
  if (Machine()->problem.empty()) Machine()->problem = text;
}

/// The calling thread's capture mode: kCaptureGlobal unless it has exchanged it.
inline CUstreamCaptureMode& ThreadMode() {
  static thread_local CUstreamCaptureMode mode = kCaptureGlobal;
  return mode;
}

inline void CheckCaptures(const std::string& what) {
  if (Machine()->foreign_capture && ThreadMode() == kCaptureGlobal) {
    Problem(what + " while another library captures");
  }
}

/// True when this call is the one to fail.
inline bool Fails() {
  FakeMachine& m = *Machine();
  if (m.failed && m.fail_sticky) return true;
  if (m.fail_call < 0 || m.fail_call-- > 0) return false;
  m.failed = true;
  return true;
}

/// A new driver object. REQUIRES: the machine is locked.
template <class T>
void* Make(T object) {
  auto owned = std::make_shared<T>(std::move(object));
  void* const handle = owned.get();
  Machine()->alive[handle] = std::move(owned);
  return handle;
}

inline CUresult Gone(void* handle) {
  const std::lock_guard<std::mutex> lock(Machine()->mutex);
  CheckCaptures("destroying an object");
  if (Machine()->alive.erase(handle) == 0) Problem("an object is destroyed twice");
  return kCudaSuccess;
}

inline bool InBlock(CUdeviceptr address, size_t bytes) {
  const auto& blocks = Machine()->device_blocks;
  auto it = blocks.upper_bound(address);
  if (it == blocks.begin()) return false;
  --it;
  return address + bytes <= it->first + it->second;
}

inline void Append(FakeStream& s, std::function<CUresult()> work, bool kernel = false) {
  std::vector<FakeNode>& nodes = s.at.graph->nodes;
  nodes.push_back({std::move(work), std::move(s.at.tail), kernel});
  s.at.tail = {nodes.size() - 1};
}

inline CUresult Enqueue(CUstream stream, std::function<CUresult()> work, bool kernel = false) {
  FakeStream* s = StreamOf(stream);
  if (!s->capturing) return work();
  Append(*s, std::move(work), kernel);
  return kCudaSuccess;
}

inline void BeginCapture(FakeStream& s) {
  s.capturing = true;
  s.at = {std::make_shared<FakeGraph>(), {}};
}

/// Whether every node comes before the end of the capture's first stream.
inline bool AllJoined(const FakePosition& end) {
  std::vector<bool> joined(end.graph->nodes.size());
  std::vector<size_t> open = end.tail;
  while (!open.empty()) {
    const size_t i = open.back();
    open.pop_back();
    if (joined[i]) continue;
    joined[i] = true;
    const std::vector<size_t>& after = end.graph->nodes[i].after;
    open.insert(open.end(), after.begin(), after.end());
  }
  return std::ranges::find(joined, false) == joined.end();
}

/// Checks that a programmatic launch is in a capture, right after exactly one kernel: nowhere else
/// is it legal.
inline void CheckAttributes(const CUlaunchConfig& config) {
  for (uint32_t i = 0; i < config.attribute_count; ++i) {
    if (config.attributes[i].id != kLaunchProgrammaticSerialization) continue;
    ++Machine()->programmatic_launches;
    const FakeStream* s = StreamOf(config.stream);
    if (config.attributes[i].dims[0] != 1 || !s->capturing || s->at.tail.size() != 1 ||
        !s->at.graph->nodes[s->at.tail[0]].kernel) {
      Problem("a programmatic launch that is not right after a captured kernel");
    }
  }
}

}  // namespace internal

#define AICF_FAKE_ENTER(what)                               \
  const std::lock_guard<std::mutex> lock(Machine()->mutex); \
  if (internal::Fails()) return Machine()->fail_code;       \
  internal::CheckCaptures(what);                            \
  if (Machine()->context_depth < 1) internal::Problem(std::string(what) + " without context")

inline void AddDevices(DriverApi& api) {
  api.Init = [](unsigned) { return kCudaSuccess; };
  api.DriverGetVersion = [](int* v) { return *v = 13000, kCudaSuccess; };
  api.GetErrorName = [](CUresult, const char** t) { return *t = "FAKE_ERROR", kCudaSuccess; };
  api.GetErrorString = [](CUresult, const char** t) { return *t = "planted", kCudaSuccess; };
  api.DeviceGetCount = [](int* n) { return *n = Machine()->devices, kCudaSuccess; };
  api.DeviceGet = [](CUdevice* d, int n) { return *d = n, kCudaSuccess; };
  api.DeviceGetName = [](char* name, int n, CUdevice) {
    std::strncpy(name, "Fake GPU", static_cast<size_t>(n));
    return kCudaSuccess;
  };
  api.DeviceGetAttribute = [](int* value, CUdevice_attribute attribute, CUdevice) {
    switch (static_cast<int>(attribute)) {
      case kComputeCapabilityMajor:
        *value = Machine()->capability_major;
        break;
      case kComputeCapabilityMinor:
        *value = Machine()->capability_minor;
        break;
      case kMaxGridDimX:
        *value = 2147483647;
        break;
      case kMaxGridDimX + 1:
      case kMaxGridDimX + 2:
        *value = 65535;
        break;
      case kMaxBlockDimX + 2:
        *value = 64;
        break;
      case kMaxSharedPerBlockOptin:
        *value = 232448;
        break;
      default:
        *value = 1024;
    }
    return kCudaSuccess;
  };
  api.PrimaryCtxRetain = [](CUcontext* c, CUdevice) {
    const std::lock_guard<std::mutex> lock(Machine()->mutex);
    if (internal::Fails()) return Machine()->fail_code;
    internal::CheckCaptures("cuDevicePrimaryCtxRetain");
    ++Machine()->contexts;
    *c = reinterpret_cast<CUcontext>(Machine());
    return kCudaSuccess;
  };
  api.PrimaryCtxRelease = [](CUdevice) {
    const std::lock_guard<std::mutex> lock(Machine()->mutex);
    internal::CheckCaptures("cuDevicePrimaryCtxRelease");
    --Machine()->contexts;
    return kCudaSuccess;
  };
  api.CtxPushCurrent = [](CUcontext) {
    const std::lock_guard<std::mutex> lock(Machine()->mutex);
    return ++Machine()->context_depth, kCudaSuccess;
  };
  api.ThreadExchangeStreamCaptureMode = [](CUstreamCaptureMode* mode) {
    return std::swap(*mode, internal::ThreadMode()), kCudaSuccess;
  };
  api.CtxGetId = [](CUcontext, unsigned long long* id) {
    return *id = Machine()->context_id, kCudaSuccess;
  };
  api.CtxPopCurrent = [](CUcontext*) {
    const std::lock_guard<std::mutex> lock(Machine()->mutex);
    return --Machine()->context_depth, kCudaSuccess;
  };
}

inline void AddMemory(DriverApi& api) {
  api.MemGetInfo = [](size_t* free_bytes, size_t* total) {
    *total = Machine()->memory;
    *free_bytes = Machine()->memory - Machine()->memory_used;
    return kCudaSuccess;
  };
  api.MemAlloc = [](CUdeviceptr* address, size_t bytes) {
    AICF_FAKE_ENTER("cuMemAlloc");
    FakeMachine& m = *Machine();
    if (bytes > m.memory - m.memory_used) return kCudaOutOfMemory;
    void* block = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    std::memset(block, 0xcd, bytes);
    *address = reinterpret_cast<CUdeviceptr>(block);
    m.memory_used += bytes;
    m.device_blocks[*address] = bytes;
    return kCudaSuccess;
  };
  api.MemFree = [](CUdeviceptr address) {
    const std::lock_guard<std::mutex> lock(Machine()->mutex);
    FakeMachine& m = *Machine();
    internal::CheckCaptures("cuMemFree");
    const auto it = m.device_blocks.find(address);
    if (it == m.device_blocks.end()) return internal::Problem("double free"), kCudaInvalidValue;
    m.memory_used -= it->second;
    m.device_blocks.erase(it);
    std::free(reinterpret_cast<void*>(address));
    return kCudaSuccess;
  };
  api.MemHostAlloc = [](void** address, size_t bytes, unsigned) {
    AICF_FAKE_ENTER("cuMemHostAlloc");
    *address = std::malloc(bytes);
    Machine()->host_blocks.insert(*address);
    return kCudaSuccess;
  };
  api.MemFreeHost = [](void* address) {
    const std::lock_guard<std::mutex> lock(Machine()->mutex);
    internal::CheckCaptures("cuMemFreeHost");
    if (Machine()->host_blocks.erase(address) == 0) internal::Problem("double host free");
    std::free(address);
    return kCudaSuccess;
  };
}

inline void AddCopies(DriverApi& api) {
  using internal::Enqueue;
  api.MemcpyHtoDAsync = [](CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
    AICF_FAKE_ENTER("cuMemcpyHtoDAsync");
    return Enqueue(stream, [=] {
      if (!internal::InBlock(to, bytes))
        return internal::Problem("upload out of bounds"), kCudaIllegalAddress;
      std::memcpy(reinterpret_cast<void*>(to), from, bytes);
      return kCudaSuccess;
    });
  };
  api.MemcpyDtoHAsync = [](void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
    AICF_FAKE_ENTER("cuMemcpyDtoHAsync");
    return Enqueue(stream, [=] {
      if (!internal::InBlock(from, bytes))
        return internal::Problem("download out of bounds"), kCudaIllegalAddress;
      std::memcpy(to, reinterpret_cast<void*>(from), bytes);
      return kCudaSuccess;
    });
  };
  api.MemcpyDtoDAsync = [](CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    AICF_FAKE_ENTER("cuMemcpyDtoDAsync");
    return Enqueue(stream, [=] {
      if (!internal::InBlock(to, bytes) || !internal::InBlock(from, bytes))
        return internal::Problem("device copy out of bounds"), kCudaIllegalAddress;
      std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
      return kCudaSuccess;
    });
  };
  api.MemsetD8Async = [](CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream) {
    AICF_FAKE_ENTER("cuMemsetD8Async");
    return Enqueue(stream, [=] {
      if (!internal::InBlock(to, bytes))
        return internal::Problem("memset out of bounds"), kCudaIllegalAddress;
      std::memset(reinterpret_cast<void*>(to), value, bytes);
      return kCudaSuccess;
    });
  };
}

inline void AddModules(DriverApi& api) {
  using internal::Enqueue;
  api.ModuleLoadDataEx = [](CUmodule* module, const void*, unsigned, CUjit_option*, void**) {
    AICF_FAKE_ENTER("cuModuleLoadDataEx");
    *module = reinterpret_cast<CUmodule>(internal::Make(char{}));
    return kCudaSuccess;
  };
  api.ModuleUnload = [](CUmodule module) { return internal::Gone(module); };
  api.ModuleGetFunction = [](CUfunction* function, CUmodule, const char* name) {
    AICF_FAKE_ENTER("cuModuleGetFunction");
    const auto it = Machine()->functions.find(name);
    if (it == Machine()->functions.end()) return kCudaNotFound;
    *function = reinterpret_cast<CUfunction>(&it->second);
    return kCudaSuccess;
  };
  api.FuncGetAttribute = [](int* value, CUfunction_attribute attribute, CUfunction function) {
    AICF_FAKE_ENTER("cuFuncGetAttribute");
    const auto* f = reinterpret_cast<const FakeFunction*>(function);
    *value = attribute == kFuncMaxThreadsPerBlock ? f->max_threads : f->static_shared;
    return kCudaSuccess;
  };
  api.TensorMapEncodeTiled = [](CUtensorMap* map, int type, unsigned rank, void* address,
                                const uint64_t* extents, const uint64_t*, const uint32_t*,
                                const uint32_t*, int, int, int, int) {
    AICF_FAKE_ENTER("cuTensorMapEncodeTiled");
    // What a fake function needs: where the tensor is, and enough to tell maps apart.
    map->opaque[0] = reinterpret_cast<uint64_t>(address);
    map->opaque[1] = static_cast<uint64_t>(type) << 32 | rank;
    for (unsigned d = 0; d < rank; ++d) map->opaque[2 + d] = extents[d];
    return kCudaSuccess;
  };
  api.FuncSetAttribute = [](CUfunction, CUfunction_attribute, int) {
    AICF_FAKE_ENTER("cuFuncSetAttribute");
    return kCudaSuccess;
  };
  api.FuncGetParamInfo = [](CUfunction function, size_t index, size_t* offset, size_t* bytes) {
    const auto* f = reinterpret_cast<const FakeFunction*>(function);
    if (index >= f->parameters + f->tensor_maps) return kCudaInvalidValue;
    const bool map = index >= f->parameters;
    const size_t first_map = (8 * f->parameters + 63) / 64 * 64;
    *offset = map ? first_map + sizeof(CUtensorMap) * (index - f->parameters) : 8 * index;
    *bytes = map ? sizeof(CUtensorMap) : 8;
    return kCudaSuccess;
  };
  api.LaunchKernelEx = [](const CUlaunchConfig* config, CUfunction function, void** parameters,
                          void**) {
    AICF_FAKE_ENTER("cuLaunchKernelEx");
    const auto* f = reinterpret_cast<const FakeFunction*>(function);
    std::vector<uint64_t> values(f->parameters);
    for (size_t i = 0; i < f->parameters; ++i) {
      std::memcpy(&values[i], parameters[i], i + 1 == f->parameters ? f->last_bytes : 8);
    }
    std::vector<CUtensorMap> maps(f->tensor_maps);
    for (size_t i = 0; i < maps.size(); ++i) {
      std::memcpy(&maps[i], parameters[f->parameters + i], sizeof(CUtensorMap));
    }
    internal::CheckAttributes(*config);
    const auto run = [f, values, maps]() mutable {
      std::vector<void*> addresses;
      for (uint64_t& value : values) addresses.push_back(&value);
      for (CUtensorMap& map : maps) addresses.push_back(&map);
      f->run(addresses.data());
      return kCudaSuccess;
    };
    return Enqueue(config->stream, run, /*kernel=*/true);
  };
}

inline void AddStreams(DriverApi& api) {
  api.StreamCreate = [](CUstream* stream, unsigned) {
    AICF_FAKE_ENTER("cuStreamCreate");
    *stream = reinterpret_cast<CUstream>(internal::Make(FakeStream{}));
    return kCudaSuccess;
  };
  api.StreamDestroy = [](CUstream stream) { return internal::Gone(stream); };
  api.StreamSynchronize = [](CUstream) {
    AICF_FAKE_ENTER("cuStreamSynchronize");
    return kCudaSuccess;
  };
  api.StreamQuery = [](CUstream) {
    AICF_FAKE_ENTER("cuStreamQuery");
    return kCudaSuccess;
  };
  api.StreamGetCtx = [](CUstream, CUcontext* context) {
    AICF_FAKE_ENTER("cuStreamGetCtx");
    *context = reinterpret_cast<CUcontext>(Machine());
    return kCudaSuccess;
  };
  api.StreamIsCapturing = [](CUstream stream, CUstreamCaptureStatus* status) {
    *status = static_cast<CUstreamCaptureStatus>(internal::StreamOf(stream)->capturing);
    return kCudaSuccess;
  };
}

inline void AddGraphs(DriverApi& api) {
  api.StreamBeginCapture = [](CUstream stream, CUstreamCaptureMode mode) {
    AICF_FAKE_ENTER("cuStreamBeginCapture");
    if (mode != kCaptureThreadLocal) internal::Problem("capture mode");
    internal::BeginCapture(*internal::StreamOf(stream));
    return kCudaSuccess;
  };
  api.StreamEndCapture = [](CUstream stream, CUgraph* graph) {
    // Ends the capture even when it reports a failure, as the driver does.
    FakeStream* s = internal::StreamOf(stream);
    s->capturing = false;
    const FakePosition end = std::exchange(s->at, {});
    if (!Machine()->failed && !internal::AllJoined(end)) {
      internal::Problem("a capture ends before its streams are joined");
    }
    auto nodes = std::move(end.graph->nodes);
    FakeGraph* const body = std::exchange(s->body, nullptr);
    AICF_FAKE_ENTER("cuStreamEndCapture");
    if (body != nullptr) {
      body->nodes = std::move(nodes);
      *graph = reinterpret_cast<CUgraph>(body);
      return kCudaSuccess;
    }
    *graph = reinterpret_cast<CUgraph>(internal::Make(FakeGraph{std::move(nodes)}));
    return kCudaSuccess;
  };
  api.GraphDestroy = [](CUgraph graph) { return internal::Gone(graph); };
  api.GraphInstantiate = [](CUgraphExec* exec, CUgraph graph, unsigned long long) {
    AICF_FAKE_ENTER("cuGraphInstantiate");
    *exec = reinterpret_cast<CUgraphExec>(internal::Make(FakeGraph(*internal::GraphOf(graph))));
    return kCudaSuccess;
  };
  api.GraphExecDestroy = [](CUgraphExec exec) { return internal::Gone(exec); };
  api.GraphUpload = [](CUgraphExec, CUstream) {
    AICF_FAKE_ENTER("cuGraphUpload");
    return kCudaSuccess;
  };
  api.GraphLaunch = [](CUgraphExec exec, CUstream stream) {
    AICF_FAKE_ENTER("cuGraphLaunch");
    if (internal::StreamOf(stream)->capturing) internal::Problem("graph launch into a capture");
    return internal::GraphOf(exec)->Run();
  };
}

/// Conditional nodes: the body, which the node owns, is captured after the node was added.
inline void AddConditionals(DriverApi& api) {
  api.StreamGetCaptureInfo = [](CUstream stream, CUstreamCaptureStatus* status,
                                unsigned long long* id, CUgraph* graph, const CUgraphNode** nodes,
                                const void** edges, size_t* count) {
    AICF_FAKE_ENTER("cuStreamGetCaptureInfo");
    if (!internal::StreamOf(stream)->capturing) internal::Problem("no capture to examine");
    *status = static_cast<CUstreamCaptureStatus>(1);
    *id = 1;
    *graph = reinterpret_cast<CUgraph>(stream);
    *nodes = nullptr;
    *edges = nullptr;
    *count = 0;
    return kCudaSuccess;
  };
  api.GraphConditionalHandleCreate = [](CUgraphConditionalHandle* handle, CUgraph, CUcontext,
                                        unsigned value, unsigned flags) {
    AICF_FAKE_ENTER("cuGraphConditionalHandleCreate");
    if (flags != kConditionalAssignDefault) internal::Problem("a handle without a default");
    *handle = Machine()->conditions.size() + 1;
    Machine()->conditions[*handle] = value;
    return kCudaSuccess;
  };
  api.GraphAddNode = [](CUgraphNode* node, CUgraph, const CUgraphNode*, const void*, size_t,
                        CUgraphNodeParams* parameters) {
    AICF_FAKE_ENTER("cuGraphAddNode");
    auto& conditional = parameters->conditional;
    const bool repeat = conditional.type == kConditionalWhile;
    if (parameters->type != kNodeConditional || conditional.size != 1 ||
        (!repeat && conditional.type != kConditionalIf)) {
      internal::Problem("a node of an unknown kind");
    }
    const auto body = std::make_shared<FakeGraph>();
    Machine()->bodies = {reinterpret_cast<CUgraph>(body.get())};
    conditional.graphs = Machine()->bodies.data();
    *node = reinterpret_cast<CUgraphNode>(body.get());
    Machine()->added[*node] = [body, repeat, handle = conditional.handle] {
      while (Machine()->conditions[handle] != 0) {
        if (const CUresult result = body->Run(); result != kCudaSuccess) return result;
        if (!repeat) break;
      }
      return kCudaSuccess;
    };
    return kCudaSuccess;
  };
  api.StreamUpdateCaptureDependencies = [](CUstream stream, CUgraphNode* node, const void*,
                                           size_t count, unsigned flags) {
    AICF_FAKE_ENTER("cuStreamUpdateCaptureDependencies");
    const auto it = Machine()->added.find(*node);
    if (count != 1 || flags != kCaptureSetDependencies || it == Machine()->added.end()) {
      return internal::Problem("a capture goes on after no node"), kCudaInvalidValue;
    }
    internal::Append(*internal::StreamOf(stream), std::move(it->second));
    Machine()->added.erase(it);
    return kCudaSuccess;
  };
  api.StreamBeginCaptureToGraph = [](CUstream stream, CUgraph graph, const CUgraphNode*,
                                     const void*, size_t, CUstreamCaptureMode mode) {
    AICF_FAKE_ENTER("cuStreamBeginCaptureToGraph");
    if (mode != kCaptureThreadLocal) internal::Problem("capture mode");
    internal::BeginCapture(*internal::StreamOf(stream));
    internal::StreamOf(stream)->body = internal::GraphOf(graph);
    return kCudaSuccess;
  };
}

inline void AddEvents(DriverApi& api) {
  api.EventCreate = [](CUevent* event, unsigned) {
    AICF_FAKE_ENTER("cuEventCreate");
    *event = reinterpret_cast<CUevent>(internal::Make(FakeEvent{}));
    return kCudaSuccess;
  };
  api.EventDestroy = [](CUevent event) { return internal::Gone(event); };
  api.EventRecord = [](CUevent event, CUstream stream) {
    AICF_FAKE_ENTER("cuEventRecord");
    const FakeStream* s = internal::StreamOf(stream);
    reinterpret_cast<FakeEvent*>(event)->at = s->capturing ? s->at : FakePosition{};
    return kCudaSuccess;
  };
  api.StreamWaitEvent = [](CUstream stream, CUevent event, unsigned flags) {
    AICF_FAKE_ENTER("cuStreamWaitEvent");
    FakeStream* s = internal::StreamOf(stream);
    const FakePosition& from = reinterpret_cast<FakeEvent*>(event)->at;
    if (flags != 0) internal::Problem("a wait with flags");
    if (!s->capturing && from.graph == nullptr) return kCudaSuccess;  // all before it has run
    if (from.graph == nullptr) internal::Problem("a capture that waits for no captured event");
    if (!s->capturing) s->at = {from.graph, {}};  // from here on it belongs to the capture
    if (s->at.graph != from.graph) internal::Problem("a wait across captures");
    s->capturing = true;
    s->at.tail.insert(s->at.tail.end(), from.tail.begin(), from.tail.end());
    return kCudaSuccess;
  };
  api.EventQuery = [](CUevent) {
    AICF_FAKE_ENTER("cuEventQuery");
    return kCudaSuccess;
  };
  api.EventSynchronize = [](CUevent) {
    AICF_FAKE_ENTER("cuEventSynchronize");
    return kCudaSuccess;
  };
  api.EventElapsedTime = [](float* ms, CUevent, CUevent) {
    AICF_FAKE_ENTER("cuEventElapsedTime");
    return *ms = 0.010f, kCudaSuccess;
  };
}

#undef AICF_FAKE_ENTER

/// A table whose functions act on Machine().
inline DriverApi FakeApi() {
  DriverApi api;
  AddDevices(api);
  AddMemory(api);
  AddCopies(api);
  AddModules(api);
  AddStreams(api);
  AddGraphs(api);
  AddConditionals(api);
  AddEvents(api);
  return api;
}

}  // namespace aicf::cuda::testing
