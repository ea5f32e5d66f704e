/// A decision as bytes in which texts are numbers of a pool.
#pragma once

#include <string>
#include <string_view>

#include "compiler/decisions/text_pool.h"
#include "schema/decision.h"

namespace aicf {

void AppendEncoded(const schema::Decision& decision, TextPool& texts, std::string& out);
/// Takes the decision at the front of `bytes`. REQUIRES: AppendEncoded made them, with this pool.
schema::Decision TakeEncoded(std::string_view& bytes, const TextPool& texts);

}  // namespace aicf
