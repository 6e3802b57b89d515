#pragma once
// What may be wrong with a machine that is slower than it should be: changes of the machine, or of how a measurement is
// to be read, under which the model can be asked again.
#include <functional>
#include <string>
#include <vector>

#include "core/measurement/measurement.hpp"

namespace lanewise {

enum class CauseKind : std::uint8_t {
  Link,         // a PCIe link trained down
  Nvlink,       // NVLinks that are down
  Acs,          // ACS sends peer traffic through the root complex
  Iommu,        // the IOMMU translates
  Numa,         // host memory on another NUMA node
  Pageable,     // host memory that is not pinned
  PeerRefused,  // no peer access: the driver stages
  NotNvlink,    // peer access over PCIe although NVLink is there
  Nic,          // another NIC than the nearest
  NoGpuDirect,  // no GPUDirect RDMA: staged through host memory
};
std::string_view to_string(CauseKind kind);  // link, nvlink, acs, iommu, numa, pageable, peer_refused, ...

struct Hypothesis {
  CauseKind kind = CauseKind::Link;
  std::string subject;                // what it is about: "gpu3", "numa1"; empty: the whole machine
  std::string text;                   // "the link of gpu3 runs at gen4 x8 instead of gen4 x16"
  std::vector<std::string> likewise;  // other states of the subject that carry as much: "gen3 x16"
  std::string check;                  // how to see it on the machine
  std::vector<Setting> settings;      // what --set makes the model say so; empty where none does
  std::function<void(Machine&)> change = {};
  // Reads a slow point as it would have been; false where it would not have been another. Absent: all points stay.
  std::function<bool(MeasuredSeries&, MeasuredPoint&)> reinterpret = {};
};

// A point of a measurement with the series it is of.
struct SlowPoint {
  MeasuredSeries const* series = nullptr;
  MeasuredPoint const* point = nullptr;
};

// What could be the matter with these transfers, likelier things first.
std::vector<Hypothesis> hypotheses_for(Machine const& machine, std::vector<SlowPoint> const& slow,
                                       Catalogue& catalogue);

// The driver's refusal without a reason that the model knows.
Hypothesis peer_refused();
// What makes a driver refuse peer access that the described machine allows.
std::vector<Hypothesis> refusals_for(Machine const& machine, Catalogue& catalogue);

}  // namespace lanewise
