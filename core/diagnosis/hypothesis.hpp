#pragma once
// What may be wrong with a machine that is slower than predicted: a change of the machine, or of how to read the
// measurement, under which the model predicts again.
#include <functional>
#include <string>
#include <vector>

#include "core/measurement/measurement.hpp"

namespace lanewise {

enum class CauseKind : std::uint8_t {
  Link,          // a PCIe link trained down
  Nvlink,        // NVLinks that are down
  Acs,           // ACS redirects peer traffic to the root complex
  Iommu,         // the IOMMU translates
  Numa,          // host memory on another NUMA node
  Pageable,      // host memory that is not pinned
  PeerRefused,   // no peer access, so the driver stages
  NotNvlink,     // peer access over PCIe despite NVLink
  Nic,           // a NIC other than the nearest
  NoGpuDirect,   // no GPUDirect RDMA, so data are staged in host memory
  Library,       // a variable of the library, or what has the same effect
  Fabric,        // the network between nodes: hashed flows, cables that are missing
  Bar1,          // an aperture that is too small
  Ats,           // address translation services do not work
  DataDirect,    // NICs reach GPUs through the CPU, not by their function on the GPU's own PCIe tree
  Confidential,  // data to and from the host pass encrypted bounce buffers
  Clock,         // all GPUs are slow alike: clocks, power
};
std::string_view to_string(CauseKind kind);  // link, nvlink, acs, iommu, numa, pageable, peer_refused, ...

struct Hypothesis {
  CauseKind kind = CauseKind::Link;
  std::string subject;                // "gpu3", "numa1"; empty: the whole machine
  std::string text;                   // "the link of gpu3 runs at gen4 x8 instead of gen4 x16"
  std::vector<std::string> likewise;  // other states with the same bandwidth: "gen3 x16"
  std::string check;                  // how to check it on the machine
  // What it must explain more than others: 2 ln(how many are alike), and more where much else looks the same.
  double handicap = 0;
  double slowdown = 1;            // every figure takes so many times as long
  std::vector<Setting> settings;  // --set arguments with the same effect; empty if there are none
  std::function<void(Machine&)> change = {};
  // Changes a slow point to what was really measured under the hypothesis; returns false if that is the same. Absent:
  // all points stay as they are.
  std::function<bool(MeasuredSeries&, MeasuredPoint&)> reinterpret = {};
};

// A hypothesis with neither change nor reinterpretation yet.
Hypothesis hypothesis_of(CauseKind kind, std::string subject, std::string text);

// A point of a measurement and its series.
struct SlowPoint {
  MeasuredSeries const* series = nullptr;
  MeasuredPoint const* point = nullptr;
};

// The possible causes for these slow transfers, the likelier ones first.
std::vector<Hypothesis> hypotheses_for(Machine const& machine, std::vector<SlowPoint> const& slow,
                                       Catalogue& catalogue);

// The driver refuses peer access for a reason unknown to the model.
Hypothesis peer_refused();
// Reasons why a driver may refuse peer access that the described machine allows.
std::vector<Hypothesis> refusals_for(Machine const& machine, Catalogue& catalogue);

}  // namespace lanewise
