#include "core/interop/fabrics/ibnetdiscover.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "core/interop/words.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

constexpr std::size_t kMaxNodes = 200'000;

// "S-2c5eab0300b87b40" or "H-0xa088c20300bb0000": kind and GUID. Redacted GUIDs keep their text.
struct Name {
  IbKind kind = IbKind::Adapter;
  std::string guid;
};
std::optional<Name> parse_name(std::string_view quoted) {
  if (quoted.size() < 3 || quoted[1] != '-') return std::nullopt;
  Name name;
  if (quoted[0] == 'S')
    name.kind = IbKind::Switch;
  else if (quoted[0] == 'R')
    name.kind = IbKind::Router;
  else if (quoted[0] != 'H')
    return std::nullopt;
  auto guid = quoted.substr(2);
  if (guid.starts_with("0x")) guid.remove_prefix(2);
  for (char const c : guid) name.guid += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (is_hex(name.guid)) name.guid.insert(0, 16 - std::min<std::size_t>(16, name.guid.size()), '0');
  return name;
}

// The text between the first pair of quotes from `from` on; `from` moves behind it.
std::optional<std::string_view> quoted(std::string_view line, std::size_t& from) {
  auto const open = line.find('"', from);
  if (open == std::string_view::npos) return std::nullopt;
  auto const close = line.find('"', open + 1);
  if (close == std::string_view::npos) return std::nullopt;
  from = close + 1;
  return line.substr(open + 1, close - open - 1);
}

// Of ports and lanes; 0 where there is none.
int count_at_start(std::string_view text) { return std::clamp(number_at_start<int>(text).value_or(0), 0, 1'000'000); }

class FabricReader {
 public:
  explicit FabricReader(SourceText const& source) : source_(source) {}

  IbFabric read() {
    auto const text = source_.text();
    for (std::size_t start = 0; start < text.size();) {
      auto const end = std::min(text.find('\n', start), text.size());
      read_line(trimmed(text.substr(start, end - start), kBlanks));
      start = end + 1;
    }
    if (fabric_.nodes.empty())
      throw InputError(
          fmt::format("{}: no line names a switch (Switch 65 \"S-...\") or an adapter (Ca 1 \"H-...\"), as "
                      "'ibnetdiscover' prints them",
                      source_.name()));
    if (skipped_ > 0) fabric_.notes.push_back(fmt::format("{} lines that could not be read are left out", skipped_));
    return std::move(fabric_);
  }

 private:
  void read_line(std::string_view line) {
    if (line.empty() || line.front() == '#') return;
    if (line.starts_with("Switch") || line.starts_with("Ca") || line.starts_with("Rt")) return read_header(line);
    if (line.front() == '[') return read_port(line);
    if (line.starts_with("SW ") || line.starts_with("CA ") || line.starts_with("RT ")) read_listed(line);
  }

  std::size_t enter(Name const& name, std::string_view description) {
    auto const [found, fresh] = by_guid_.emplace(name.guid, fabric_.nodes.size());
    if (fresh) {
      if (fabric_.nodes.size() >= kMaxNodes)
        throw InputError(fmt::format("{}: more than {} switches and adapters", source_.name(), kMaxNodes));
      fabric_.nodes.push_back({name.kind, name.guid, {}, 0});
    }
    auto& node = fabric_.nodes[found->second];
    if (node.description.empty()) node.description = trimmed(description, kBlanks);
    return found->second;
  }

  // Switch 65 "S-2c5e..."  # "NAME" enhanced port 0 lid 73 lmc 0
  void read_header(std::string_view line) {
    auto const kind_end = line.find_first_of(kBlanks);
    std::size_t from = 0;
    auto const name_text = quoted(line, from);
    auto const name = name_text ? parse_name(*name_text) : std::nullopt;
    current_.reset();
    if (kind_end == std::string_view::npos || !name) return skip();
    auto const description = quoted(line, from).value_or("");
    current_ = enter(*name, description);
    fabric_.nodes[*current_].ports = count_at_start(trimmed(line.substr(kind_end), kBlanks));
  }

  // [1] "H-e09d..."[1](e09d...)  # "host mlx5_5" lid 647 4xNDR, or of an adapter: [1](guid) "S-..."[3]  # lid 1 lmc 0
  // "NAME" lid 2 4xEDR. Chassis switches add [ext 5].
  void read_port(std::string_view line) {
    if (!current_) return skip();
    auto const port = count_at_start(line.substr(1));
    std::size_t from = 0;
    auto const name_text = quoted(line, from);
    auto const name = name_text ? parse_name(*name_text) : std::nullopt;
    if (!name) return skip();
    auto const rest = line.substr(from);
    auto const other_port = rest.starts_with('[') ? count_at_start(rest.substr(1)) : 0;
    auto const description = quoted(line, from).value_or("");
    auto const other = enter(*name, description);
    add_cable(*current_, port, other, other_port, speed_in(line.substr(from)));
  }

  // The words "4xNDR" or "4x NDR".
  static std::string speed_in(std::string_view text) {
    std::string width;
    for (auto rest = trimmed(text, kBlanks); !rest.empty(); rest = trimmed(rest, kBlanks)) {
      auto const end = std::min(rest.find_first_of(kBlanks), rest.size());
      auto const word = rest.substr(0, end);
      rest.remove_prefix(end);
      auto const x = word.find('x');
      bool const lanes = x != std::string_view::npos && x > 0 && x <= 2 && word[0] != '0' &&
                         word.substr(0, x).find_first_not_of("0123456789") == std::string_view::npos;
      if (lanes && x + 1 < word.size()) return std::string(word);
      if (lanes) {
        width = word;
        continue;
      }
      if (!width.empty()) return width + std::string(word);
    }
    return {};
  }

  // ibnetdiscover -p: SW 21 3 0x0008f1... 4x SDR - CA 4 1 0x0002c9... ( 'NAME' - 'NAME' )
  void read_listed(std::string_view line) {
    auto const dash = line.find(" - ");
    auto const paren = line.find('(');
    if (dash == std::string_view::npos || paren == std::string_view::npos || dash > paren) return;
    auto const names = listed_names(line.substr(paren + 1));
    auto const a = listed_end(line.substr(0, dash), names.first);
    auto const b = listed_end(line.substr(dash + 3, paren - dash - 3), names.second);
    if (!a || !b) return skip();
    add_cable(a->first, a->second, b->first, b->second, speed_in(line.substr(0, dash)));
  }
  static std::pair<std::string_view, std::string_view> listed_names(std::string_view text) {
    auto const middle = text.find("' - '");
    if (middle == std::string_view::npos) return {};
    auto const first = text.find('\'');
    auto const last = text.rfind('\'');
    if (first >= middle || last <= middle + 5) return {};
    return {text.substr(first + 1, middle - first - 1), text.substr(middle + 5, last - middle - 5)};
  }
  std::optional<std::pair<std::size_t, int>> listed_end(std::string_view text, std::string_view description) {
    std::array<std::string_view, 4> words;
    for (auto& word : words) {
      text = trimmed(text, kBlanks);
      word = text.substr(0, text.find_first_of(kBlanks));
      text.remove_prefix(word.size());
    }
    if (!words[3].starts_with("0x")) return std::nullopt;
    auto const letter = words[0] == "SW" ? "S-" : words[0] == "CA" ? "H-" : "R-";
    auto const name = parse_name(letter + std::string(words[3]));
    if (!name) return std::nullopt;
    return std::pair(enter(*name, description), count_at_start(words[2]));
  }

  // Both ends list a cable; it counts once.
  void add_cable(std::size_t a, int port_a, std::size_t b, int port_b, std::string speed) {
    auto const key =
        a < b || (a == b && port_a < port_b) ? std::tuple(a, port_a, b, port_b) : std::tuple(b, port_b, a, port_a);
    if (!seen_.insert(key).second) return;
    auto const rate = infiniband_rate(speed);
    fabric_.cables.push_back({a, b, port_a, port_b, std::move(speed), rate});
  }

  void skip() { ++skipped_; }

  SourceText const& source_;
  IbFabric fabric_;
  std::map<std::string, std::size_t> by_guid_;
  std::optional<std::size_t> current_;
  std::set<std::tuple<std::size_t, int, std::size_t, int>> seen_;
  std::size_t skipped_ = 0;
};

}  // namespace

Likeness recognise_ibnetdiscover(std::string_view text) {
  auto const has = [&](std::string_view mark) { return text.find(mark) != std::string_view::npos; };
  bool const names = has("\"S-") || has("\"H-");
  if (names && (has("switchguid=") || has("caguid="))) return Likeness::Certain;
  if (names && has("# Topology file")) return Likeness::Certain;
  if ((text.starts_with("SW ") || text.starts_with("CA ")) && has(" 0x") && has("( '")) return Likeness::Likely;
  return names && (has("Switch") || has("Ca\t")) ? Likeness::Likely : Likeness::None;
}

IbFabric read_ibnetdiscover(SourceText const& source) { return FabricReader(source).read(); }

std::optional<BytesPerSecond> infiniband_rate(std::string_view speed) {
  auto const x = speed.find('x');
  if (x == std::string_view::npos) return std::nullopt;
  auto const lanes = count_at_start(speed.substr(0, x));
  // Gb/s of one lane as InfiniBand counts it, without 8b/10b of the three oldest: InfiniBand Architecture
  // Specification, volume 1, table of link rates.
  constexpr std::array<std::pair<std::string_view, double>, 10> kLanes{{{"SDR", 2},
                                                                        {"DDR", 4},
                                                                        {"QDR", 8},
                                                                        {"FDR10", 10},
                                                                        {"FDR", 14},
                                                                        {"EDR", 25},
                                                                        {"HDR", 50},
                                                                        {"NDR", 100},
                                                                        {"XDR", 200},
                                                                        {"GDR", 400}}};
  auto const name = speed.substr(x + 1);
  constexpr double kBytesPerGigabit = 1e9 / 8;
  for (auto const& [of, rate] : kLanes)
    if (name == of && lanes > 0) return BytesPerSecond(lanes * rate * kBytesPerGigabit);
  return std::nullopt;
}

}  // namespace lanewise
