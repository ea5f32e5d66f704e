/// What the C form of the Generator shows to tests.
#pragma once

#include <memory>

#include "aicf/generator.h"
#include "aicf/generator_c.h"

namespace aicf::language {

/// A handle to a generator that MakeGenerator made: the end of aicf_generator_create, and what
/// tests do with a runner of their own.
aicf_generator HandleOf(std::unique_ptr<Generator> generator);

}  // namespace aicf::language
