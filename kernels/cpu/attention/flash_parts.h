/// The parts of a flash attention tile. For *.isa.cc files only.
#pragma once

#include "kernels/cpu/attention/flash.h"
#include "kernels/cpu/isa.h"

AICF_ISA_BEGIN

/// One block of keys of a tile.
struct FlashBlock {
  int64_t first = 0;  ///< number of the block's first key
  int64_t count = 0;  ///< 1..kFlashKeys
  /// First element of each key and value; nullptr where the page is outside the pool.
  const char* key[kFlashKeys];
  const char* value[kFlashKeys];
  bool holes = false;  ///< some are nullptr
};

/// Rows of one storage dtype: row r at address[r], elements `stride` apart.
struct FlashRows {
  const char* const* address;
  int64_t count;   ///< rows
  int64_t length;  ///< elements of a row
  int64_t stride;  ///< elements
  DType dtype;
};

/// to[r * pitch + i] = element i of row r; 0 for a missing row. Elements from `length` up to
/// `pitch` are 0.
void WidenRows(const FlashRows& rows, float* to, int64_t pitch);
/// to[i * kFlashKeys + r] = element i of row r; 0 for a missing row and for r in [count,
/// kFlashKeys).
void TransposeRows(const FlashRows& rows, float* to);

/// scores[r * kFlashKeys + c] = query row r * key c. `query` rows are `pitch` apart; a missing key
/// gives 0. REQUIRES: keys.stride == 1.
void DotRows(const FlashRows& keys, const float* query, int64_t pitch, int64_t rows, float* scores);
/// product[r * pitch + i] = sum over c of weights[r * kFlashKeys + c] * value c's element i;
/// `zeros` stands in for a missing value. REQUIRES: values.stride == 1.
void SumRows(const FlashRows& values, const float* weights, int64_t rows, const float* zeros,
             float* product, int64_t pitch);

/// c = a * b: a has `rows` rows of `depth` elements a_pitch apart, b has `depth` rows of `columns`
/// (a multiple of 16) elements b_pitch apart.
void MultiplyTile(const float* a, int64_t a_pitch, int64_t rows, int64_t depth, const float* b,
                  int64_t b_pitch, int64_t columns, float* c, int64_t c_pitch);

/// A row's running softmax.
struct FlashRow {
  float max = -__builtin_inff();
  float sum = 0;
};
/// Turns a row of kFlashKeys scores into weights exp(score - maximum), where the maximum includes
/// all blocks so far, and adds them to the row's sum. Returns the factor by which the row's older
/// sums have to be multiplied, since the maximum may have grown.
float SoftmaxRow(float* scores, FlashRow* row);
/// sums = sums * factor + product, over n (a multiple of 16) elements.
void RescaleRow(float* sums, const float* product, float factor, int64_t n);

AICF_ISA_END
