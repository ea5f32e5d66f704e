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

/// Which entry point runs, with what.
struct Selection {
  EntryChoice choice;
  std::vector<InputSource> inputs;  ///< with the shapes chosen
  std::vector<TensorInfo>
      outputs;  ///< with the shapes chosen, an output's dynamic axis at its largest
  std::vector<InputSource> metas;   ///< of the entry point; zero without a file
  std::vector<InputSource> states;  ///< of the program; see GatherStates
};

/// Reads the files named by --load-inputs, chooses the entry point that serves their shapes
/// (`entry` unless it is empty; the first without files) and makes up the rest: a fixed sequence
/// that depends on the input's position only. Errors: kInvalidArgument (unknown name, other dtype
/// or shape), kIo.
Result<Selection> GatherInputs(const Program& program, const std::string& entry,
                               const std::vector<std::string>& load_inputs);

/// Reads the files named by --load-state into selection.states; the others are zero, or random with
/// `make_up` where they are floating-point (integers may be positions). Errors: kInvalidArgument, kIo.
Status GatherStates(const Program& program, const std::vector<std::string>& load_states,
                    bool make_up, Selection* selection);

/// Hands over inputs, metas and states; ResetStates then gives the session these states again.
Status SetTensors(Session& session, const Selection& selection);

/// Makes the session do what was chosen. Errors: those of Session::SelectShapes.
Status Select(Session& session, const Program& program, const Selection& selection);

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
  Dims shape;             ///< of what was found
  Dims expected;          ///< the reference's shape; another one than found is a failure
  Comparison comparison;  ///< of equal shapes

  bool pass() const { return shape == expected && comparison.pass; }
  /// Why it failed: "is outside atol 1e-05", "has another shape: expected shape 3, found 2".
  std::string Reason(const Tolerance& tolerance) const;
};

/// Compares the session's outputs with the references, all of them. Errors: kDevice from the
/// session.
Result<std::vector<CheckResult>> CheckOutputs(Session& session,
                                              const std::vector<Reference>& references,
                                              const Tolerance& tolerance);

/// Writes every state as DIR/<name>.npy and DIR/states.json, otherwise as ExportOutputs.
Status ExportStates(Session& session, const std::string& directory);

/// Writes every output as DIR/<name>.npy and DIR/outputs.json; makes DIR when it is absent.
/// Characters that a file name cannot hold become '_', with a number where names then collide.
/// Errors: kIo.
Status ExportOutputs(Session& session, const std::vector<TensorInfo>& outputs,
                     const std::string& directory);

}  // namespace aicf::tools
