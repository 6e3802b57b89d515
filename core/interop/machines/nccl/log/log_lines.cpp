#include "core/interop/machines/nccl/log/log_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/interop/machines/roles.hpp"
#include "core/interop/words.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

bool is_digits(std::string_view text) {
  return !text.empty() && text.size() <= 9 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string_view last_word(std::string_view text) {
  auto const blank = text.find_last_of(kBlanks);
  return blank == std::string_view::npos ? text : text.substr(blank + 1);
}

// "node7:4121:4188": host, process, thread. mpirun puts "[1,0]<stdout>:" straight before it.
std::string_view host_of(std::string_view word) {
  auto const thread = word.rfind(':');
  if (thread == std::string_view::npos || thread == 0 || !is_digits(word.substr(thread + 1))) return {};
  auto const process = word.rfind(':', thread - 1);
  if (process == std::string_view::npos || !is_digits(word.substr(process + 1, thread - process - 1))) return {};
  auto host = word.substr(0, process);
  if (auto const tag = host.rfind(">:"); tag != std::string_view::npos) host.remove_prefix(tag + 2);
  return host;
}

}  // namespace

std::optional<NcclLogLine> parse_nccl_log_line(std::string_view line) {
  constexpr std::string_view kMark = "NCCL INFO";
  auto const mark = line.find(kMark);
  if (mark == std::string_view::npos) return std::nullopt;
  NcclLogLine parsed;
  parsed.text = line.substr(mark + kMark.size());
  if (parsed.text.starts_with(' ')) parsed.text.remove_prefix(1);
  auto before = trimmed(line.substr(0, mark), kBlanks);
  parsed.process = before;
  if (before.ends_with(']')) {
    auto const open = before.rfind('[');
    if (open == std::string_view::npos) return parsed;
    auto const number = before.substr(open + 1, before.size() - open - 2);
    int device = 0;
    if (is_digits(number)) {
      std::from_chars(number.data(), number.data() + number.size(), device);
      parsed.device = device;
    }
    before = trimmed(before.substr(0, open), kBlanks);
  }
  parsed.host = host_of(last_word(before));
  return parsed;
}

std::optional<NcclTreeLine> parse_nccl_tree_line(std::string_view text) {
  NcclTreeLine line;
  auto const first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return std::nullopt;
  auto node = text.substr(first);
  if (node.starts_with('+')) {
    line.column = first;
    auto const open = node.find('[');
    auto const close = node.find("] - ");
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
    line.link = trimmed(node.substr(1, open - 1), kBlanks);
    auto const number = node.substr(open + 1, close - open - 1);
    std::from_chars(number.data(), number.data() + number.size(), line.bandwidth);
    node = node.substr(close + 4);
  }
  auto const slash = node.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  line.type = node.substr(0, slash);
  auto id = node.substr(slash + 1);
  id = id.substr(0, id.find_first_of(" \t\r("));
  // Newer versions put numbers of the system and of the host before it: "0-0-47000".
  if (auto const system = id.rfind('-'); system != std::string_view::npos) id.remove_prefix(system + 1);
  if (!is_hex(id) || line.type.empty() || line.type.size() > 4) return std::nullopt;
  if (line.link.empty() && line.type != "CPU") return std::nullopt;
  line.id = id;
  if (auto const open = node.find('('); open != std::string_view::npos)
    line.detail = node.substr(open + 1, node.find(')', open) - open - 1);
  // The table of paths starts its lines with a node too: "CPU/0 :GPU/47000 (1/24.0/PHB)".
  if (line.link.empty() && node.find(" :") != std::string_view::npos) return std::nullopt;
  return line;
}

std::string bus_id_of_nccl(std::string_view hex) {
  std::uint64_t number = 0;
  auto const [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), number, 16);
  if (error != std::errc() || end != hex.data() + hex.size() || number > 0xffffffffU) return {};
  auto address = fmt::format("{:04x}:{:02x}:{:02x}.{:x}", number >> 20U, number >> 12U & 0xffU, number >> 4U & 0xffU,
                             number & 0xfU);
  return is_pci_address(address) ? address : std::string();
}

std::string_view word_after(std::string_view text, std::string_view key) {
  for (auto at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    bool const starts = at == 0 || text[at - 1] == ' ' || text[at - 1] == '\t';
    auto rest = text.substr(at + key.size());
    if (!starts || rest.empty() || rest.front() != ' ') continue;
    rest = trimmed(rest, kBlanks);
    return rest.substr(0, rest.find_first_of(kBlanks));
  }
  return {};
}

}  // namespace lanewise
