#include "hw/memory/copying_cores.hpp"

#include <algorithm>
#include <cstring>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace lanewise::hw {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kPiece = std::size_t{256}
                               << 10U;  // what a core takes at a time; copying it takes some tens of microseconds

// Copies with non-temporal stores where both ends are aligned to cache lines, else by memcpy.
void copy_past_caches(std::uint8_t* to, std::uint8_t const* from, std::size_t bytes) {
#ifdef __SSE2__
  auto const aligned = [](void const* at) { return reinterpret_cast<std::uintptr_t>(at) % kLine == 0; };
  if (aligned(to) && aligned(from)) {
    constexpr std::size_t kWords = kLine / sizeof(__m128i);
    auto* target = reinterpret_cast<__m128i*>(to);
    auto const* source = reinterpret_cast<__m128i const*>(from);
    for (auto const* const end = source + bytes / kLine * kWords; source != end; source += kWords, target += kWords)
      for (std::size_t i = 0; i < kWords; ++i) _mm_stream_si128(target + i, _mm_load_si128(source + i));
    _mm_sfence();
    std::memcpy(target, source, bytes % kLine);
    return;
  }
#endif
  std::memcpy(to, from, bytes);
}

}  // namespace

CopyingCores::CopyingCores(int cores, NumaIndex numa)
    : count_(static_cast<std::size_t>(std::max(1, cores))),
      begun_(static_cast<std::ptrdiff_t>(count_)),
      done_(static_cast<std::ptrdiff_t>(count_)) {
  try {
    for (std::size_t i = 1; i < count_; ++i) helpers_.emplace_back([this, numa] { help(numa); });
  } catch (...) {
    stopping_ = true;
    for (auto i = helpers_.size(); i < count_; ++i) static_cast<void>(begun_.arrive());
    throw;
  }
}

CopyingCores::~CopyingCores() {
  stopping_ = true;
  begun_.arrive_and_wait();
}

void CopyingCores::copy(void* to, void const* from, Bytes bytes) {
  if (count_ == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes.value()));
    return;
  }
  to_ = static_cast<std::uint8_t*>(to);
  from_ = static_cast<std::uint8_t const*>(from);
  bytes_ = static_cast<std::size_t>(bytes.value());
  next_ = 0;
  begun_.arrive_and_wait();
  copy_pieces();
  done_.arrive_and_wait();
}

void CopyingCores::help(NumaIndex numa) {
  OnNumaNode const binding(numa);
  for (;;) {
    begun_.arrive_and_wait();
    if (stopping_) return;
    copy_pieces();
    done_.arrive_and_wait();
  }
}

void CopyingCores::copy_pieces() {
  for (;;) {
    auto const begin = next_.fetch_add(kPiece, std::memory_order_relaxed);
    if (begin >= bytes_) return;
    copy_past_caches(to_ + begin, from_ + begin, std::min(kPiece, bytes_ - begin));
  }
}

}  // namespace lanewise::hw
