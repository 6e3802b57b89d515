// Fuzzes the merge of a file of NCCL (topology or log) with files of other tools about one host. A line of "%%" ends a
// file. The first is NCCL's, the others what they are recognised as. The property: any texts give a machine that reads
// back equal, or a lanewise::Error.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/interop/formats/host_import.hpp"
#include "fuzz/reads_back.hpp"
#include "lanewise/io/error.hpp"

namespace {

using namespace lanewise;

std::vector<std::string> files_in(std::string_view text) {
  constexpr std::string_view kEnd = "\n%%\n";
  std::vector<std::string> files;
  for (auto end = text.find(kEnd); end != std::string_view::npos; end = text.find(kEnd)) {
    files.emplace_back(text.substr(0, end + 1));
    text.remove_prefix(end + kEnd.size());
  }
  files.emplace_back(text);
  return files;
}

Format const* format_named(std::string_view name) {
  for (auto const& format : formats())
    if (format.name == name) return &format;
  return nullptr;
}

// The first file is always one of NCCL's, so that each input is about its facts.
Format const* format_of(std::string const& text, bool first) {
  auto const* found = recognise_format(text);
  if (!first) return found;
  return format_named(found != nullptr && found->name == "nccl-log" ? "nccl-log" : "nccl");
}

// The files of an input that can be merged.
std::vector<ForeignFile> mergeable(std::string_view input) {
  std::vector<ForeignFile> files;
  for (auto& text : files_in(input)) {
    auto const* format = format_of(text, files.empty());
    if (format == nullptr || (format->read_facts == nullptr && format->name != "topo-m")) continue;
    auto const name = "file" + std::to_string(files.size());
    files.push_back({SourceText::from_memory(name, std::move(text)), format});
  }
  return files;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  // Bundled parts, so that links and NVLinks meet the limits of real ones.
  static Catalogue catalogue({LANEWISE_SOURCE_DIR "/topologies"});
  try {
    auto const files = mergeable({reinterpret_cast<char const*>(data), size});
    // One file alone is tried by the targets of single files.
    if (files.size() > 1) check_reads_back(import_host(files, {}, catalogue), catalogue);
  } catch (Error const&) {  // any text may be wrong; only a lanewise::Error may say so
  }
  return 0;
}
