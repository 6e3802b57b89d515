#include "core/interop/formats/formats.hpp"

#include <fmt/format.h>

#include "core/interop/fabrics/ibnetdiscover.hpp"
#include "core/interop/host/files/hwloc.hpp"
#include "core/interop/host/files/lspci.hpp"
#include "core/interop/host/files/nccl.hpp"
#include "core/interop/host/files/nvidia_smi.hpp"
#include "core/interop/host/files/rocm_topology.hpp"
#include "core/interop/machines/infragraph/infragraph.hpp"
#include "core/interop/machines/nccl/graph.hpp"
#include "core/interop/machines/nccl/log/nccl_log.hpp"
#include "core/interop/machines/nccl/topology.hpp"
#include "core/interop/machines/p2p_status.hpp"

namespace lanewise {
namespace {

bool has(std::string_view text, std::string_view mark) { return text.find(mark) != std::string_view::npos; }

Likeness recognise_nccl(std::string_view text) {
  if (has(text, "<system") && (has(text, "<cpu") || has(text, "<pci"))) return Likeness::Certain;
  return Likeness::None;
}
Likeness recognise_nccl_graph(std::string_view text) {
  return has(text, "<graphs") ? Likeness::Likely : Likeness::None;
}
Machine read_nccl(SourceText const& source, TopoOptions const& parts, Catalogue& catalogue) {
  return read_nccl_topology(source, parts, catalogue);
}

// The header of the table has GPU0 first, and the row of a GPU starts with its name.
Likeness recognise_topo_m(std::string_view text) {
  if (!has(text, "GPU0") && !has(text, "GPU1")) return Likeness::None;
  bool const has_legend = has(text, "Legend:") && has(text, "SYS");
  bool const has_affinity = has(text, "CPU Affinity") || has(text, "NUMA Affinity");
  if (has_legend || has_affinity) return Likeness::Likely;
  bool const has_cells = has(text, " X ") || has(text, "\tX\t") || has(text, " X\n");
  return has_cells ? Likeness::Possible : Likeness::None;
}

// Tables of `topo -m` and of `topo -p2p` in one text, whichever there are.
std::vector<TopoDifference> compare_topo(SourceText const& source, Machine const& machine) {
  std::vector<TopoDifference> differences;
  auto const tables = read_p2p_tables(source);
  for (auto const& table : tables)
    for (auto& difference : p2p_differences(machine, table)) differences.push_back(std::move(difference));
  if (tables.empty() || has_topo_matrix(source))
    for (auto& difference : topo_differences(machine, read_topo_matrix(source)))
      differences.push_back(std::move(difference));
  return differences;
}

std::vector<Format> all_formats() {
  std::vector<Format> rows{
      {.name = "nccl",
       .about = "A machine from a topology file of NCCL or RCCL (NCCL_TOPO_DUMP_FILE)",
       .recognise = recognise_nccl,
       .read_facts = read_nccl_facts,
       .read = read_nccl,
       .takes_parts = true},
      {.name = "nccl-graph",
       .about = "Nothing of its own: rings that NCCL dumped (NCCL_GRAPH_DUMP_FILE), for --against",
       .kind = FormatKind::Comparison,
       .recognise = recognise_nccl_graph,
       .compare = compare_nccl_graph},
      {.name = "topo-m",
       .about = "A machine from the table that 'nvidia-smi topo -m' prints",
       .recognise = recognise_topo_m,
       .read = read_topo_m,
       .takes_parts = true,
       .compare = compare_topo},
      {.name = "infragraph",
       .about = "A machine from an Infrastructure of InfraGraph (API 2)",
       .recognise = recognise_infragraph,
       .read = read_infragraph,
       .takes_parts = true},
      {.name = "nccl-log",
       .about = "A machine from what NCCL or RCCL printed with NCCL_DEBUG=INFO",
       .recognise = recognise_nccl_log,
       .read_facts = read_nccl_log_host,
       .read = read_nccl_log,
       .takes_parts = true},
      {.name = "lspci",
       .about = "A machine from what 'sudo lspci -vvv' prints, with or without -nn, -D, -k and -t",
       .recognise = recognise_lspci,
       .read_facts = read_lspci,
       .takes_parts = true},
      {.name = "hwloc",
       .about = "A machine from hwloc's XML ('lstopo file.xml'), versions 1 to 3",
       .recognise = recognise_hwloc,
       .read_facts = read_hwloc,
       .takes_parts = true},
      {.name = "nvidia-smi-xml",
       .about = "A machine of the GPUs that 'nvidia-smi -q -x' lists",
       .recognise = recognise_nvidia_smi,
       .read_facts = read_nvidia_smi,
       .takes_parts = true},
      {.name = "rocm-topo",
       .about =
           "A machine of the GPUs and xGMI links that 'rocm-smi --showtopo' or 'amd-smi topology' shows, text or JSON",
       .recognise = recognise_rocm_topology,
       .read_facts = read_rocm_topology,
       .takes_parts = true},
      {.name = "ibnetdiscover",
       .about = "A cluster from what 'ibnetdiscover' prints of an InfiniBand fabric",
       .kind = FormatKind::Cluster,
       .recognise = recognise_ibnetdiscover},
  };
  for (auto const tool : kBenchmarks)
    rows.push_back(
        {.name = to_string(tool), .about = describe(tool), .kind = FormatKind::Measurement, .benchmark = tool});
  return rows;
}

}  // namespace

std::vector<Format> const& formats() {
  static std::vector<Format> const rows = all_formats();
  return rows;
}

Likeness likeness(Format const& format, std::string_view text) {
  if (format.benchmark) return detect_benchmark(text) == format.benchmark ? Likeness::Likely : Likeness::None;
  return format.recognise == nullptr ? Likeness::None : format.recognise(text);
}

Format const* recognise_format(std::string_view text) {
  Format const* best = nullptr;
  auto surest = Likeness::None;
  for (auto const& format : formats()) {
    auto const found = likeness(format, text);
    if (found <= surest) continue;
    surest = found;
    best = &format;
  }
  return best;
}

Format const& recognised_format(SourceText const& source) {
  if (auto const* format = recognise_format(source.text())) return *format;
  std::string known;
  for (auto const& format : formats()) known += fmt::format("\n  {:<16}{}", format.name, format.about);
  throw InputError(
      fmt::format("{}: nothing in it says which format it has; 'import' reads these:{}", source.name(), known));
}

SourceText load_foreign_text(std::string const& file) {
  bool const standard_input = file == "-";
  return SourceText::from_memory(standard_input ? "stdin" : file,
                                 without_terminal_codes(read_file(standard_input ? "/dev/stdin" : file)));
}

}  // namespace lanewise
