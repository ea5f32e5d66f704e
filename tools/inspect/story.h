/// The story of a source node or a step, from the source to the kernel: what each stage of the
/// pipeline did with it and why, in the pipeline's order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "tools/inspect/evidence.h"

namespace aicf::tools {

struct Story {
  std::string node;               ///< empty: a step's story
  int64_t step = -1;              ///< of a step's story
  size_t entry = 0;               ///< position of the entry point
  std::string fate;               ///< what became of it, one sentence without its name
  std::vector<size_t> decisions;  ///< those that concern it, of the stages before the plan
  std::vector<size_t> lowered;    ///< steps before fusion that came from it
  std::vector<uint32_t> steps;    ///< steps of the plan that came from it
};

/// REQUIRES: a step of the program.
Story StoryOfStep(const Evidence& evidence, uint32_t step);

/// REQUIRES: one of evidence.NodesOf(entry).
Story StoryOfNode(const Evidence& evidence, size_t entry, const std::string& node);

/// What --explain names: a step ("12", "step.12"), a node by its exact name ("node.NAME" where the
/// name looks like a step), or nodes by a pattern with '*' and '?'. `entry`: an entry point's name;
/// empty: the first that has the node. Never empty.
/// Errors: kInvalidArgument for what is unknown, with the nearest names, and for a step outside the
/// entry point or the program.
Result<std::vector<Story>> FindStories(const Evidence& evidence, std::string_view what,
                                       std::string_view entry);

/// At most 100 columns where names allow it; ends with a newline.
std::string StoryText(const Evidence& evidence, const Story& story);
/// One line each: name and fate.
std::string StoryListText(const Evidence& evidence, const std::vector<Story>& stories);

/// {"node" or "step", "entry", "fate", "graph", "lowering", "fusion" (decisions), "lowered" (steps
/// before fusion), "steps" (each with its decisions, operands, lifetimes and neighbours)}.
Json StoryJson(const Evidence& evidence, const Story& story);

/// A buffer that a step reads or writes, and who else does.
struct BufferUse {
  uint32_t buffer = 0;
  std::vector<uint32_t> writers, readers;  ///< steps of the entry point
};
/// Of every distinct buffer in `buffers`, which a step of the entry point names.
std::vector<BufferUse> UsesOf(const schema::Program& program, size_t entry,
                              const std::vector<uint32_t>& buffers);

}  // namespace aicf::tools
