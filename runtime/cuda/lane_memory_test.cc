// What has a place of its own in a lane, and what stays where the plan has it.
#include "runtime/cuda/lane_memory.h"

#include <gtest/gtest.h>

#include <functional>

#include "runtime/cuda/fake_device.h"

namespace aicf::cuda {
namespace {

using namespace aicf::testing;  // NOLINT(google-build-using-namespace)

constexpr size_t kMul = 1;  // entry point
constexpr uint32_t kX = 4, kScale = 5, kOffset = 6, kZ = 8;

class LaneMemories : public ::testing::Test, protected testing::FakeDevice {
 protected:
  LaneMemories() : FakeDevice(testing::FakeApi()) {}
  /// Buffers with a place of their own in entry point "mul" of the plan as `change` leaves it.
  std::vector<uint32_t> OwnOf(const std::function<void(schema::Program&)>& change) {
    auto shared = DeviceProgram::Acquire(program_, driver_, 0);
    EXPECT_TRUE(shared.ok()) << shared.status().ToString();
    const std::shared_ptr<const Device> device = (*shared)->device();
    const ContextScope scope(*device);
    schema::Program plan = program_->artifact().program();
    change(plan);
    const auto staging = Staging::Allocate(device, plan, /*tensors=*/true);
    EXPECT_TRUE(staging.ok());
    const auto memory = LaneMemory::Allocate(device, plan, schema::RootsOf(plan), *staging);
    EXPECT_TRUE(memory.ok());
    std::vector<uint32_t> own;
    if (memory->addresses(kMul) == nullptr) return own;
    for (const LaneAddress& a : *memory->addresses(kMul)) own.push_back(a.root);
    return own;
  }
};

const std::vector<uint32_t> kMetas = {kScale, kOffset};

TEST_F(LaneMemories, HaveMetasAndOutputsThatAreStoredOnce) {
  EXPECT_EQ(OwnOf([](schema::Program&) {}), (std::vector<uint32_t>{kScale, kOffset, kZ}));
}

TEST_F(LaneMemories, LeaveAnOutputThatItsStepReads) {
  EXPECT_EQ(OwnOf([](schema::Program& p) { p.steps[3].inputs[0] = kZ; }), kMetas);
}

TEST_F(LaneMemories, LeaveAnOutputThatTwoStepsWrite) {
  EXPECT_EQ(OwnOf([](schema::Program& p) { p.steps[2].outputs[0] = kZ; }), kMetas);
}

TEST_F(LaneMemories, LeaveAnOutputInPlaceOfAnInput) {
  EXPECT_EQ(OwnOf([](schema::Program& p) {
              p.buffers[kZ].storage = schema::Storage::kAlias;
              p.buffers[kZ].alias_of = kX;
            }),
            kMetas);
}

TEST_F(LaneMemories, LeaveAnOutputOfALibrary) {
  EXPECT_EQ(OwnOf([](schema::Program& p) { p.steps[3].kernel = "cublaslt.matmul"; }), kMetas);
}

TEST_F(LaneMemories, LeaveALargeOutput) {
  EXPECT_EQ(OwnOf([](schema::Program& p) { p.buffers[kZ].bytes = LaneMemory::kMostWritten + 4; }),
            kMetas);
}

/// Runs both lanes once, the second behind the first.
Status RunLanes(SessionBase& s) {
  for (const size_t lane : {0, 1}) {
    AICF_RETURN_IF_ERROR(s.SelectLane(lane));
    AICF_RETURN_IF_ERROR(s.SelectEntry("mul"));
    AICF_RETURN_IF_ERROR(s.SetMeta("scale", TensorOf(Filled(2))));
    AICF_RETURN_IF_ERROR(s.Run());
  }
  for (const size_t lane : {0, 1}) {
    AICF_RETURN_IF_ERROR(s.SelectLane(lane));
    AICF_RETURN_IF_ERROR(s.Wait());
  }
  return OkStatus();
}

TEST_F(LaneMemories, EveryFailingCallIsATypedErrorAndLeaksNothing) {
  SessionOptions options;
  options.sync = SyncPolicy::kEventRecord;
  int failures = 0;
  for (int call = 0; call < 1000; ++call) {
    Status status;
    bool failed = false;  // before the end, whose calls have nobody to tell
    Driver driver(testing::FakeApi());
    machine_.failed = false;
    machine_.fail_code = kCudaOutOfMemory;
    machine_.fail_call = call;
    {
      auto session = CreateCudaSession(program_, 0, options, &driver, 2);
      status = session.status();
      if (session.ok()) status = RunLanes(static_cast<SessionBase&>(**session));
      failed = machine_.failed;
    }
    machine_.fail_call = -1;
    EXPECT_TRUE(machine_.alive.empty()) << "call " << call;
    EXPECT_EQ(machine_.memory_used, 0u) << "call " << call;
    EXPECT_TRUE(machine_.host_blocks.empty()) << "call " << call;
    if (!machine_.failed) break;
    machine_.failed = false;
    ++failures;
    ASSERT_EQ(status.ok(), !failed) << "call " << call << ": " << status.ToString();
    if (!failed) continue;
    ASSERT_EQ(status.code(), Code::kResource) << status.ToString();
  }
  EXPECT_GT(failures, 40);
}

}  // namespace
}  // namespace aicf::cuda
