#include "core/interop/machines/redaction.hpp"
#include "core/interop/words.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace lanewise {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_hex_digit(c) || (c >= 'g' && c <= 'z') || (c >= 'G' && c <= 'Z') || c == '_'; }

// Matches groups of hexadecimal digits of these lengths with a separator between them; 0: no match.
template <std::size_t N>
std::size_t groups(std::string_view text, std::array<std::size_t, N> const& lengths, char separator) {
  std::size_t at = 0;
  for (std::size_t g = 0; g < N; ++g) {
    if (g > 0 && (at >= text.size() || text[at++] != separator)) return 0;
    for (std::size_t i = 0; i < lengths[g]; ++i)
      if (at >= text.size() || !is_hex_digit(text[at++])) return 0;
  }
  return at < text.size() && (is_word(text[at]) || text[at] == separator) ? 0 : at;
}

// "10.0.0.7", each number at most 255; versions such as 2.19.3 have three.
std::size_t ip_address(std::string_view text) {
  constexpr int kMaxByte = 255;
  std::size_t at = 0;
  for (int part = 0; part < 4; ++part) {
    if (part > 0 && (at >= text.size() || text[at++] != '.')) return 0;
    int value = 0;
    auto const start = at;
    while (at < text.size() && is_digit(text[at]) && at - start < 3) value = value * 10 + (text[at++] - '0');
    if (at == start || value > kMaxByte) return 0;
  }
  return at < text.size() && (is_word(text[at]) || text[at] == '.') ? 0 : at;
}

// Addresses of version 6: at least three groups with "::", or all eight.
std::size_t ip6_address(std::string_view text) {
  std::size_t at = 0;
  int numbers = 0;
  int colons = 0;
  bool gap = false;
  while (at < text.size() && (is_hex_digit(text[at]) || text[at] == ':')) {
    if (text[at] == ':') {
      ++colons;
      gap = gap || (at + 1 < text.size() && text[at + 1] == ':');
      ++at;
      continue;
    }
    auto const start = at;
    while (at < text.size() && is_hex_digit(text[at])) ++at;
    if (at - start > 4) return 0;
    ++numbers;
  }
  bool const whole = numbers == 8 && colons == 7;
  return (gap && numbers >= 2 && colons <= 7) || whole ? at : 0;
}

// A number of 16 or 32 hexadecimal digits behind "0x", as node GUIDs are written.
std::size_t long_number(std::string_view text) {
  if (!text.starts_with("0x")) return 0;
  std::size_t at = 2;
  while (at < text.size() && is_hex_digit(text[at])) ++at;
  return at == 18 || at == 34 ? at : 0;
}

std::size_t secret(std::string_view text) {
  constexpr std::array<std::size_t, 5> kUuid{8, 4, 4, 4, 12};
  constexpr std::array<std::size_t, 4> kGuid{4, 4, 4, 4};
  constexpr std::array<std::size_t, 6> kMac{2, 2, 2, 2, 2, 2};
  constexpr std::array<std::size_t, 20> kInfiniBand{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
  for (auto const length : {groups(text, kUuid, '-'), groups(text, kInfiniBand, ':'), groups(text, kMac, ':'),
                            groups(text, kGuid, ':'), ip6_address(text), ip_address(text), long_number(text)})
    if (length > 0) return length;
  return 0;
}

// Replaces the name of a host where it begins and ends a word: "node7-ib0" has node7, "nvidia-smi" no smi.
std::string without_name(std::string text, std::string const& old, std::string const& name) {
  constexpr std::size_t kShortest = 3;
  if (old.size() < kShortest) return text;
  for (auto at = text.find(old); at != std::string::npos; at = text.find(old, at)) {
    auto const end = at + old.size();
    bool const begins = at == 0 || (!is_word(text[at - 1]) && text[at - 1] != '-');
    bool const ends = end == text.size() || !is_word(text[end]);
    if (begins && ends) text.replace(at, old.size(), name);
    at += begins && ends ? name.size() : 1;
  }
  return text;
}

constexpr std::array<std::string_view, 10> kSecretKeys{"uuid",      "guid", "serial",  "hostname", "host_name",
                                                       "node_guid", "mac",  "address", "ip",       "hostid"};

}  // namespace

std::string redacted_text(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    bool const starts = i == 0 || (!is_word(text[i - 1]) && text[i - 1] != ':' && text[i - 1] != '.');
    auto const length = starts ? secret(text.substr(i)) : 0;
    if (length == 0) {
      result += text[i++];
      continue;
    }
    result += "redacted";
    i += length;
  }
  return result;
}

Machine redacted_machine(Machine machine, std::string const& name) {
  auto const old = machine.name;
  machine.name = name;
  for (auto& host : machine.hosts)
    if (host.machine == old) host.machine = name;
  machine.title = redacted_text(machine.title);
  for (auto& function : machine.functions) function.device_name = redacted_text(function.device_name);
  for (auto& note : machine.notes) note = without_name(redacted_text(note), old, name);
  return machine;
}

nlohmann::ordered_json redacted_tree(nlohmann::ordered_json tree) {
  if (tree.is_string()) return redacted_text(std::string_view(tree.get_ref<std::string const&>()));
  if (tree.is_array())
    for (auto& item : tree) item = redacted_tree(std::move(item));
  if (tree.is_object())
    for (auto& [key, value] : tree.items()) {
      bool const is_secret = std::find(kSecretKeys.begin(), kSecretKeys.end(), key) != kSecretKeys.end();
      if (is_secret && value.is_string())
        value = value.get_ref<std::string const&>().empty() ? "" : "redacted";
      else
        value = redacted_tree(std::move(value));
    }
  return tree;
}

}  // namespace lanewise
