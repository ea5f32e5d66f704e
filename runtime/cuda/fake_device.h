/// For tests: a program with states on a fake driver, which has to be left as it was found.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "runtime/cuda/cuda_session.h"
#include "runtime/cuda/fake_driver.h"
#include "runtime/cuda/fake_functions.h"
#include "runtime/test_state.h"

namespace aicf::cuda::testing {

/// The machine, its driver, and the program of StateContents (runtime/test_state.h). At the end
/// nothing may be left of memory, of host blocks or of handles.
class FakeDevice {
 protected:
  explicit FakeDevice(const DriverApi& api) : driver_(api) {
    Machine() = &machine_;
    program_ = aicf::testing::MakeProgram(aicf::testing::StateContents("cuda:sm_90a"));
    AddReferenceFunctions(machine_, program_->artifact().program());
  }
  ~FakeDevice() {
    program_ = nullptr;
    EXPECT_EQ(machine_.problem, "");
    EXPECT_TRUE(machine_.alive.empty());
    EXPECT_EQ(machine_.memory_used, 0u);
    EXPECT_TRUE(machine_.host_blocks.empty());
    Machine() = nullptr;
  }

  FakeMachine machine_;
  Driver driver_;
  std::shared_ptr<const Program> program_;
};

}  // namespace aicf::cuda::testing
