/// Parsing of the IRs' text forms. Printing then parsing then printing gives the same text.
///
/// Graph:
///   graph    = "graph" quoted "{" input* constant* node* output* "}"
///   input    = "input" value
///   constant = "const" value "=" (list | "@" 32 hex digits)
///   node     = outputs "=" OP "(" [operand {"," operand}] ")" ["{" attr {"," attr} "}"] [quoted]
///   outputs  = value | "(" (value | "_") {"," (value | "_")} ")"     "_": an unused output
///   output   = "output" name
///   value    = name ":" dtype ["[" extents "]"]     no brackets: rank unknown; "[]": a scalar
///   extents  = (INT | "?") {"x" (INT | "?")}        "?": not known before shapes are bound
///   operand  = name | "_"                           "_": an absent optional input
///   name     = "%" (word | quoted)                  quoted if it is no word (base/scanner.h)
///   attr     = word "=" (INT | FLOAT | quoted | list | tensor)
///   list     = "[" [element {"," element}] "]"      integers, floats (always with ".", "e", "n" or
///                                                   "x") or quoted strings; empty lists: "ints[]",
///                                                   "floats[]", "strings[]"
///   tensor   = dtype "[" [extents] "]" (list | "@" hash)
/// e.g. %y: f32[1x8x48x320] = Conv(%x, %w) {strides=[1, 1]} "conv0"
/// The quoted text after a node is its name; a node without one is named OP:first_output.
/// Constants of more than 16 elements are written as the hash of their bytes.
#pragma once

#include <functional>
#include <string_view>

#include "base/hash.h"
#include "base/status.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/lowered.h"

namespace aicf::ir {

/// Finds the bytes of a constant printed as "@<hash>". Where it gives a tensor without data, they
/// are not available, and the constant is made of zeros in its dtype and shape. A parsed program
/// has the same text again only if all constants were found, as in tests. The zeros of one text are
/// limited (constant_text.h), so that a short text cannot take much memory.
using ConstantResolver = std::function<Tensor(DType, const Dims&, std::string_view hash)>;

/// Errors: kInvalidArgument with line number, expected and found.
Result<Graph> ParseGraph(std::string_view text, const ConstantResolver& resolve = {});
Result<Lowered> ParseLowered(std::string_view text, const ConstantResolver& resolve = {});

}  // namespace aicf::ir
