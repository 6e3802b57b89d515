#include "core/io/yaml.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <sstream>
#include <unordered_set>

#include "core/io/utf8.hpp"

namespace lanewise {
namespace {

constexpr std::size_t kMaxNested = 64;
constexpr std::size_t kMaxNodes = 500'000;

// Where the quoted text that opens at `open` is closed, or npos. Inside, \" and '' are no end.
std::size_t closing_quote(std::string_view text, std::size_t open) {
  char const quote = text[open];
  for (std::size_t i = open + 1; i < text.size(); ++i) {
    bool const escaped = quote == '"' ? text[i] == '\\' : text.substr(i, 2) == "''";
    if (escaped)
      ++i;
    else if (text[i] == quote)
      return i;
  }
  return std::string_view::npos;
}

struct Refused {  // stops the parser at something that is never accepted
  YAML::Mark mark;
  std::string message;
};

// Builds the tree from yaml-cpp's events.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(SourceText const& source, Diagnostics& diagnostics)
      : source_(source), diagnostics_(diagnostics) {}

  void OnDocumentStart(YAML::Mark const&) override {}
  void OnDocumentEnd() override {}
  void OnNull(YAML::Mark const& mark, YAML::anchor_t anchor) override { add(mark, anchor, "?", YamlKind::Null, {}); }
  void OnAlias(YAML::Mark const& mark, YAML::anchor_t) override {
    throw Refused{mark, "aliases ('*name') are not accepted; write the value out"};
  }
  void OnScalar(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor,
                std::string const& value) override {
    bool const quoted = tag == "!";
    if (quoted) last_quoted_ = mark;
    // Only an escape can write one: yaml-cpp makes a single byte of \N and \_.
    if (auto const bad = first_non_utf8(value); bad != std::string_view::npos)
      throw Refused{mark, fmt::format("the quoted text holds byte 0x{:02x}, which is not UTF-8",
                                      static_cast<unsigned char>(value[bad]))};
    bool const null = !quoted && (value.empty() || value == "~" || value == "null");
    add(mark, anchor, tag, null ? YamlKind::Null : YamlKind::Scalar, value);
  }
  void OnSequenceStart(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, anchor, tag, YamlKind::Sequence);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, anchor, tag, YamlKind::Map);
  }
  void OnMapEnd() override { close(); }

  YamlNode take() { return std::move(root_); }

  // yaml-cpp accepts a quoted text that the end of the file cuts off; this refuses it.
  void refuse_open_quote() const {
    if (!last_quoted_) return;
    auto const line = source_.line(last_quoted_->line + 1);
    auto rest = std::string_view(source_.text())
                    .substr(static_cast<std::size_t>(line.data() - source_.text().data()) +
                            static_cast<std::size_t>(last_quoted_->column));
    if (rest.empty() || (rest.front() != '"' && rest.front() != '\'')) return;
    if (closing_quote(rest, 0) != std::string_view::npos) return;
    throw Refused{*last_quoted_, "not valid YAML: the quoted text is not closed"};
  }

 private:
  struct Open {
    YamlNode node;
    bool at_key = true;  // of a map: the next node is a key
    std::unordered_set<std::string> keys = {};
  };

  static YamlNode made(YAML::Mark const& mark, YamlKind kind) {
    YamlNode node;
    node.kind = kind;
    node.line = mark.line + 1;
    node.column = mark.column + 1;
    return node;
  }
  void check(YAML::Mark const& mark, YAML::anchor_t anchor, std::string const& tag) {
    if (anchor != 0) throw Refused{mark, "anchors ('&name') are not accepted; write the value where it is needed"};
    if (!tag.empty() && tag != "?" && tag != "!") throw Refused{mark, fmt::format("the tag '{}' is not accepted", tag)};
    if (++nodes_ > kMaxNodes) throw Refused{mark, fmt::format("the file holds more than {} values", kMaxNodes)};
  }
  void add(YAML::Mark const& mark, YAML::anchor_t anchor, std::string const& tag, YamlKind kind,
           std::string const& text) {
    check(mark, anchor, tag);
    auto node = made(mark, kind);
    node.text = text;
    place(std::move(node));
  }
  void open(YAML::Mark const& mark, YAML::anchor_t anchor, std::string const& tag, YamlKind kind) {
    check(mark, anchor, tag);
    if (open_.size() == kMaxNested) throw Refused{mark, fmt::format("nested deeper than {} levels", kMaxNested)};
    if (!open_.empty() && open_.back().node.kind == YamlKind::Map && open_.back().at_key)
      throw Refused{mark, "a key must be a plain name"};
    open_.push_back({made(mark, kind)});
  }
  void close() {
    auto node = std::move(open_.back().node);
    open_.pop_back();
    place(std::move(node));
  }
  void place(YamlNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    auto& parent = open_.back();
    if (parent.node.kind == YamlKind::Sequence) {
      parent.node.items.push_back(std::move(node));
    } else if (parent.at_key) {
      start_entry(parent, node);
    } else {
      parent.node.entries.back().value = std::move(node);
      parent.at_key = true;
    }
  }
  void start_entry(Open& parent, YamlNode const& key) {
    SourcePos const pos{source_.name(), key.line, key.column};
    if (key.kind == YamlKind::Null) diagnostics_.add(pos, "a key must be a plain name", source_.line(key.line));
    if (key.text == "<<")
      diagnostics_.add(pos, "merge keys ('<<') are not accepted; write the values out", source_.line(key.line));
    if (!parent.keys.insert(key.text).second)
      diagnostics_.add(pos, fmt::format("the key '{}' is given twice in this mapping", key.text),
                       source_.line(key.line));
    parent.node.entries.push_back({key.text, key.line, key.column, {}});
    parent.at_key = false;
  }

  SourceText const& source_;
  Diagnostics& diagnostics_;
  YamlNode root_;
  std::vector<Open> open_;
  std::size_t nodes_ = 0;
  std::optional<YAML::Mark> last_quoted_;
};

// Refuses brackets that are nested too deeply before yaml-cpp sees them: it reads on to the matching bracket first, and
// takes minutes and gigabytes for some millions. A bracket outside of any other opens one only where a value may begin.
void refuse_deep_nesting(SourceText const& source) {
  auto const& text = source.text();
  std::size_t depth = 0;
  char before = '\n';  // the last character that is no blank
  bool blank = true;   // whether there is a blank right before
  for (std::size_t i = 0; i < text.size(); ++i) {
    char const c = text[i];
    if (c == '#' && blank) {
      i = std::min(text.find('\n', i), text.size()) - 1;
      continue;
    }
    blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (blank && (c != '\n' || depth > 0)) continue;
    bool const value_begins = before == '\n' || before == ':' || before == '-' || before == '?' ||
                              (depth > 0 && (before == ',' || before == '[' || before == '{'));
    if ((c == '"' || c == '\'') && value_begins) {
      i = std::min(closing_quote(text, i), text.size() - 1);
    } else if ((c == '[' || c == '{') && (depth > 0 || value_begins)) {
      if (++depth > kMaxNested) {
        auto const pos = source.position(i);
        throw InputError(std::vector<Diagnostic>{
            {pos, fmt::format("nested deeper than {} levels", kMaxNested), std::string(source.line(pos.line))}});
      }
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
    before = c;
  }
}

}  // namespace

YamlNode const* YamlNode::find(std::string_view key) const {
  for (auto const& entry : entries)
    if (entry.key == key) return &entry.value;
  return nullptr;
}

YamlNode parse_yaml(SourceText const& source) {
  refuse_deep_nesting(source);
  Diagnostics diagnostics;
  TreeBuilder builder(source, diagnostics);
  auto const add = [&](YAML::Mark const& mark, std::string const& message) {
    auto const line = std::clamp(mark.line + 1, 1, std::max(1, source.line_count()));
    diagnostics.add({source.name(), line, std::max(0, mark.column) + 1}, message, source.line(line));
  };
  try {
    std::istringstream stream(source.text());
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) diagnostics.add(source.whole(), "the file is empty");
    builder.refuse_open_quote();
    TreeBuilder rest(source, diagnostics);
    if (diagnostics.empty() && parser.HandleNextDocument(rest))
      diagnostics.add(source.whole(), "the file holds a second YAML document; only one is read");
  } catch (Refused const& refused) {
    add(refused.mark, refused.message);
  } catch (YAML::Exception const& error) {
    add(error.mark, "not valid YAML: " + error.msg);
  }
  diagnostics.throw_if_any();
  return builder.take();
}

}  // namespace lanewise
