/// A reference to a callable, as a parameter type for functions that call it before they return.
/// Unlike std::function it owns and allocates nothing, and unlike with a template parameter the
/// function that takes it is compiled once.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace aicf {

template <class Signature>
class FunctionRef;

/// REQUIRES: the callable outlives every call.
template <class R, class... Args>
class FunctionRef<R(Args...)> {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>)
      FunctionRef(F&& f)  // NOLINT(google-explicit-constructor)
      : callable_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* callable, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(callable))(std::forward<Args>(args)...);
        }) {}

  R operator()(Args... args) const { return call_(callable_, std::forward<Args>(args)...); }

 private:
  void* callable_;
  R (*call_)(void*, Args...);
};

}  // namespace aicf
