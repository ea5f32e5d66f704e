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
  std::string node;               ///< of a node's story; empty in a step's
  int64_t step = -1;              ///< of a step's story; -1 in a node's
  size_t entry = 0;               ///< position of the entry point
  std::string fate;               ///< what became of it: a sentence that leaves out its name
  std::vector<size_t> decisions;  ///< decisions about it that were made before the plan
  std::vector<size_t> lowered;    ///< steps before fusion that came from it
  std::vector<uint32_t> steps;    ///< steps of the plan that came from it
};

/// REQUIRES: a step of the program.
Story StoryOfStep(const Evidence& evidence, uint32_t step);

/// REQUIRES: one of evidence.NodesOf(entry).
Story StoryOfNode(const Evidence& evidence, size_t entry, const std::string& node);

/// The stories that --explain asks for. `what` is a step ("12", "step.12"), a node's exact name
/// ("node.NAME" if the name looks like a step), or a pattern with '*' and '?' for nodes. `entry` is
/// an entry point's name; if it is empty, the first entry point that has the node is taken. The
/// result is never empty.
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

/// A buffer, and the steps that read or write it.
struct BufferUse {
  uint32_t buffer = 0;
  std::vector<uint32_t> writers, readers;  ///< steps of the entry point
};
/// The uses of every distinct buffer in `buffers`, which are operands of a step of the entry point.
std::vector<BufferUse> UsesOf(const schema::Program& program, size_t entry,
                              const std::vector<uint32_t>& buffers);

}  // namespace aicf::tools
