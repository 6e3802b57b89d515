// The drawing of `lspci -t`: columns say what hangs from what.
//
//   -+-[0000:80]-+-00.0  Intel Corporation ...
//    |           \-01.0-[81-83]----00.0-[82-83]--+-00.0-[83]----00.0  NVIDIA Corporation ...
#include <fmt/format.h>

#include <algorithm>

#include "core/interop/host/files/lspci_document.hpp"
#include "core/interop/host/pci_names.hpp"
#include "core/interop/words.hpp"

namespace lanewise {
namespace {

// "1f.7" at the start of a text.
bool starts_with_device(std::string_view text) {
  return text.size() >= 4 && is_lower_hex(text.substr(0, 2)) && text[2] == '.' && text[3] >= '0' && text[3] <= '7' &&
         (text.size() == 4 || text[4] == ' ' || text[4] == '-');
}

// A drawing names no classes, so they follow from what the names say. 0: nothing that matters here.
std::uint32_t class_by_name(std::string_view name) {
  auto const has = [&](std::string_view word) { return name.find(word) != std::string_view::npos; };
  if (has("NVSwitch")) return 0x068000;
  if (has("Audio") || has("USB") || has("UCSI")) return 0;
  if (name.starts_with("NVIDIA Corporation")) return 0x030200;
  if (has("Instinct") || has("Radeon")) return 0x038000;
  if (name.starts_with("Mellanox Technologies") && !has("Bridge")) return 0x020000;
  if (has("NVMe") || has("Non-Volatile")) return 0x010800;
  if (has("Root Complex") || has("Host Bridge") || has("Host bridge")) return 0x060000;
  if (has("Ethernet")) return 0x020000;
  return 0;
}

}  // namespace

bool LspciDrawing::is_line(std::string_view line) {
  auto const start = line.find_first_not_of(" |+\\-");
  if (start == 0 || start == std::string_view::npos || line.substr(0, start).find('-') == std::string_view::npos)
    return false;
  return line[start] == '[' || starts_with_device(line.substr(start));
}

// `inside`: what stands in brackets, "0000:80", "81" or "81-83".
void LspciDrawing::open_bus(std::string_view inside, std::size_t column, std::string const& bridge) {
  auto name = std::string(inside.substr(0, inside.find('-')));
  if (name.find(':') == std::string::npos) {
    auto const domain = open_.empty() ? "0000" : open_.back().name.substr(0, open_.back().name.find(':'));
    name = fmt::format("{}:{}", domain, name);
  }
  open_.push_back({column, bridge, std::move(name)});
}

LspciFunction* LspciDrawing::add(std::string_view device, std::size_t column) {
  while (!open_.empty() && open_.back().column >= column) open_.pop_back();
  if (open_.empty()) return nullptr;
  auto const bdf = fmt::format("{}:{}", open_.back().name, device);
  auto& function = document_.functions[bdf];
  function.in_tree = true;
  function.facts.bdf = bdf;
  function.facts.above = open_.back().above;
  function.facts.root_bus = open_.front().name;
  return &function;
}

void LspciDrawing::read(std::string_view line) {
  LspciFunction* last = nullptr;
  for (std::size_t i = 0; i < line.size();) {
    auto const rest = line.substr(i);
    if (rest.front() == '[') {
      auto const end = rest.find(']');
      if (end == std::string_view::npos) return;
      while (last == nullptr && !open_.empty() && open_.back().column >= i) open_.pop_back();
      open_bus(rest.substr(1, end - 1), i, last == nullptr ? std::string() : last->facts.bdf);
      if (last != nullptr && last->facts.class_code == 0) last->facts.class_code = 0x060400;
      i += end + 1;
      last = nullptr;
    } else if (starts_with_device(rest)) {
      last = add(rest.substr(0, 4), i);
      i += 4;
      if (last == nullptr) return;
      if (i < line.size() && line[i] == '-') continue;
      auto name = line.substr(i);
      name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
      if (last->facts.product.empty()) last->facts.product = name;
      if (last->facts.class_code == 0) last->facts.class_code = class_by_name(name);
      return;
    } else if (std::string_view(" |+\\-").find(rest.front()) != std::string_view::npos) {
      ++i;
    } else {
      return;
    }
  }
}

}  // namespace lanewise
