#include "lanewise/machine/pcie_link.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace lanewise {
namespace {

constexpr std::array<double, 6> kTransferRates{2.5, 5, 8, 16, 32, 64};

template <class T>
bool take_number(std::string_view& text, T& value) {
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc();
}

void skip_spaces(std::string_view& text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
}

int take_generation(std::string_view& text) {
  if (text.starts_with("gen")) {
    text.remove_prefix(3);
    int generation = 0;
    return take_number(text, generation) ? generation : 0;
  }
  double rate = 0;
  if (!take_number(text, rate)) return 0;
  skip_spaces(text);
  if (!text.starts_with("GT/s")) return 0;
  text.remove_prefix(4);
  return generation_of_rate(rate);
}

}  // namespace

Parsed<PcieLink> parse_pcie_link(std::string_view text) {
  auto const problem = [&](std::string_view why) {
    return Parsed<PcieLink>{{}, fmt::format("'{}' is not a PCIe link: {}; write it as 'gen4 x16'", text, why)};
  };
  auto rest = text;
  PcieLink link;
  link.generation = take_generation(rest);
  if (link.generation < 1 || link.generation > 6) return problem("the generation must be gen1 to gen6");
  skip_spaces(rest);
  if (!rest.starts_with("x")) return problem("the width is missing");
  rest.remove_prefix(1);
  if (!take_number(rest, link.width) || !rest.empty()) return problem("the width must be a number of lanes");
  for (int const width : {1, 2, 4, 8, 12, 16, 32})
    if (link.width == width) return {link, {}};
  return problem("the width must be x1, x2, x4, x8, x12, x16 or x32");
}

std::string to_string(PcieLink link) { return fmt::format("gen{} x{}", link.generation, link.width); }

double gigatransfers_per_second(int generation) {
  return generation >= 1 && generation <= 6 ? kTransferRates[static_cast<std::size_t>(generation) - 1] : 0;
}

int generation_of_rate(double gigatransfers) {
  for (std::size_t i = 0; i < kTransferRates.size(); ++i)
    if (std::abs(kTransferRates[i] - gigatransfers) < 0.01) return static_cast<int>(i) + 1;
  return 0;
}

}  // namespace lanewise
