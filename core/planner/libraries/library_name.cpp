#include "lanewise/planner/libraries/library_name.hpp"

#include <fmt/format.h>

#include <charconv>

namespace lanewise {
namespace {

constexpr int kOldest = 18;
constexpr int kNewest = Library{}.minor;

}  // namespace

std::string to_string(Library const& library) { return fmt::format("nccl-{}.{}", library.major, library.minor); }

Parsed<Library> parse_library(std::string_view text) {
  if (text == "nccl") return {Library{}, ""};
  constexpr std::string_view kPrefix = "nccl-2.";
  int minor = 0;
  if (text.starts_with(kPrefix)) {
    auto const number = text.substr(kPrefix.size());
    auto const [end, error] = std::from_chars(number.data(), number.data() + number.size(), minor);
    // 2.18.3: the third number changes nothing that is decided.
    bool const is_whole = error == std::errc() && (end == number.data() + number.size() || *end == '.');
    if (is_whole && minor >= kOldest && minor <= kNewest) return {Library{2, minor}, ""};
  }
  return {std::nullopt, fmt::format("'{}' is no library whose decisions are known; allowed: best, nccl, nccl-2.{} to "
                                    "nccl-2.{}",
                                    text, kOldest, kNewest)};
}

}  // namespace lanewise
