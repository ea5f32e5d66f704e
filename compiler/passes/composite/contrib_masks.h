/// What the attention ops of com.microsoft have in common, and the standard's has not.
#pragma once

#include "compiler/passes/composite/composer.h"

namespace aicf {

/// Errors: kBadModel when the node leaves out an input that must be there.
Status RequireInput(const Composer& c, size_t input, std::string_view name);
/// Errors: kUnsupported when the node has an input, or a non-zero attribute, that is not computed.
Status RefuseInput(const Composer& c, size_t input, std::string_view name);
Status RefuseAttribute(const Composer& c, std::string_view name);

/// The attribute 'scale', or 1 / sqrt(head_size) when it is absent or 0.
double AttentionScale(const Composer& c, int64_t head_size);

/// The integer mask of keys as a bias of 0 and 'mask_filter_value', to be added to scores
/// [B, H, L, T]. Forms: [B] lengths; [2B] ends, then starts; [B, T]; [B, L, T]; [B, 1, M, M] whose
/// rows start at `past` and whose columns at 0. Errors: kBadModel for another shape.
ir::ValueId PaddingBias(Composer& c, ir::ValueId mask, const Dims& scores, int64_t past,
                        DType dtype);

}  // namespace aicf
