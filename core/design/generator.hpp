#pragma once
// Candidates made from parts: every server, or cluster of such servers, that a few choices allow.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/yaml.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/machine/setting.hpp"

namespace lanewise {

// Between GPUs and CPUs.
enum class PcieShape : std::uint8_t {
  Direct,    // each GPU has a root port
  Flat,      // switches side by side, all below the first socket
  DualRoot,  // switches side by side, divided over the sockets
  Cascaded   // one switch below the first socket, the others below that one
};
std::string_view to_string(PcieShape shape);

// Between GPUs of one server.
enum class GpuLinks : std::uint8_t { None, Switch, Pairs, Mesh };
std::string_view to_string(GpuLinks links);

enum class NicPlace : std::uint8_t { Switch, Socket };
std::string_view to_string(NicPlace place);

// One choice of each; `parts` by name.
struct ServerChoice {
  std::string gpu;
  int gpus = 0;
  GpuLinks links = GpuLinks::None;
  std::string link_part;  // of a mesh; empty: NVLink of the GPU's generation
  std::string cpu;
  int sockets = 1;
  PcieShape shape = PcieShape::Direct;
  std::string pcie_switch;
  int switches = 0;
  std::string nic;
  int nics = 0;
  NicPlace nics_at = NicPlace::Socket;
};
struct ClusterChoice {
  int nodes = 1;
  std::string network_switch;
  bool rails = false;  // NICs of one number on switches of their own
  int tiers = 1;
  int oversubscription = 1;  // cables down over cables up, of the lowest tier
};

// The choices of a brief's `generate`. An empty list leaves the thing out.
struct CandidateGenerator {
  std::vector<std::string> gpu;
  std::vector<int> gpus;
  std::vector<GpuLinks> links;
  std::string link_part;
  std::vector<std::string> cpu;
  std::vector<int> sockets{2};
  std::vector<PcieShape> shapes;
  std::vector<std::string> pcie_switch;
  std::vector<int> switches{1, 2, 4};
  std::vector<std::string> nic;
  std::vector<int> nics;
  std::vector<NicPlace> nics_at{NicPlace::Switch, NicPlace::Socket};
  std::vector<int> nodes{1};
  std::vector<std::string> network_switch;
  std::vector<bool> rails;
  std::vector<int> tiers{1};
  std::vector<int> oversubscription{1};
  std::vector<Setting> settings;  // of each
  SourcePos pos;
  friend bool operator==(CandidateGenerator const&, CandidateGenerator const&) = default;
};
// The keys of `generate`.
MapSpec const& generator_spec();
CandidateGenerator read_generator(MapReader& reader);

struct GeneratedMachine {
  std::string name;                    // made of the choices, so that more choices do not change it
  std::string source;                  // its machine or cluster file
  std::string node_name, node_source;  // of a cluster: its nodes' machine and its file
};

// What became of all combinations.
struct GeneratedSummary {
  std::size_t combinations = 0;
  std::size_t candidates = 0;                   // that are left
  std::size_t equivalent = 0;                   // the same machine as another
  std::map<std::string, std::size_t> excluded;  // by the budget or rule: how many
  friend bool operator==(GeneratedSummary const&, GeneratedSummary const&) = default;
};

// Every combination that can be built: within the lanes of CPUs and switches and the ports of network switches. Makes
// the nodes of clusters known to the catalogue. Adds to the summary. `take` gets each with its machine, of which
// thousands would not fit into memory. Throws InputError for a part that is not there or of another kind, and where
// there are more than 20,000 combinations.
void generate_machines(CandidateGenerator const& generator, Catalogue& catalogue, GeneratedSummary& summary,
                       std::function<void(GeneratedMachine, Machine)> const& take);

}  // namespace lanewise
