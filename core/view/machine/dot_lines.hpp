#pragma once
// Graphviz text, line by line.
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lanewise {

// Shape and colours of one kind of node.
struct NodeStyle {
  std::string_view shape;
  std::string_view fill;
  std::string_view text = "black";
  std::string_view margin = "0.11,0.055";  // Graphviz' default
};

using DotAttributes = std::vector<std::pair<std::string_view, std::string>>;

// A quoted Graphviz string. Line ends become those of a centred label, other control characters blanks.
std::string dot_string(std::string_view text);
// The same within an HTML-like label.
std::string dot_html(std::string_view text);

// Builds the text line by line, indented by open boxes. Escapes names and labels.
class DotLines {
 public:
  struct Highlight {
    std::set<std::string, std::less<>> nodes;
    std::set<std::pair<std::string, std::string>> edges;  // in either direction
  };
  // Everything else that is added after is faint; without nodes nothing is.
  void highlight(Highlight highlight) { highlight_ = std::move(highlight); }
  void add(std::string_view line);
  void open(std::string_view line);
  void open_box(std::string_view name, std::string_view label, std::string_view style);
  void close();
  void node(std::string_view name, std::string_view label, NodeStyle const& style);
  void edge(std::string_view a, std::string_view b, DotAttributes attributes);
  [[nodiscard]] std::string const& text() const { return text_; }

 private:
  [[nodiscard]] bool is_faint(std::string_view node) const;
  [[nodiscard]] bool is_faint(std::string const& a, std::string const& b) const;

  Highlight highlight_;
  std::string text_;
  std::size_t depth_ = 0;
};

}  // namespace lanewise
