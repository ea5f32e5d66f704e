/// Inputs, which are read from files or made up, and outputs, which are written to files or
/// compared with references.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "aicf/aicf.h"
#include "base/status.h"
#include "tools/common/compare.h"

namespace aicf::tools {

/// The origin of a tensor that is zero because nobody gives it.
inline constexpr std::string_view kZeroOrigin = "zero";

struct InputSource {
  TensorInfo info;
  std::vector<std::byte> data;
  std::string origin;  ///< "line.npy", or "random in [-1, 1)"
};

/// Which entry point runs, and with which tensors.
struct Selection {
  EntryChoice choice;
  std::vector<InputSource> inputs;  ///< with the shapes chosen
  std::vector<TensorInfo>
      outputs;  ///< with the shapes chosen, an output's dynamic axis at its largest
  std::vector<InputSource> metas;  ///< of the entry point; without a file zero, or made-up requests
  std::vector<InputSource> states;  ///< of the program; see GatherStates
};

/// Reads the files named by --load-inputs, chooses the entry point that serves their shapes
/// (`entry` unless that is empty; the first one if there are no files) and makes up the other
/// inputs: each gets a fixed sequence that depends only on the input's position. Metas without a
/// file are those of made-up requests where a language model has none (MakeUpRequests), otherwise
/// zero. Errors: kInvalidArgument (unknown name, other dtype or shape), kIo, those of
/// MakeUpRequests.
Result<Selection> GatherInputs(const Program& program, const std::string& entry,
                               const std::vector<std::string>& load_inputs);

/// Reads the files named by --load-state into selection.states. The other states are zero; with
/// `make_up`, those of floating-point types are random (integers stay zero, since they may be
/// positions). Errors: kInvalidArgument, kIo.
Status GatherStates(const Program& program, const std::vector<std::string>& load_states,
                    bool make_up, Selection* selection);

/// Hands inputs, metas and states over to the session. Its ResetStates then restores these states.
Status SetTensors(Session& session, const Selection& selection);

/// Makes the session use the entry point and the shapes that were chosen. Errors: those of
/// Session::SelectShapes.
Status Select(Session& session, const Program& program, const Selection& selection);

struct Reference {
  TensorInfo info;  ///< of the output
  std::string file;
  DType dtype = DType::kF32;  ///< of the file's elements
  Dims shape;                 ///< of the file; may differ from the output's on its dynamic axis
  std::vector<std::byte> data;
};

/// Reads the files named by --load-ref-outputs. Errors: kInvalidArgument (unknown name, other
/// shape), kIo.
Result<std::vector<Reference>> LoadReferences(const std::vector<TensorInfo>& outputs,
                                              const std::vector<std::string>& load_ref_outputs);

struct CheckResult {
  std::string output;
  Dims shape;             ///< of what was found
  Dims expected;          ///< the reference's shape; differing from `shape` is a failure
  Comparison comparison;  ///< made only if the shapes are equal

  bool pass() const { return shape == expected && comparison.pass; }
  /// Why it failed: "is outside atol 1e-05", "has another shape: expected shape 3, found 2".
  std::string Reason(const Tolerance& tolerance) const;
};

/// Compares the session's outputs with all references. Errors: kDevice from the session.
Result<std::vector<CheckResult>> CheckOutputs(Session& session,
                                              const std::vector<Reference>& references,
                                              const Tolerance& tolerance);

/// Like ExportOutputs, for states: writes each as DIR/<name>.npy, and DIR/states.json.
Status ExportStates(Session& session, const std::string& directory);

/// Writes every output as DIR/<name>.npy, and DIR/outputs.json; creates DIR when it is absent.
/// Characters that a file name cannot hold become '_'; names that then collide get a number.
/// Errors: kIo.
Status ExportOutputs(Session& session, const std::vector<TensorInfo>& outputs,
                     const std::string& directory);

}  // namespace aicf::tools
