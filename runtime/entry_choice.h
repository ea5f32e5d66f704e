/// Which entry point serves given input shapes. The rules are those of Program::Choose.
#pragma once

#include <span>
#include <vector>

#include "aicf/aicf.h"
#include "schema/program.h"

namespace aicf {

/// What callers see of a verified program's entry points.
std::vector<EntryInfo> DescribeEntries(const schema::Program& program);

/// The program's states, and their buffers, in the order of the buffers.
std::vector<TensorInfo> DescribeStates(const schema::Program& program);
std::vector<uint32_t> StateBuffers(const schema::Program& program);

/// Fills `choice`. Allocates nothing where the lists of `choice` have held as many shapes before.
/// `choice` is undefined after an error.
Status ChooseEntry(const schema::Program& program, const std::vector<EntryInfo>& entries,
                   std::span<const InputShape> shapes, EntryChoice* choice);

/// The whole shapes of one entry point.
void ChooseWhole(const std::vector<EntryInfo>& entries, size_t entry, EntryChoice* choice);

}  // namespace aicf
