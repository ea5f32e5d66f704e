/// The images section: compiled device code, one cubin after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/codegen/images.h"
#include "schema/program.h"

namespace aicf {

/// Appends a cubin to the section's bytes, aligned, and its row to the program; gives its index in
/// Program::images.
int32_t AppendImage(const CompiledImage& image, schema::Program& program,
                    std::vector<std::byte>& section);

}  // namespace aicf
