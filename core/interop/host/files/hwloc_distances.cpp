#include "core/interop/host/files/hwloc_distances.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "core/interop/words.hpp"

namespace lanewise {
namespace {

constexpr std::size_t kMaxEntries = 1024;

// All values of the elements of a name, which hwloc splits into several.
std::vector<std::string> values(pugi::xml_node matrix, char const* name, std::size_t most) {
  std::vector<std::string> found;
  for (auto const part : matrix.children(name))
    for (auto const& word : words_of(part.text().as_string()))
      if (found.size() < most) found.emplace_back(word.text);
  return found;
}

double number(std::string const& text) {
  unsigned long long value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? static_cast<double>(value) : 0;
}

// MB/s of one link in one direction, as hwloc writes it (hwloc, topology-nvml.c): NVLink 1 has 20 GB/s, 2 to 4 have 25,
// 5 has 50.
double megabytes_per_link(HwlocPlace const& gpu) {
  constexpr double kNvlink1 = 20'000;
  constexpr double kNvlink2 = 25'000;
  constexpr double kNvlink5 = 50'000;
  if (gpu.compute_capability.starts_with("6.")) return kNvlink1;
  return gpu.compute_capability.starts_with("10.") ? kNvlink5 : kNvlink2;
}

class MatrixReader {
 public:
  MatrixReader(std::map<std::string, HwlocPlace> const& places, HostFacts& facts) : places_(places), facts_(facts) {}

  void read(pugi::xml_node matrix) {
    std::string const name = matrix.attribute("name").as_string();
    bool const nvlink = name == "NVLinkBandwidth";
    if (!nvlink && name != "XGMIBandwidth") return;
    facts_.lists_nvlinks = facts_.lists_nvlinks || nvlink;
    auto const indexes = values(matrix, "indexes", kMaxEntries);
    auto const cells = values(matrix, "u64values", kMaxEntries * kMaxEntries);
    auto const n = indexes.size();
    if (n == 0 || cells.size() != n * n) return note_odd(name);
    std::vector<HwlocPlace const*> entries;
    for (auto const& index : indexes) entries.push_back(find(index));
    // hwloc also gives what two GPUs reach through switches; only the links themselves count.
    bool const switched = std::any_of(entries.begin(), entries.end(), [](auto const* place) {
      return place != nullptr && place->kind == HwlocPlace::Kind::Switch;
    });
    for (std::size_t row = 0; row < n; ++row)
      for (std::size_t column = 0; column < n; ++column) {
        auto const* from = entries[row];
        auto const* to = entries[column];
        auto const bandwidth = number(cells[row * n + column]);
        if (row == column || from == nullptr || to == nullptr || from == to || bandwidth <= 0) continue;
        if (from->kind != HwlocPlace::Kind::Gpu) continue;
        if (!nvlink && row < column) add_xgmi(*from, *to, bandwidth);
        if (nvlink && (!switched || to->kind != HwlocPlace::Kind::Gpu)) add_nvlinks(*from, *to, bandwidth);
      }
  }

 private:
  void note_odd(std::string const& name) {
    facts_.notes.push_back(
        fmt::format("the matrix {} has another number of values than its indexes ask for; left out", name));
  }

  // "802", or "OSDev:802" in matrices of several kinds.
  [[nodiscard]] HwlocPlace const* find(std::string const& index) const {
    auto const at = places_.find(index.substr(index.find(':') + 1));
    return at == places_.end() ? nullptr : &at->second;
  }

  void add_nvlinks(HwlocPlace const& from, HwlocPlace const& to, double bandwidth) {
    constexpr double kMaxLinks = 36;
    auto const links = std::lround(std::min(bandwidth / megabytes_per_link(from), kMaxLinks));
    auto gpu = std::find_if(facts_.nvml.gpus.begin(), facts_.nvml.gpus.end(),
                            [&](NvmlGpu const& known) { return known.bdf == from.bdf; });
    if (gpu == facts_.nvml.gpus.end()) return;
    for (long i = 0; i < links && gpu->links.size() < static_cast<std::size_t>(kMaxLinks); ++i) {
      NvmlLink link;
      link.number = static_cast<int>(gpu->links.size());
      link.remote = to.kind == HwlocPlace::Kind::Switch ? NvlinkRemote::Switch
                    : to.kind == HwlocPlace::Kind::Cpu  ? NvlinkRemote::Cpu
                                                        : NvlinkRemote::Gpu;
      link.remote_bdf = to.bdf;
      gpu->links.push_back(std::move(link));
    }
  }

  void add_xgmi(HwlocPlace const& a, HwlocPlace const& b, double bandwidth) {
    facts_.xgmi.push_back({a.bdf, b.bdf, BytesPerSecond(bandwidth * 1e6), 0});
  }

  std::map<std::string, HwlocPlace> const& places_;
  HostFacts& facts_;
};

}  // namespace

void read_hwloc_distances(pugi::xml_node topology, std::map<std::string, HwlocPlace> const& places, HostFacts& facts) {
  MatrixReader reader(places, facts);
  for (auto const* name : {"distances2", "distances2hetero"})
    for (auto const matrix : topology.children(name)) reader.read(matrix);
}

}  // namespace lanewise
