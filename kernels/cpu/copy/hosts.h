/// Host functions of the copy kernels: what the rows of list.inc are made from.
#pragma once

#include "kernels/cpu/common/host.h"
#include "kernels/cpu/copy/copy.h"

namespace aicf::cpu::copy_hosts {

struct VectorHost : CpuHostBase {
  static std::string Refusal(const abi::Problem& p) {
    return p.epilogue.empty() ? std::string() : "moves elements as they are";
  }
};

struct ReferenceHost : CpuHostBase {
  static constexpr double kFlopsShare = 0.002;
  static constexpr double kBytesShare = 0.02;
};

}  // namespace aicf::cpu::copy_hosts
