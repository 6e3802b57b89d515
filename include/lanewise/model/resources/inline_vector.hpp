#pragma once
// A vector of which the first N items need no heap memory: planning makes many short ones and must not allocate.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace lanewise {

template <class T, std::size_t N>
class InlineVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  // Unused items stay uninitialised: making or copying a vector costs its size, not N.
  InlineVector() {}  // NOLINT(modernize-use-equals-default, cppcoreguidelines-pro-type-member-init)
  ~InlineVector() = default;
  InlineVector(InlineVector const& other) { assign(other); }    // NOLINT(cppcoreguidelines-pro-type-member-init)
  InlineVector(InlineVector&& other) noexcept { take(other); }  // NOLINT(cppcoreguidelines-pro-type-member-init)
  InlineVector& operator=(InlineVector const& other) {
    if (this != &other) assign(other);
    return *this;
  }
  InlineVector& operator=(InlineVector&& other) noexcept {
    if (this != &other) take(other);
    return *this;
  }

  void push_back(T value) {  // a copy: it may be an item of this vector
    if (size_ == (heap_ ? capacity_ : N)) grow();
    std::construct_at(begin() + size_, value);
    ++size_;
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return begin()[i]; }
  T const& operator[](std::size_t i) const { return begin()[i]; }
  T& back() { return begin()[size_ - 1]; }
  T* begin() { return heap_ ? heap_.get() : items_; }
  T* end() { return begin() + size_; }
  [[nodiscard]] T const* begin() const { return heap_ ? heap_.get() : items_; }
  [[nodiscard]] T const* end() const { return begin() + size_; }
  friend bool operator==(InlineVector const& a, InlineVector const& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  void grow() {
    auto const capacity = 2 * size_;
    auto larger = std::make_unique_for_overwrite<T[]>(capacity);  // NOLINT(cppcoreguidelines-avoid-c-arrays)
    std::copy_n(begin(), size_, larger.get());
    heap_ = std::move(larger);
    capacity_ = capacity;
  }
  void assign(InlineVector const& other) {
    heap_.reset();
    if (other.size_ > N) {
      heap_ = std::make_unique_for_overwrite<T[]>(other.size_);  // NOLINT(cppcoreguidelines-avoid-c-arrays)
      capacity_ = other.size_;
    }
    size_ = other.size_;
    std::uninitialized_copy_n(other.begin(), size_, begin());
  }
  void take(InlineVector& other) noexcept {
    heap_ = std::move(other.heap_);
    capacity_ = other.capacity_;
    size_ = std::exchange(other.size_, 0);
    if (!heap_) std::uninitialized_copy_n(other.items_, size_, items_);
  }

  union {         // items are constructed when they are pushed
    T items_[N];  // NOLINT(readability-identifier-naming): a private member, though in a union
  };
  std::unique_ptr<T[]> heap_;  // NOLINT(cppcoreguidelines-avoid-c-arrays): all items, where they are more than N
  std::size_t capacity_ = 0;   // of `heap_`
  std::size_t size_ = 0;
};

}  // namespace lanewise
