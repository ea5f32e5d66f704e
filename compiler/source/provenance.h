/// The provenance section: everything that went into an artifact, so that the same bytes can be
/// made again. One JSON object; no clock, no path, no host name.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/status.h"
#include "compiler/options/compile_options.h"
#include "schema/program.h"

namespace aicf {

/// What an artifact says about its making.
struct Provenance {
  std::string tool;             ///< "aicf-compile 0.1.0"
  std::string model_hash;       ///< HashModelFile of the source model
  std::string device_compiler;  ///< "nvrtc 13.0"; empty without device code
  /// Options that decide the artifact's bytes. Values (--bind) are hashes only, see below.
  CompileOptions options;
  /// By input name: what WriteProvenance says of a bound value.
  std::map<std::string, std::string> values;
  /// CostSource::UsedTimings: a timing cache of what the decisions rest on. Written from
  /// options.costs.
  std::string timings = {};
};

/// How provenance tells a bound value: dtype, shape and hash.
std::string DescribeValue(const ir::Tensor& value);

/// `options`: as compiled, edits included. `values`: descriptions of bound values.
std::string WriteProvenance(const Provenance& provenance, const schema::Program& program);

/// Errors: kBadArtifact naming the key that is missing or is not what it should be.
Result<Provenance> ReadProvenance(std::string_view text);

}  // namespace aicf
