#pragma once
#include <utility>

namespace lanewise {

// The sole owner of a C handle. Traits define its `type`, its `null()` value and `destroy(type) noexcept`.
template <class Traits>
class Handle {
 public:
  using type = typename Traits::type;
  Handle() = default;
  explicit Handle(type handle) : handle_(handle) {}
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, Traits::null())) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this == &other) return *this;
    reset();
    handle_ = std::exchange(other.handle_, Traits::null());
    return *this;
  }
  Handle(Handle const&) = delete;
  Handle& operator=(Handle const&) = delete;
  ~Handle() { reset(); }

  [[nodiscard]] type get() const { return handle_; }
  explicit operator bool() const { return handle_ != Traits::null(); }
  void reset() noexcept {
    if (handle_ != Traits::null()) Traits::destroy(std::exchange(handle_, Traits::null()));
  }

 private:
  type handle_ = Traits::null();
};

}  // namespace lanewise
