#include "hw/memory/memory.hpp"

#include <cstring>

#include "hw/memory/pattern.hpp"

namespace lanewise::hw {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

// The calling core copies at once.
class CoreCopier : public Copier {
 public:
  explicit CoreCopier(std::byte* memory) : memory_(memory) {}
  void copy_out(std::byte* host, std::size_t offset, std::size_t bytes) override {
    std::memcpy(host, memory_ + offset, bytes);
    ++copies_;
  }
  void copy_in(std::byte const* host, std::size_t offset, std::size_t bytes) override {
    std::memcpy(memory_ + offset, host, bytes);
    ++copies_;
  }
  void add(std::byte const* source, std::size_t offset, std::size_t bytes) override {
    add_elements(memory_ + offset, source, bytes);
    ++copies_;
  }
  [[nodiscard]] std::int64_t completed() override { return copies_; }

 private:
  std::byte* memory_;
  std::int64_t copies_ = 0;
};

}  // namespace

// The memory consists of whole pages, so the last word can be written as a whole.
void NodeMemory::fill(std::uint64_t seed) {
  auto* const words = static_cast<std::uint64_t*>(pages_.data());
  for (std::size_t i = 0; i * kWord < bytes_; ++i) words[i] = pattern_word(seed, i);
}

void NodeMemory::clear() { std::memset(pages_.data(), 0, pages_.length()); }

std::optional<Mismatch> NodeMemory::mismatch(std::uint64_t seed) const {
  auto const* const words = static_cast<std::uint64_t const*>(pages_.data());
  auto const* const bytes = static_cast<std::uint8_t const*>(pages_.data());
  for (std::size_t i = 0; i * kWord < bytes_; ++i) {
    if (words[i] == pattern_word(seed, i)) continue;
    for (auto at = i * kWord; at < std::min(bytes_, (i + 1) * kWord); ++at)
      if (bytes[at] != pattern_byte(seed, at)) return Mismatch{at, pattern_byte(seed, at), bytes[at]};
  }
  return std::nullopt;
}

void NodeMemory::fill(MemoryContent const& content) { hw::fill(data(), content); }

std::optional<Mismatch> NodeMemory::mismatch(MemoryContent const& content) const {
  return hw::mismatch(data(), content);
}

std::unique_ptr<Copier> NodeMemory::copier() { return std::make_unique<CoreCopier>(data()); }

}  // namespace lanewise::hw
