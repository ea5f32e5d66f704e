/// A tensor from an .npy file: read, written and read again.
#include "tools/common/npy.h"

#include "tests/fuzz/planted.h"
#include "tests/fuzz/target.h"

namespace aicf::fuzz {
namespace {

void RunNpy(Input input) {
  const auto array = tools::ParseNpy(std::as_bytes(input));
  CheckTyped(array);
  if (!array.ok()) return;
  if (Planted()) ReadRarely(input);
  const auto written = tools::SerializeNpy(array->dtype, array->shape, array->data);
  const auto again = tools::ParseNpy(written);
  if (!again.ok()) Broken("a written file is refused: " + again.status().ToString());
  if (again->dtype != tools::NpyDType(array->dtype) || again->shape != array->shape ||
      again->data != array->data) {
    Broken("a written file holds another tensor");
  }
}

}  // namespace

Target NpyTarget() { return {"npy", &RunNpy}; }

}  // namespace aicf::fuzz
