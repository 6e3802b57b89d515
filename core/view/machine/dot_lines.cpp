#include "core/view/machine/dot_lines.hpp"

#include <fmt/format.h>

namespace lanewise {
namespace {

std::string written(DotAttributes const& attributes) {
  std::string out;
  for (auto const& [key, value] : attributes)
    out += fmt::format("{}{}={}", out.empty() ? "" : ", ", key, dot_string(value));
  return "[" + out + "]";
}

}  // namespace

std::string dot_string(std::string_view text) {
  std::string out = "\"";
  for (auto const c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

void DotLines::add(std::string_view line) { text_ += fmt::format("{:{}}{}\n", "", 2 * depth_, line); }

void DotLines::open(std::string_view line) {
  add(line);
  ++depth_;
}

void DotLines::open_box(std::string_view name, std::string_view label, std::string_view style) {
  open(fmt::format("subgraph {} {{", dot_string(fmt::format("cluster {}", name))));
  add(fmt::format("label={}; {}", dot_string(label), style));
}

void DotLines::close() {
  --depth_;
  add("}");
}

void DotLines::node(std::string_view name, std::string_view label, NodeStyle const& style) {
  add(fmt::format("{} {};", dot_string(name),
                  written({{"label", std::string(label)},
                           {"shape", std::string(style.shape)},
                           {"fillcolor", std::string(style.fill)},
                           {"fontcolor", std::string(style.text)},
                           {"margin", std::string(style.margin)}})));
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): the loop changes its copy
void DotLines::edge(std::string_view a, std::string_view b, DotAttributes attributes) {
  for (auto& [key, value] : attributes)
    if (key == "label") value.insert(0, "  ");  // keeps the text off its line
  add(fmt::format("{} -- {} {};", dot_string(a), dot_string(b), written(attributes)));
}

}  // namespace lanewise
