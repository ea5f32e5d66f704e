#include "runtime/text/detokenizer.h"

#include <utility>

#include "runtime/text/valid_utf8.h"

namespace aicf::text {

Result<std::string> Detokenizer::Push(uint32_t id) {
  AICF_RETURN_IF_ERROR(tokenizer_.AppendBytes(id, options_, &first_, &waiting_));
  std::string out;
  TakeValidUtf8(&waiting_, &out);
  return out;
}

std::string Detokenizer::Finish() {
  first_ = true;
  return ToValidUtf8(std::exchange(waiting_, {}));
}

}  // namespace aicf::text
