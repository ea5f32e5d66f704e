/// The extents of a step that appends to a cache, and the places of its operands.
#pragma once

#include "kernels/abi/problem.h"

namespace aicf::abi {

enum AppendInput : size_t {
  kAppendK,
  kAppendV,
  kAppendPlaces,
  kAppendKeys,
  kAppendValues,
  kAppendQ,  ///< this operand and those after it exist only where AppendAttrs::pairs is not 0
  kAppendCosine,
  kAppendSine,
};
enum AppendOutput : size_t { kNextKeys, kNextValues, kTurnedQueries };

struct AppendShape {
  int64_t rows = 0;   ///< new rows of all requests together
  int64_t heads = 0;  ///< key heads, and as many value heads
  int64_t query_heads = 0;
  int64_t head = 0;   ///< elements
  int64_t slots = 0;  ///< rows that the cache has room for, over all its pages
  int64_t pairs = 0;
};

/// REQUIRES: a valid problem of the append family.
inline AppendShape AppendShapeOf(const Problem& p) {
  const Dims &k = p.inputs[kAppendK].shape, &keys = p.inputs[kAppendKeys].shape;
  AppendShape s;
  s.pairs = p.as<AppendAttrs>().pairs;
  s.rows = k[0] * k[1];
  s.heads = k[2];
  s.query_heads = s.pairs > 0 ? p.inputs[kAppendQ].shape[2] : 0;
  s.head = k[3];
  s.slots = keys[0] * keys[1];
  return s;
}

}  // namespace aicf::abi
