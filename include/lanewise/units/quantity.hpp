#pragma once
// Quantities with units, which cannot be mixed. size / rate is a time, size / time is a rate:
//   static_assert(1_GB / 10.0_GBps == 0.1_s);
// Functions take and return quantities, never a bare double whose unit the caller must know.
#include <compare>
#include <cstdint>
#include <limits>

namespace lanewise {

// A number in one unit. Tag names the dimension; Rep is the type that stores the number.
template <class Tag, class Rep>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(Rep value) : value_(value) {}
  [[nodiscard]] constexpr Rep value() const { return value_; }
  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.value_ + b.value_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value_ - b.value_); }
  friend constexpr Quantity operator*(Quantity a, Rep k) { return Quantity(a.value_ * k); }
  friend constexpr Quantity operator*(Rep k, Quantity a) { return a * k; }
  friend constexpr Quantity operator/(Quantity a, Rep k) { return Quantity(a.value_ / k); }
  friend constexpr double operator/(Quantity a, Quantity b) {
    return static_cast<double>(a.value_) / static_cast<double>(b.value_);
  }
  constexpr Quantity& operator+=(Quantity b) {
    value_ += b.value_;
    return *this;
  }

 private:
  Rep value_{};
};

using Bytes = Quantity<struct BytesTag, std::int64_t>;
using Seconds = Quantity<struct SecondsTag, double>;
using BytesPerSecond = Quantity<struct BytesPerSecondTag, double>;
using PerSecond = Quantity<struct PerSecondTag, double>;  // messages, page-table walks
using Flop = Quantity<struct FlopTag, double>;            // floating-point operations; a multiply-add is two
using FlopPerSecond = Quantity<struct FlopPerSecondTag, double>;
using Watts = Quantity<struct WattsTag, double>;

constexpr Seconds operator/(Bytes size, BytesPerSecond rate) {
  return Seconds(static_cast<double>(size.value()) / rate.value());
}
constexpr BytesPerSecond operator/(Bytes size, Seconds time) {
  return BytesPerSecond(static_cast<double>(size.value()) / time.value());
}
constexpr Seconds operator/(Flop work, FlopPerSecond rate) { return Seconds(work.value() / rate.value()); }
constexpr Seconds operator/(double count, PerSecond rate) { return Seconds(count / rate.value()); }

// The capacity of something that never limits a flow.
inline constexpr BytesPerSecond kUnlimited{std::numeric_limits<double>::infinity()};

namespace literals {
constexpr Bytes operator""_B(unsigned long long v) { return Bytes(static_cast<std::int64_t>(v)); }
constexpr Bytes operator""_KiB(unsigned long long v) { return Bytes(static_cast<std::int64_t>(v) << 10); }
constexpr Bytes operator""_MiB(unsigned long long v) { return Bytes(static_cast<std::int64_t>(v) << 20); }
constexpr Bytes operator""_GiB(unsigned long long v) { return Bytes(static_cast<std::int64_t>(v) << 30); }
constexpr Bytes operator""_GB(unsigned long long v) { return Bytes(static_cast<std::int64_t>(v) * 1'000'000'000); }
constexpr Seconds operator""_s(long double v) { return Seconds(static_cast<double>(v)); }
constexpr Seconds operator""_us(long double v) { return Seconds(static_cast<double>(v) * 1e-6); }
constexpr Seconds operator""_ns(long double v) { return Seconds(static_cast<double>(v) * 1e-9); }
constexpr BytesPerSecond operator""_GBps(long double v) { return BytesPerSecond(static_cast<double>(v) * 1e9); }
}  // namespace literals

}  // namespace lanewise
