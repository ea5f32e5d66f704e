/// Texts of many pieces, put together in one string: StrCat without a string for each of them.
#pragma once

#include <string>

#include "base/dims.h"
#include "base/status.h"

namespace aicf {

/// The pieces at the end of `out`: what StrCat takes.
template <class... Pieces>
void StrAppend(std::string& out, const Pieces&... pieces) {
  (internal::Piece(pieces).AppendTo(out, std::string::npos), ...);
}

/// ToString and ToListString at the end of `out`.
void AppendExtentsText(std::string& out, const Dims& d);
void AppendListText(std::string& out, const Dims& d);

}  // namespace aicf
