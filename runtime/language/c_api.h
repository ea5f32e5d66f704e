/// What the C forms of the Generator and the Embedder share, and what they show to tests.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "aicf/generator.h"
#include "aicf/generator_c.h"

namespace aicf::language {

/// A handle to a generator that MakeGenerator made: the end of aicf_generator_create, and what
/// tests do with a runner of their own.
aicf_generator HandleOf(std::unique_ptr<Generator> generator);

/// The caller's ids. Errors: kInvalidArgument for no address.
Result<std::span<const uint32_t>> ReadIds(const uint32_t* ids, uint64_t count);

/// Copies ids out, and says how many there are, even where they do not fit. Errors:
/// kInvalidArgument; `ids` is unchanged then.
Status GiveIds(const std::vector<uint32_t>& found, uint32_t* ids, uint64_t capacity,
               uint64_t* count);

}  // namespace aicf::language
