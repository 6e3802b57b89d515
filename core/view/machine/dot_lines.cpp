#include "core/view/machine/dot_lines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/text/markup.hpp"

namespace lanewise {
namespace {

constexpr std::string_view kFaint = "38";  // alpha in hexadecimal: 22 %

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

std::string dot_html(std::string_view text) {
  auto out = markup_escaped(text);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return out;
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
  DotAttributes attributes{{"label", std::string(label)},
                           {"shape", std::string(style.shape)},
                           {"fillcolor", std::string(style.fill)},
                           {"fontcolor", std::string(style.text)},
                           {"margin", std::string(style.margin)}};
  if (is_faint(name)) {
    attributes[2].second += kFaint;
    attributes[3].second = "#777777";
    attributes.emplace_back("color", "#AAAAAA");
  } else if (!highlight_.nodes.empty()) {
    attributes.emplace_back("penwidth", "3");
  }
  add(fmt::format("{} {};", dot_string(name), written(attributes)));
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): the attributes are changed
void DotLines::edge(std::string_view a, std::string_view b, DotAttributes attributes) {
  if (is_faint(std::string(a), std::string(b))) {
    auto const colour =
        std::find_if(attributes.begin(), attributes.end(), [](auto const& one) { return one.first == "color"; });
    if (colour == attributes.end())
      attributes.emplace_back("color", fmt::format("#333333{}", kFaint));
    else
      colour->second += kFaint;
  }
  add(fmt::format("{} -- {} {};", dot_string(a), dot_string(b), written(attributes)));
}

bool DotLines::is_faint(std::string_view node) const {
  return !highlight_.nodes.empty() && !highlight_.nodes.contains(node);
}

bool DotLines::is_faint(std::string const& a, std::string const& b) const {
  return !highlight_.nodes.empty() && !highlight_.edges.contains({a, b}) && !highlight_.edges.contains({b, a});
}

}  // namespace lanewise
