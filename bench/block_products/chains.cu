// Times of the instances that bench/block_products/instances.cc made, beside the device's read
// bandwidth.
//
//   nvcc -arch=sm_90a -O2 bench/block_products/chains.cu -o chains -lcuda && ./chains DIR
//
// Every line of DIR/manifest becomes a graph of up to 48 programmatic launches, as a decode step
// has them, each with weights of its own: together some 0.8 GB, so that no cache holds them.
// Printed are the least time of 8 replays for one launch, the packed weights' bytes over it, and
// that over the read bandwidth (a sum of 1.5 GB in the same run). Weights are random bits of which
// no scale is infinite or no number.
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace {

constexpr size_t kPoolBytes = size_t{3} << 29, kChainBytes = size_t{3} << 28,
                 kOutputBytes = 4 << 20;
constexpr int kMostLaunches = 48, kOutputs = 8, kReplays = 8;

void Check(int error, const char* what) {
  if (error == 0) return;
  std::printf("%s: error %d\n", what, error);
  std::exit(1);
}

__global__ void Fill(unsigned* to, size_t count) {
  const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count; i += stride) {
    unsigned x = static_cast<unsigned>(i) * 2654435761u + 12345u;
    x = (x ^ x >> 15) * 0x2c1b3c6du;
    to[i] = (x ^ x >> 12) & 0xbfffbfffu;
  }
}

__global__ void Sum(const uint4* from, size_t count, unsigned* out) {
  constexpr int kUnroll = 8;
  const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
  unsigned sum = 0;
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count; i += kUnroll * stride) {
    uint4 v[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      v[u] = i + u * stride < count ? __ldcs(from + i + u * stride) : uint4{};
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) sum += v[u].x ^ v[u].y ^ v[u].z ^ v[u].w;
  }
  if (sum == 1) *out = sum;
}

struct Buffers {
  char *weights, *x, *outputs;
};

struct Instance {
  std::string file, symbol, text;
  unsigned grid, block, cluster, shared;
  size_t bytes;
};

class Timer {
 public:
  Timer() {
    Check(cudaStreamCreate(&stream_), "making a stream");
    for (cudaEvent_t& event : events_) Check(cudaEventCreate(&event), "making an event");
  }
  cudaStream_t stream() const { return stream_; }
  template <class F>
  double BestUs(const F& f) {
    double best = 1e30;
    for (int i = 0; i < kReplays; ++i) {
      float ms = 0;
      Check(cudaEventRecord(events_[0], stream_), "recording");
      f();
      Check(cudaEventRecord(events_[1], stream_), "recording");
      Check(cudaEventSynchronize(events_[1]), "running");
      Check(cudaEventElapsedTime(&ms, events_[0], events_[1]), "timing");
      best = std::min(best, 1000.0 * ms);
    }
    return best;
  }

 private:
  cudaStream_t stream_;
  cudaEvent_t events_[2];
};

void Launch(CUfunction function, const Instance& i, const Buffers& b, int number, CUstream stream) {
  const size_t step = (i.bytes + 255) / 256 * 256;
  void* in0 = b.x;
  void* in1 = b.weights + number * step % (kPoolBytes - i.bytes) / 256 * 256;
  void* out = b.outputs + number % kOutputs * kOutputBytes;
  void* workspace = nullptr;
  void* parameters[] = {&in0, &in1, &out, &workspace};
  CUlaunchAttribute attributes[2] = {};
  attributes[0].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attributes[0].value.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attributes[1].value.clusterDim = {i.cluster, 1, 1};
  CUlaunchConfig config = {};
  config.gridDimX = i.grid;
  config.blockDimX = i.block;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = i.shared;
  config.hStream = stream;
  config.attrs = attributes;
  config.numAttrs = i.cluster > 1 ? 2 : 1;
  Check(cuLaunchKernelEx(&config, function, parameters, nullptr), "launching");
}

double ChainUs(Timer& timer, CUfunction function, const Instance& instance, const Buffers& b) {
  const auto fit = static_cast<int>(kChainBytes / instance.bytes);
  const int count = std::clamp(fit, 2, kMostLaunches);
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  Check(cudaStreamBeginCapture(timer.stream(), cudaStreamCaptureModeThreadLocal), "capturing");
  for (int i = 0; i < count; ++i) Launch(function, instance, b, i, timer.stream());
  Check(cudaStreamEndCapture(timer.stream(), &graph), "capturing");
  Check(cudaGraphInstantiate(&replay, graph, 0), "instantiating");
  const double us =
      timer.BestUs([&] { Check(cudaGraphLaunch(replay, timer.stream()), "replaying"); });
  Check(cudaGraphExecDestroy(replay), "freeing");
  Check(cudaGraphDestroy(graph), "freeing");
  return us / count;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::printf("usage: chains DIR\n");
    return 2;
  }
  const std::string folder = argv[1];
  Buffers b;
  Check(cudaMalloc(&b.weights, kPoolBytes), "allocating");
  Check(cudaMalloc(&b.x, kOutputBytes), "allocating");
  Check(cudaMalloc(&b.outputs, kOutputs * kOutputBytes), "allocating");
  Fill<<<1024, 512>>>(reinterpret_cast<unsigned*>(b.weights), kPoolBytes / 4);
  Fill<<<64, 256>>>(reinterpret_cast<unsigned*>(b.x), kOutputBytes / 4);
  Check(cudaDeviceSynchronize(), "filling");
  Timer timer;
  const double sum_us = timer.BestUs([&] {
    Sum<<<132 * 8, 512, 0, timer.stream()>>>(reinterpret_cast<uint4*>(b.weights), kPoolBytes / 16,
                                             reinterpret_cast<unsigned*>(b.outputs));
  });
  const double read = kPoolBytes / sum_us / 1e3;
  cudaDeviceProp device;
  int driver = 0;
  Check(cudaGetDeviceProperties(&device, 0), "naming the device");
  Check(cudaDriverGetVersion(&driver), "asking for the driver");
  std::printf("%s, CUDA %d, read %.0f GB/s\n", device.name, driver, read);
  std::ifstream manifest(folder + "/manifest");
  std::map<std::string, CUmodule> modules;
  for (std::string line; std::getline(manifest, line);) {
    Instance i;
    std::istringstream in(line);
    in >> i.file >> i.symbol >> i.grid >> i.block >> i.cluster >> i.shared >> i.bytes;
    std::getline(in >> std::ws, i.text);
    CUmodule& module = modules[i.file];
    if (module == nullptr) Check(cuModuleLoad(&module, (folder + "/" + i.file).c_str()), "loading");
    CUfunction function;
    Check(cuModuleGetFunction(&function, module, i.symbol.c_str()), "finding a function");
    const auto shared = static_cast<int>(i.shared);
    Check(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared),
          "granting shared memory");
    const double us = ChainUs(timer, function, i, b);
    const double rate = static_cast<double>(i.bytes) / us / 1e3;
    std::printf("%s | %.2f us | %.0f GB/s | %.2f\n", i.text.c_str(), us, rate, rate / read);
  }
  return 0;
}
