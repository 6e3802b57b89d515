#pragma once
// A vector that lives where it stands: planning makes many short ones and must not allocate.
#include <array>
#include <cstddef>
#include <stdexcept>

namespace lanewise {

template <class T, std::size_t N>
class InlineVector {  // NOLINT(cppcoreguidelines-pro-type-member-init): to fill items_ would cost more than their use
 public:
  // Throws std::length_error when full: a route longer than any we describe.
  void push_back(T const& value) {
    if (size_ == N) throw std::length_error("a route is longer than lanewise can hold");
    items_[size_++] = value;
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return items_[i]; }
  T const& operator[](std::size_t i) const { return items_[i]; }
  T& back() { return items_[size_ - 1]; }
  auto begin() { return items_.begin(); }
  auto end() { return items_.begin() + static_cast<std::ptrdiff_t>(size_); }
  [[nodiscard]] auto begin() const { return items_.begin(); }
  [[nodiscard]] auto end() const { return items_.begin() + static_cast<std::ptrdiff_t>(size_); }
  friend bool operator==(InlineVector const& a, InlineVector const& b) {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size_; ++i)
      if (!(a.items_[i] == b.items_[i])) return false;
    return true;
  }

 private:
  std::array<T, N> items_;
  std::size_t size_ = 0;
};

}  // namespace lanewise
