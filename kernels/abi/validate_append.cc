// Rules of the append family.
#include "kernels/abi/append.h"
#include "kernels/abi/validate_rules.h"

namespace aicf::abi {
namespace {

Status CheckData(const Problem& p, const View& v, const Dims& shape, std::string_view name) {
  if (!IsData(v.dtype)) {
    return Bad(p, name, " are ", DTypeName(v.dtype), ", expected f32, f16 or bf16");
  }
  return CheckSameShape(p, v, shape, name);
}

Status CheckTurned(const Problem& p) {
  const Dims &k = p.inputs[kAppendK].shape, &q = p.inputs[kAppendQ].shape;
  const int64_t pairs = p.as<AppendAttrs>().pairs;
  if (q.rank() != 4) return Bad(p, "queries have rank ", q.rank(), ", expected 4");
  AICF_RETURN_IF_ERROR(CheckData(p, p.inputs[kAppendQ], {k[0], k[1], q[2], k[3]}, "queries"));
  const Dims table = {k[0], k[1], pairs};
  AICF_RETURN_IF_ERROR(CheckData(p, p.inputs[kAppendCosine], table, "cosines"));
  AICF_RETURN_IF_ERROR(CheckData(p, p.inputs[kAppendSine], table, "sines"));
  return CheckData(p, p.outputs[kTurnedQueries], q, "turned queries");
}

Status CheckAppendCounts(const Problem& p) {
  const bool turns = p.as<AppendAttrs>().pairs > 0;
  const size_t inputs = turns ? kAppendSine + 1 : kAppendValues + 1;
  const size_t outputs = turns ? kTurnedQueries + 1 : kNextValues + 1;
  if (p.inputs.size() != inputs || static_cast<size_t>(p.core_inputs) != inputs) {
    return Bad(p, p.core_inputs, " core operands of ", p.inputs.size(), ", expected ", inputs);
  }
  if (p.outputs.size() != outputs) {
    return Bad(p, p.outputs.size(), " outputs, expected ", outputs);
  }
  return OkStatus();
}

Status CheckPlaces(const Problem& p, const Dims& k) {
  const View& places = p.inputs[kAppendPlaces];
  if (places.dtype != DType::kI32) {
    return Bad(p, "places are ", DTypeName(places.dtype), ", expected i32");
  }
  return CheckSameShape(p, places, {k[0], k[1], 2}, "places");
}

}  // namespace

template <>
Status CheckRules<Family::kAppend>(const Problem& p) {
  AICF_RETURN_IF_ERROR(CheckAppendCounts(p));
  const int64_t pairs = p.as<AppendAttrs>().pairs;
  const Dims &k = p.inputs[kAppendK].shape, &cache = p.inputs[kAppendKeys].shape;
  if (k.rank() != 4 || cache.rank() != 4) {
    return Bad(p, "keys have ranks ", k.rank(), " and ", cache.rank(), ", expected 4");
  }
  if (pairs < 0 || pairs > k[3] / 2) {
    return Bad(p, pairs, " pairs in heads of ", k[3], " elements");
  }
  AICF_RETURN_IF_ERROR(CheckData(p, p.inputs[kAppendK], k, "new keys"));
  AICF_RETURN_IF_ERROR(CheckData(p, p.inputs[kAppendV], k, "new values"));
  AICF_RETURN_IF_ERROR(CheckPlaces(p, k));
  const Dims pool = {cache[0], cache[1], k[2], k[3]};
  AICF_RETURN_IF_ERROR(CheckData(p, p.inputs[kAppendKeys], pool, "keys"));
  AICF_RETURN_IF_ERROR(CheckData(p, p.inputs[kAppendValues], pool, "values"));
  AICF_RETURN_IF_ERROR(CheckNext(p, kNextKeys, kAppendKeys, "keys"));
  AICF_RETURN_IF_ERROR(CheckNext(p, kNextValues, kAppendValues, "values"));
  return pairs > 0 ? CheckTurned(p) : OkStatus();
}

}  // namespace aicf::abi
