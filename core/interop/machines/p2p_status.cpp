#include "core/interop/machines/p2p_status.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/interop/machines/matrix_text.hpp"
#include "core/machine/path_class.hpp"
#include "lanewise/rules/rule.hpp"

namespace lanewise {
namespace {

struct StatusWord {
  std::string_view text;
  std::string_view meaning;
};
constexpr std::array<StatusWord, 8> kStatusWords{{{"OK", "allowed"},
                                                  {"CNS", "chipset not supported"},
                                                  {"GNS", "GPU not supported"},
                                                  {"TNS", "topology not supported"},
                                                  {"NS", "not supported"},
                                                  {"DR", "disabled by a registry key"},
                                                  {"U", "unknown"},
                                                  {"X", "itself"}}};

StatusWord const* find_status(std::string_view text) {
  auto const* const found =
      std::find_if(kStatusWords.begin(), kStatusWords.end(), [&](StatusWord const& word) { return word.text == text; });
  return found == kStatusWords.end() ? nullptr : found;
}

// What the command line before a table asked for: "nvidia-smi topo -p2p r".
std::optional<P2pAsked> asked_in(SourceText const& source, int first_line, int last_line) {
  constexpr std::array<std::pair<std::string_view, P2pAsked>, 5> kLetters{{{"r", P2pAsked::Read},
                                                                           {"w", P2pAsked::Write},
                                                                           {"n", P2pAsked::Nvlink},
                                                                           {"a", P2pAsked::Atomics},
                                                                           {"p", P2pAsked::Pcie}}};
  for (int line = last_line; line >= std::max(1, first_line); --line) {
    auto const text = source.line(line);
    auto const at = text.find("-p2p");
    if (at == std::string_view::npos) continue;
    auto const letter = text.find_first_not_of(" \t=", at + 4);
    if (letter == std::string_view::npos) continue;
    for (auto const& [word, asked] : kLetters)
      if (text.substr(letter, 1) == word) return asked;
  }
  return std::nullopt;
}

P2pStatus status_of(SourceText const& source, int first_line, MatrixText const& text) {
  P2pStatus table;
  table.line = text.columns.front().line;
  constexpr int kLinesBefore = 12;
  auto const asked = asked_in(source, std::max(first_line, table.line - kLinesBefore), table.line - 1);
  table.said = asked.has_value();
  table.asked = asked.value_or(P2pAsked::Read);
  for (auto const& column : text.columns) table.gpus.push_back(column.text);
  table.status.assign(table.gpus.size(), std::vector<std::string>(table.gpus.size()));
  for (auto const& row : text.rows) {
    auto const at = std::find(table.gpus.begin(), table.gpus.end(), row.label.text);
    if (at == table.gpus.end()) continue;
    auto& cells = table.status[static_cast<std::size_t>(at - table.gpus.begin())];
    for (std::size_t i = 0; i < std::min(cells.size(), row.words.size()); ++i)
      if (is_p2p_cell(row.words[i].text)) cells[i] = row.words[i].text;
  }
  return table;
}

// Why the rules refuse what the table asked for; nullptr when they allow it.
Rule const* refusal_of(Machine const& machine, PciId from, PciId to, P2pAsked asked) {
  Way way;
  way.mechanism =
      nvlink_count(machine, from, to) > 0 && asked != P2pAsked::Pcie ? Mechanism::Nvlink : Mechanism::PcieP2p;
  way.drive = asked == P2pAsked::Read ? Drive::Pull : Drive::Push;
  auto const op = asked == P2pAsked::Atomics ? Op::Atomic : Op::Copy;
  return refusal({.machine = machine, .from = from, .to = to, .op = op, .way = way});
}

}  // namespace

std::string_view to_string(P2pAsked asked) {
  constexpr std::array<std::string_view, 5> kNames{"reads", "writes", "NVLink", "atomics", "PCIe"};
  return kNames.at(static_cast<std::size_t>(asked));
}

bool is_p2p_cell(std::string_view text) { return find_status(text) != nullptr; }

std::vector<P2pStatus> read_p2p_tables(SourceText const& source) {
  constexpr std::size_t kMaxTables = 16;
  std::vector<P2pStatus> tables;
  for (int line = 1; tables.size() < kMaxTables;) {
    auto const text = find_matrix(source, line, is_p2p_cell);
    if (!text) break;
    auto const has_word = std::any_of(text->rows.begin(), text->rows.end(), [](MatrixText::Row const& row) {
      return std::any_of(row.words.begin(), row.words.end(),
                         [](PlacedWord const& word) { return word.text != "X" && is_p2p_cell(word.text); });
    });
    auto const gpus_only = std::all_of(text->columns.begin(), text->columns.end(),
                                       [](PlacedWord const& column) { return is_gpu_label(column.text); });
    if (has_word && gpus_only) tables.push_back(status_of(source, line, *text));
    line = std::max(text->last_line, text->columns.front().line) + 1;
  }
  return tables;
}

std::vector<TopoDifference> p2p_differences(Machine const& machine, P2pStatus const& table) {
  std::vector<TopoDifference> differences;
  auto const gpu = [&](std::string const& label) -> std::optional<PciId> {
    auto const id = machine.find_function("gpu" + label.substr(3));
    return id && machine.at(*id).kind == PciKind::Gpu ? id : std::nullopt;
  };
  for (std::size_t a = 0; a < table.gpus.size(); ++a)
    for (std::size_t b = a + 1; b < table.gpus.size(); ++b) {
      auto const& said = table.status[a][b].empty() ? table.status[b][a] : table.status[a][b];
      auto const from = gpu(table.gpus[a]);
      auto const to = gpu(table.gpus[b]);
      if (!from || !to || said.empty() || said == "U") continue;
      auto const subject = fmt::format("{} > {}", machine.at(*from).name, machine.at(*to).name);
      auto const theirs =
          fmt::format("nvidia-smi says {} ({}) for {}", said, find_status(said)->meaning, to_string(table.asked));
      if (table.asked == P2pAsked::Nvlink) {
        bool const has = nvlink_count(machine, *from, *to) > 0;
        if (has != (said == "OK"))
          differences.push_back({subject, fmt::format("{}, the machine has {}", theirs, has ? "NVLink" : "no NVLink")});
        continue;
      }
      auto const* refused = refusal_of(machine, *from, *to, table.asked);
      if ((refused == nullptr) == (said == "OK")) continue;
      differences.push_back({subject, refused == nullptr
                                          ? fmt::format("{}, the rules allow it", theirs)
                                          : fmt::format("{}, rule {}: {}", theirs, refused->id, refused->sentence)});
    }
  return differences;
}

}  // namespace lanewise
