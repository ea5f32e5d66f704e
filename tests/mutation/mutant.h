// Included at the start of every source that tests/mutation/mutate_checks.py rewrites. Each
// condition of a refusal is a site with a number. The environment variable AICF_MUTANT names the
// site that is switched off.
#pragma once

#include <string>
#include <utility>

namespace aicf_mutant {

/// Called when the site is about to refuse. Returns false if the site is switched off.
bool Fires(int site);

/// Wraps a condition under which something is refused.
inline bool Refuses(int site, bool condition) { return condition && Fires(site); }

/// Wraps a condition that has to hold, because something is refused otherwise.
inline bool Holds(int site, bool condition) { return condition || !Fires(site); }

/// Wraps a refusal: a Status, or a sentence that is empty if nothing is refused.
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
