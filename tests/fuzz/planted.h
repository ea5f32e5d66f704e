/// Defects that are planted in the fuzz targets' own code, to show that a campaign which finds
/// nothing would find real ones. AICF_FUZZ_PLANT chooses one: "target" for the defect that each
/// target has behind its reader, which only inputs that the reader accepts can reach, or "leak",
/// "hang" or "memory" for a defect that needs no particular input.
#pragma once

#include <cstddef>
#include <string_view>

#include "tests/fuzz/target.h"

namespace aicf::fuzz {

/// Whether AICF_FUZZ_PLANT asks for the target's own defect.
bool Planted();

/// Reads element `index` of a new array of `count` elements. If the index is not below the count,
/// that is beyond the array's end, as in a reader that lacks a check.
void ReadElement(size_t index, size_t count);

/// Reads beyond the end of an array if the text has a character other than letters, digits and a
/// few marks, like a reader that is prepared for these only. No seed has such names.
void ReadWord(std::string_view text);

/// Reads beyond the end of an array for one input in 16, chosen by its hash, like a reader that is
/// wrong for few of the inputs that it accepts. The first thousand executions, which are the seeds,
/// are left out.
void ReadRarely(Input input);

/// Runs the defect "leak", "hang" or "memory" if AICF_FUZZ_PLANT asks for it.
void RunPlantedCommon(size_t input_bytes);

}  // namespace aicf::fuzz
