#include "core/io/yaml_writer.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace lanewise {
namespace {

using Tree = nlohmann::ordered_json;
constexpr std::size_t kMaxFlowWidth = 110;  // a longer map or list is written as a block

// Whether YAML reads the text back as this same plain scalar, also inside [a, b] and {k: v}.
bool is_plain(std::string const& text) {
  if (text.empty() || text == "~" || text == "null" || text.front() == ' ' || text.back() == ' ') return false;
  constexpr std::string_view kLeading = "-?:,[]{}#&*!|>'\"%@`.";
  if (kLeading.find(text.front()) != std::string_view::npos) return false;
  if (text.back() == ':') return false;
  for (auto const c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) return false;
    if (std::string_view(",?[]{}\"'#").find(c) != std::string_view::npos) return false;
    if (c == ':') return false;
  }
  return true;
}

std::string scalar(Tree const& value) {
  if (!value.is_string()) return value.dump();
  auto const& text = value.get_ref<std::string const&>();
  return is_plain(text) ? text : value.dump();  // a JSON string is a YAML double-quoted scalar
}

std::string flow(Tree const& value) {
  if (value.is_object()) {
    std::string text;
    for (auto const& [key, inner] : value.items())
      text += (text.empty() ? "" : ", ") + scalar(Tree(key)) + ": " + flow(inner);
    return "{" + text + "}";
  }
  if (value.is_array()) {
    std::string text;
    for (auto const& inner : value) text += (text.empty() ? "" : ", ") + flow(inner);
    return "[" + text + "]";
  }
  return scalar(value);
}

bool is_leaf(Tree const& value) {
  return value.is_primitive() || std::all_of(value.begin(), value.end(), [](Tree const& v) {
           return v.is_primitive() ||
                  (v.is_array() && std::all_of(v.begin(), v.end(), [](Tree const& i) { return i.is_primitive(); }));
         });
}

bool fits(Tree const& value, std::size_t indent) {
  return is_leaf(value) && indent + flow(value).size() <= kMaxFlowWidth;
}

void block(Tree const& value, std::size_t indent, std::string& out);

// After "key:" or "-": the value on the same line when it fits, as a block below otherwise.
void below(Tree const& value, std::size_t indent, std::string& out, bool in_list) {
  if (value.is_primitive() || value.empty() || fits(value, indent)) {
    out += (in_list ? "" : " ") + flow(value) + "\n";
    return;
  }
  if (!in_list) out += "\n";
  block(value, indent, out);
}

void block(Tree const& value, std::size_t indent, std::string& out) {
  bool after_dash = !out.empty() && out.back() == ' ';  // the first entry stands on the dash's line
  auto const begin_line = [&] { out.append(std::exchange(after_dash, false) ? 0 : indent, ' '); };
  if (value.is_object()) {
    for (auto const& [key, inner] : value.items()) {
      begin_line();
      out += scalar(Tree(key)) + ":";
      below(inner, indent + 2, out, false);
    }
    return;
  }
  for (auto const& inner : value) {
    begin_line();
    out += "- ";
    below(inner, indent + 2, out, true);
  }
}

}  // namespace

std::string yaml_text(nlohmann::ordered_json const& tree) {
  std::string out;
  block(tree, 0, out);
  return out;
}

}  // namespace lanewise
