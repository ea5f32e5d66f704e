#include "compiler/check/help.h"

namespace aicf {
namespace {

struct StageHelp {
  std::string_view op;       // "*": any; "domain.*"; "*.*": any of another domain than ONNX's
  std::string_view problem;  // a part of it
  std::string_view help;
};

constexpr std::string_view kStrings = "tokenise before the model and pass numbers";

// The first that fits.
constexpr StageHelp kStageHelp[] = {
    {"*", "element type STRING", kStrings},
    {"*", "a constant of strings", kStrings},
    {"*", "works on strings", kStrings},
    {"*", "element type COMPLEX",
     "keep real and imaginary parts on a last axis of extent 2, as DFT and STFT do"},
    {"*", "element type UNDEFINED", "the file names no element type: export the model again"},
    {"*", "element type", "cast to a type of docs/onnx.md before the model"},
    {"*", "is a sequence",
     "stack the items into one tensor, or give every item an input of its own: a model does not "
     "say "
     "how long a sequence is"},
    {"*", "is an optional", "export with the value as a plain tensor, or without it"},
    {"*", "is a map", "pass the values as a tensor, in the order of their keys"},
    {"*", "sparse", "store it as a dense tensor"},
    {"*", "has rank", "merge some of its axes"},
    {"*", "checksum", "save the external data without checksums"},
    {"*", "training",
     "export for inference: model.eval(), and TrainingMode.EVAL where it is asked for"},
    {"*", "draws random numbers", "draw outside and pass the numbers as an input"},
    {"*", "decodes image files", "decode before the model and pass pixels"},
    {"*", "is not an attribute of", "remove the attribute, or export with an opset that has it"},
    {"ai.onnx.ml.*", "", "cut it off with onnx.utils.extract_model and run it beside the model"},
    {"com.microsoft.*", " is not supported",
     "save the model without ONNX Runtime's optimiser, which makes these ops "
     "(graph_optimization_level=ORT_DISABLE_ALL)"},
    {"org.pytorch.aten.*", "", "torch.onnx.export(..., dynamo=True), which decomposes ATen ops"},
    {"*.*", " is not supported",
     "export the op's body as a function of the model, or replace the node by ops that "
     "aicf-compile --list-ops names"},
    {"*", "the op is not supported", "replace the node by ops that aicf-compile --list-ops names"},
    {"*", "of the ONNX operators", "onnx.version_converter.convert_version to a supported opset"},
    {"*", "at run time only",
     "export it with a fixed count or condition, or --bind=NAME:FILE.npy for the inputs that it is "
     "computed from"},
    {"*", "--bind", "--bind=NAME:FILE.npy for the inputs that it is computed from"},
    {"*", "no kernel", "another --target, --math or --policy, or another dtype"},
    {"*", "policy", "leave --policy-strict out, or prefer another kernel"},
    {"*", "is malformed", "the model breaks a rule of the standard: export it again"},
    {"*", "", "export the node in a form that docs/onnx.md lists"},
};

bool Fits(std::string_view pattern, std::string_view op) {
  if (pattern == "*") return true;
  if (pattern == "*.*") return op.find('.') != std::string_view::npos;
  return op.starts_with(pattern.substr(0, pattern.size() - 1));
}

}  // namespace

std::string_view HelpAgainst(std::string_view op, std::string_view problem) {
  for (const StageHelp& row : kStageHelp) {
    if (Fits(row.op, op) && problem.find(row.problem) != std::string_view::npos) return row.help;
  }
  return {};
}

}  // namespace aicf
