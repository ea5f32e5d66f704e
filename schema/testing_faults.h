/// Helpers for tests of VerifyProgram: valid programs are accepted; a program with one fault is
/// refused with a sentence that names it.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "schema/program.h"
#include "schema/verify.h"

namespace aicf::schema::testing {

/// One way to break a valid program, and a part of the message that refuses the broken one.
struct Fault {
  std::string_view name;
  std::function<void(Program&)> edit;
  std::string_view sentence;
};

inline void ExpectAccepted(const Program& p) {
  const Status status = VerifyProgram(p);
  EXPECT_TRUE(status.ok()) << status.ToString() << "\n" << ToString(p);
}

inline void ExpectRefused(const Program& p, std::string_view sentence,
                          Code code = Code::kBadArtifact) {
  const Status status = VerifyProgram(p);
  EXPECT_EQ(status.code(), code) << status.ToString() << "\n" << ToString(p);
  EXPECT_NE(status.message().find(sentence), std::string::npos) << status.ToString();
}

/// `valid` is accepted, and refused with each of the faults alone.
inline void ExpectFaults(const Program& valid, std::span<const Fault> faults) {
  ExpectAccepted(valid);
  for (const Fault& fault : faults) {
    SCOPED_TRACE(fault.name);
    Program p = valid;
    fault.edit(p);
    ExpectRefused(p, fault.sentence);
  }
}

}  // namespace aicf::schema::testing
