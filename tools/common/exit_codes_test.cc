#include "tools/common/exit_codes.h"

#include <gtest/gtest.h>

namespace aicf::tools {
namespace {

TEST(ExitCodes, WhatEveryToolEndsWithIsThereAndItsOwnStandsBetween) {
  EXPECT_EQ(ExitCodesText({}),
            "Exit codes: 0 ok, 2 usage, 7 resources, 8 I/O, 70 a defect in aicf,\n"
            "130 and 143 interrupted (SIGINT, SIGTERM).");
  const std::string own =
      ExitCodesText({{Code::kBadArtifact}, {Code::kInvalidArgument, "usage or not a key"}});
  EXPECT_TRUE(own.starts_with("Exit codes: 0 ok, 2 usage or not a key, 5 bad artifact, 7 ")) << own;
}

}  // namespace
}  // namespace aicf::tools
