// Included before every rewritten source (tests/mutation/mutate_checks.py). Each condition of a refusal is
// a site with a number; the environment variable AICF_MUTANT names the one that is switched off.
#pragma once

#include <string>
#include <utility>

namespace aicf_mutant {

/// The site would refuse now. Says whether it may: whether it is not the one that is switched off.
bool Fires(int site);

/// A condition under which something is refused.
inline bool Refuses(int site, bool condition) { return condition && Fires(site); }

/// A condition without which something is refused.
inline bool Holds(int site, bool condition) { return condition || !Fires(site); }

/// A refusal: a Status, or a sentence that is empty where nothing is refused.
template <class Refusal>
Refusal Passes(int site, Refusal refusal) {
  if constexpr (requires { refusal.ok(); }) {
    return refusal.ok() || Fires(site) ? std::move(refusal) : Refusal();
  } else {
    return refusal.empty() || Fires(site) ? std::move(refusal) : Refusal();
  }
}
inline std::string Passes(int site, const char* refusal) {
  return Passes(site, std::string(refusal));
}

}  // namespace aicf_mutant
