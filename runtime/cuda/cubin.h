/// A look at device code before the driver sees it.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.h"

namespace aicf::cuda {

/// Checks that `image` is an ELF file for NVIDIA GPUs whose headers, sections and segments lie
/// inside it. The driver takes what is not ELF for source text and reads on past its end, and
/// follows offsets outside the image; the artifact's hashes catch accidents, this catches images
/// that were never device code. It is no defence against code made to do harm: device code is code.
/// Errors: kBadArtifact naming what is wrong.
Status CheckCubin(std::span<const std::byte> image);

}  // namespace aicf::cuda
