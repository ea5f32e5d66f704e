/// How far a kernel's prediction is off, as measurements say.
#pragma once

namespace aicf::tune {

struct CostFit {
  double scale = 1;
  double offset_us = 0;  ///< never negative
  int samples = 0;       ///< problems that it was fitted to

  double Apply(double cost_us) const { return scale * cost_us + offset_us; }
};

}  // namespace aicf::tune
