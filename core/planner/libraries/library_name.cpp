#include "lanewise/planner/libraries/library_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace lanewise {
namespace {

constexpr int kOldest = 18;
constexpr int kNewest = Library{}.minor;

constexpr std::array<std::pair<LibraryKind, std::string_view>, 4> kNames{{{LibraryKind::Nccl, "nccl"},
                                                                          {LibraryKind::Rccl, "rccl"},
                                                                          {LibraryKind::Mpi, "mpi"},
                                                                          {LibraryKind::OneShot, "oneshot"}}};

}  // namespace

std::string to_string(Library const& library) {
  if (library.kind == LibraryKind::Nccl) return fmt::format("nccl-{}.{}", library.major, library.minor);
  auto const* const found =
      std::find_if(kNames.begin(), kNames.end(), [&](auto const& name) { return name.first == library.kind; });
  return std::string(found->second);
}

Parsed<Library> parse_library(std::string_view text) {
  for (auto const& [kind, name] : kNames)
    if (text == name) return {Library{.kind = kind}, ""};
  constexpr std::string_view kPrefix = "nccl-2.";
  int minor = 0;
  if (text.starts_with(kPrefix)) {
    auto const number = text.substr(kPrefix.size());
    auto const [end, error] = std::from_chars(number.data(), number.data() + number.size(), minor);
    // 2.18.3: the third number changes nothing that is decided.
    bool const is_whole = error == std::errc() && (end == number.data() + number.size() || *end == '.');
    if (is_whole && minor >= kOldest && minor <= kNewest) return {Library{LibraryKind::Nccl, 2, minor}, ""};
  }
  return {std::nullopt, fmt::format("'{}' is no library whose decisions are known; allowed: best, nccl, nccl-2.{} to "
                                    "nccl-2.{}, rccl, mpi, oneshot",
                                    text, kOldest, kNewest)};
}

}  // namespace lanewise
