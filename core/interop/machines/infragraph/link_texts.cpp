#include "core/interop/machines/infragraph/link_texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/interop/words.hpp"

namespace lanewise {

bool joins_gpus(InfraLink const* link) {
  if (link == nullptr) return false;
  auto const words = lower_case(link->name + " " + link->description);
  for (auto const* word : {"nvl", "xgmi", "ualink", "infinity fabric link", "c2c"})
    if (words.find(word) != std::string::npos) return true;
  return false;
}

std::optional<PcieLink> pcie_link_of(InfraLink const* link) {
  if (link == nullptr) return std::nullopt;
  auto const words = lower_case(link->description + " " + link->name);
  for (auto const* mark : {"gen", "pcie ", "pcie-gen"}) {
    auto const at = words.find(mark);
    if (at == std::string::npos) continue;
    auto const digit = words.find_first_of("123456", at);
    auto const width = words.find('x', digit == std::string::npos ? digit : digit + 1);
    if (digit == std::string::npos || width == std::string::npos || digit - at > 9) continue;
    auto end = width + 1;
    while (end < words.size() && words[end] >= '0' && words[end] <= '9') ++end;
    auto const text = fmt::format("gen{} x{}", words[digit], words.substr(width + 1, end - width - 1));
    if (auto const parsed = parse_pcie_link(text); parsed.value) return parsed.value;
  }
  constexpr int kUsualWidth = 16;
  if (link->gigatransfers_per_second)
    if (auto const generation = generation_of_rate(*link->gigatransfers_per_second); generation > 0)
      return PcieLink{generation, kUsualWidth};
  if (!link->gigabytes_per_second) return std::nullopt;
  // With or without the encoding of the lanes; the widest of several first.
  for (auto const width : {16, 8, 4})
    for (int generation = 6; generation >= 1; --generation) {
      auto const raw = gigatransfers_per_second(generation) * width / 8;
      for (auto const rate : {raw, raw * (generation < 3 ? 0.8 : 128.0 / 130)})
        if (std::abs(*link->gigabytes_per_second - rate) <= 0.02 * rate) return PcieLink{generation, width};
    }
  return std::nullopt;
}

int links_in_bond(InfraLink const* link, Part const* one) {
  if (link == nullptr) return 1;
  auto const mark = link->name.rfind("-x");
  if (mark != std::string::npos) {
    auto const digits = link->name.substr(mark + 2);
    if (!digits.empty() && digits.size() <= 3 && digits.find_first_not_of("0123456789") == std::string::npos)
      return std::max(1, std::stoi(digits));
  }
  if (one == nullptr || !one->link.rate || !link->gigabytes_per_second) return 1;
  constexpr double kGigabyte = 1e9;
  return static_cast<int>(
      std::clamp(std::round(*link->gigabytes_per_second * kGigabyte / one->link.rate->value()), 1.0, 1024.0));
}

}  // namespace lanewise
