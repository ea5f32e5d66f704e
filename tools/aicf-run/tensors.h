/// Inputs from files or made up, outputs to files or against references.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "aicf/aicf.h"
#include "base/status.h"
#include "tools/common/compare.h"

namespace aicf::tools {

struct InputSource {
  TensorInfo info;
  std::vector<std::byte> data;
  std::string origin;  ///< "line.npy", or "random in [-1, 1)"
};

/// Reads the files named by --load-inputs and makes up the rest: a fixed sequence that depends on
/// the input's position only. Errors: kInvalidArgument (unknown name, other dtype or shape), kIo.
Result<std::vector<InputSource>> GatherInputs(const std::vector<TensorInfo>& inputs,
                                              const std::vector<std::string>& load_inputs);

struct Reference {
  TensorInfo info;  ///< of the output
  std::string file;
  DType dtype = DType::kF32;  ///< of the file's elements
  Dims shape;                 ///< of the file: the output's, any extent on its dynamic axis
  std::vector<std::byte> data;
};

/// Reads the files named by --load-ref-outputs. Errors: kInvalidArgument (unknown name, other
/// shape), kIo.
Result<std::vector<Reference>> LoadReferences(const std::vector<TensorInfo>& outputs,
                                              const std::vector<std::string>& load_ref_outputs);

struct CheckResult {
  std::string output;
  Dims shape;
  Comparison comparison;
};

/// Compares the session's outputs with the references. Errors: kDevice from the session.
Result<std::vector<CheckResult>> CheckOutputs(Session& session,
                                              const std::vector<Reference>& references,
                                              const Tolerance& tolerance);

/// Writes every output as DIR/<name>.npy and DIR/outputs.json; makes DIR when it is absent.
/// Characters that a file name cannot hold become '_', with a number where names then collide.
/// Errors: kIo.
Status ExportOutputs(Session& session, const std::vector<TensorInfo>& outputs,
                     const std::string& directory);

}  // namespace aicf::tools
