#include "core/interop/machines/topo_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace lanewise {

std::vector<DeviceGroup> groups_within(TopoMatrix const& matrix, DeviceGroup const& among, PathClass level) {
  std::vector<DeviceGroup> groups;
  std::set<std::size_t> taken;
  for (auto const first : among) {
    if (!taken.insert(first).second) continue;
    DeviceGroup group{first};
    for (std::size_t i = 0; i < group.size(); ++i)
      for (auto const other : among)
        if (auto const path = matrix.at(group[i], other).path; path && *path <= level && taken.insert(other).second)
          group.push_back(other);
    std::sort(group.begin(), group.end());
    groups.push_back(std::move(group));
  }
  return groups;
}

DeviceGroup all_devices(TopoMatrix const& matrix) {
  DeviceGroup all(matrix.devices.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

namespace {

// Finds pairs that no tree can have: a third device is nearer to both of them than they are to each other.
class ContradictionFinder {
 public:
  explicit ContradictionFinder(TopoMatrix const& matrix) : matrix_(matrix) {}

  std::vector<std::string> find() {
    for (auto const level : {PathClass::Pix, PathClass::Pxb, PathClass::Phb, PathClass::Node})
      for (auto const& group : groups_within(matrix_, all_devices(matrix_), level))
        for (auto const a : group)
          for (auto const b : group)
            if (auto const& cell = matrix_.at(a, b); b > a && cell.path && *cell.path > level) report(a, b, level);
    return std::move(sentences_);
  }

 private:
  void report(std::size_t a, std::size_t b, PathClass level) {
    if (!reported_.insert({a, b}).second) return;
    auto const near = [&](std::size_t x, std::size_t y) {
      return matrix_.at(x, y).path && *matrix_.at(x, y).path <= level;
    };
    auto const name = [&](std::size_t i) -> std::string const& { return matrix_.devices[i].label; };
    auto const& cell = matrix_.at(a, b);
    std::string why = fmt::format("other devices join them by {} or nearer", to_string(level));
    for (std::size_t c = 0; c < matrix_.devices.size(); ++c)
      if (c != a && c != b && near(a, c) && near(c, b)) {
        why = fmt::format("{} and {} are {}, {} and {} are {}", name(a), name(c), to_string(*matrix_.at(a, c).path),
                          name(c), name(b), to_string(*matrix_.at(c, b).path));
        break;
      }
    sentences_.push_back(fmt::format("{} and {} cannot be {} (line {}): {}; the nearer is taken", name(a), name(b),
                                     to_string(*cell.path), cell.line, why));
  }

  TopoMatrix const& matrix_;
  std::vector<std::string> sentences_;
  std::set<std::pair<std::size_t, std::size_t>> reported_;
};

}  // namespace

std::vector<DeviceGroup> nvlink_groups(TopoMatrix const& matrix) {
  std::vector<DeviceGroup> groups;
  std::set<std::size_t> taken;
  for (auto const first : all_devices(matrix)) {
    if (!matrix.devices[first].gpu || !taken.insert(first).second) continue;
    DeviceGroup group{first};
    for (std::size_t i = 0; i < group.size(); ++i)
      for (auto const other : all_devices(matrix))
        if (matrix.at(group[i], other).nvlinks > 0 && taken.insert(other).second) group.push_back(other);
    if (group.size() < 2) continue;
    std::sort(group.begin(), group.end());
    groups.push_back(std::move(group));
  }
  return groups;
}

int most_nvlinks(TopoMatrix const& matrix, std::size_t gpu) {
  int links = 0;
  for (auto const& cell : matrix.cells[gpu]) links = std::max(links, cell.nvlinks);
  return links;
}

bool joined_by_switches(TopoMatrix const& matrix, DeviceGroup const& group, Part const* product) {
  constexpr int kMaxPorts = 18;
  if (group.size() < 3) return false;
  int most = 0;
  for (auto const a : group) {
    most = std::max(most, most_nvlinks(matrix, a));
    for (auto const b : group)
      if (a != b && matrix.at(a, b).shown &&
          matrix.at(a, b).nvlinks != std::min(most_nvlinks(matrix, a), most_nvlinks(matrix, b)))
        return false;
  }
  bool const uses_all_ports =
      product != nullptr ? most == product->gpu.nvlink_ports : most == 6 || most == 12 || most == kMaxPorts;
  return uses_all_ports || most * (static_cast<int>(group.size()) - 1) > kMaxPorts;
}

std::vector<std::string> contradictions(TopoMatrix const& matrix) { return ContradictionFinder(matrix).find(); }

}  // namespace lanewise
