/// Artifacts for tests: a program made by hand with decisions and a lowered section as given.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "schema/testing.h"

namespace aicf::tools::testing {

/// Returns nullptr and fails the test when the program does not verify.
inline std::shared_ptr<const schema::Artifact> ArtifactOf(
    const schema::Program& program, const std::string& decisions, const std::string& lowered = "",
    const std::string& provenance = "{\"tool\":\"test\"}\n") {
  schema::Contents contents = schema::testing::ContentsOf(program);
  contents.decisions = decisions;
  contents.lowered = lowered;
  contents.provenance = provenance;
  const auto bytes = schema::Serialize(contents);
  EXPECT_TRUE(bytes.ok()) << bytes.status().ToString();
  if (!bytes.ok()) return nullptr;
  const auto artifact = schema::Artifact::Parse(*bytes, /*with_optional=*/true);
  EXPECT_TRUE(artifact.ok()) << artifact.status().ToString();
  return artifact.ok() ? *artifact : nullptr;
}

}  // namespace aicf::tools::testing
