#include "core/interop/machines/nccl/notation.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <vector>

#include "core/interop/words.hpp"

namespace lanewise {
bool is_bus_id(std::string_view text) {
  auto const colon = text.find(':');
  if (colon == std::string_view::npos || colon < 4 || colon > 8 || text.size() != colon + 8) return false;
  return is_hex(text.substr(0, colon)) && is_hex(text.substr(colon + 1, 2)) && text[colon + 3] == ':' &&
         is_hex(text.substr(colon + 4, 2)) && text[colon + 6] == '.' && is_hex(text.substr(colon + 7));
}

std::string pci_id(std::string_view vendor, std::string_view device) {
  auto const four = [](std::string_view text) {
    return text.starts_with("0x") && text.size() == 6 && is_hex(text.substr(2));
  };
  if (!four(vendor) || !four(device) || lower_case(vendor) == "0xffff") return {};
  return lower_case(fmt::format("{}:{}", vendor.substr(2), device.substr(2)));
}

int displayed_family(int family) {
  bool const nccl_form = (family & 0xf) == 0xf && family > 0xf;
  return nccl_form ? 0xf + (family >> 4) : family;
}

std::optional<std::string> core_list(std::string_view mask) {
  std::vector<bool> cores;  // from core 0
  for (auto rest = mask; !rest.empty();) {
    auto const comma = rest.find_last_of(',');
    auto const word = comma == std::string_view::npos ? rest : rest.substr(comma + 1);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(0, comma);
    std::uint32_t bits = 0;
    auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), bits, 16);
    if (word.empty() || error != std::errc() || end != word.data() + word.size() || cores.size() >= kMaxMaskedCores)
      return std::nullopt;
    for (int i = 0; i < 32; ++i) cores.push_back((bits >> i & 1U) != 0);
  }
  std::string list;
  for (std::size_t first = 0; first < cores.size(); ++first) {
    if (!cores[first]) continue;
    auto last = first;
    while (last + 1 < cores.size() && cores[last + 1]) ++last;
    list += fmt::format("{}{}{}", list.empty() ? "" : ",", first, last > first ? fmt::format("-{}", last) : "");
    first = last;
  }
  return list;
}

}  // namespace lanewise
