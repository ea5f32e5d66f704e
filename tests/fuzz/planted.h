/// Defects on purpose, in the fuzz targets' own code, so that a campaign that finds nothing can be
/// told from one that would find nothing. AICF_FUZZ_PLANT chooses: "target" for the one that each
/// target has behind its reader, where only an input that the reader accepts gets to, or "leak",
/// "hang" and "memory" on the way of every input.
#pragma once

#include <cstddef>
#include <string_view>

#include "tests/fuzz/target.h"

namespace aicf::fuzz {

/// Whether the target's own defect is asked for.
bool Planted();

/// Reads element `index` of a fresh array of `count`: beyond its end where the index is not below
/// the count, as a reader with a missing check would.
void ReadElement(size_t index, size_t count);

/// The same beyond the end of an array as long as the text, where the text is no word: as a reader
/// would that knows letters, digits and a few marks only. No seed has such names.
void ReadWord(std::string_view text);

/// The same for one input in 16, by its hash: what a reader gets wrong for few of the inputs that it
/// accepts. Not among the first thousand executions, which are the seeds.
void ReadRarely(Input input);

/// The defect of every input, where one is asked for.
void RunPlantedCommon(size_t input_bytes);

}  // namespace aicf::fuzz
