#include "core/interop/machines/nccl/document_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/interop/xml_diagnostic.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {

std::size_t NcclReport::offset_of(pugi::xml_node node) {
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, node.offset_debug()));
}

void NcclReport::fail_at(std::size_t offset, std::string message) {
  auto found = xml_diagnostic(source_, static_cast<std::ptrdiff_t>(offset), std::move(message));
  diagnostics_.add(std::move(found.pos), std::move(found.message), found.source_line);
}

void NcclReport::odd(pugi::xml_node node, std::string const& message) {
  constexpr std::size_t kMaxNoted = 24;
  if (++odd_ <= kMaxNoted) note(fmt::format("line {}: {}", source_.position(offset_of(node)).line, message));
  if (odd_ == kMaxNoted + 1) note("more values are odd; the first are named");
}

void NcclReport::unknown_element(pugi::xml_node node) {
  if (node.type() != pugi::node_element || !unknown_.insert(node.name()).second) return;
  constexpr std::size_t kMaxNoted = 8;
  if (unknown_.size() <= kMaxNoted) note(fmt::format("the element <{}> is not known; left out", node.name()));
}

int NcclReport::number(pugi::xml_node node, char const* name, int absent, int min, int max) {
  auto const attribute = node.attribute(name);
  if (!attribute) return absent;
  std::string_view const given = attribute.value();
  int value = 0;
  auto const [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
  if (error == std::errc() && end == given.data() + given.size() && value >= min && value <= max) return value;
  odd(node, fmt::format("{}=\"{}\" is not a whole number from {} to {}; left out", name, cut(given, 64), min, max));
  return absent;
}

}  // namespace lanewise
