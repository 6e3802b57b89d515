#pragma once
// A vector of at most N items without heap memory: planning makes many short ones and must not allocate.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>

#include "lanewise/io/error.hpp"

namespace lanewise {

template <class T, std::size_t N>
class InlineVector {  // NOLINT(cppcoreguidelines-special-member-functions): nothing to destroy, a move is a copy
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  // Unused items stay uninitialised: making or copying a vector costs its size, not N.
  InlineVector() {}  // NOLINT(modernize-use-equals-default, cppcoreguidelines-pro-type-member-init)
  InlineVector(InlineVector const& other)  // NOLINT(cppcoreguidelines-pro-type-member-init)
      : size_(other.size_) {
    std::uninitialized_copy_n(other.items_, size_, items_);
  }
  InlineVector& operator=(InlineVector const& other) {
    size_ = other.size_;
    std::copy_n(other.items_, size_, items_);
    return *this;
  }

  // Throws PlanError when it is full.
  void push_back(T const& value) {
    if (size_ == N) throw PlanError("a route is longer than lanewise can hold");
    std::construct_at(items_ + size_++, value);
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return items_[i]; }
  T const& operator[](std::size_t i) const { return items_[i]; }
  T& back() { return items_[size_ - 1]; }
  T* begin() { return items_; }
  T* end() { return items_ + size_; }
  [[nodiscard]] T const* begin() const { return items_; }
  [[nodiscard]] T const* end() const { return items_ + size_; }
  friend bool operator==(InlineVector const& a, InlineVector const& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  union {         // items are constructed when they are pushed
    T items_[N];  // NOLINT(readability-identifier-naming): a private member, though in a union
  };
  std::size_t size_ = 0;
};

}  // namespace lanewise
