/// Random loops: states that swap, stay and mix, values captured from outside, loops in loops; and
/// a plain interpreter of them.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/loops/loop_model.h"

namespace aicf::loops {

inline constexpr int64_t kWidth = 3;  ///< elements of every value
using Vector = std::vector<double>;

/// One instruction: result = op of earlier values, or a loop.
struct Instruction {
  std::string op;
  std::vector<int> args;               ///< values of this block or of one around it
  std::shared_ptr<struct Block> body;  ///< of a loop
  int result = 0;                      ///< the first, of as many as a loop has states
  int trips = 0;                       ///< constant added to the loop's count
};

/// Values are numbered over all blocks: what a block reads and does not make is captured.
struct Block {
  std::vector<int> states;  ///< values that stand for them
  std::vector<Instruction> code;
  std::vector<int> next;  ///< the states' values after a trip
};

/// A model with the inputs "trips" and the values of `inputs`, all of kWidth elements.
struct Case {
  std::vector<int> inputs;
  Block main;  ///< its `next` are the model's outputs
  int values = 0;
  ModelBuilder model;
};

Case MakeCase(uint32_t seed);
/// Runs a block once; every loop makes `trips` and its own number of trips.
void Execute(const Block& block, int64_t trips, std::vector<Vector>& values);
size_t CountLoops(const Block& block);
std::string NameOf(int value);
/// Inputs by name; with `values`, sets them there, too.
Feeds RandomFeeds(const Case& c, int64_t trips, std::mt19937& rng, std::vector<Vector>* values);

}  // namespace aicf::loops
