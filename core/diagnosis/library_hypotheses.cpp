// Causes that a library's variable has, or what has the same effect.
#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "core/diagnosis/hypothesis_groups.hpp"

namespace lanewise {
namespace {

class LibraryHypotheses {
 public:
  LibraryHypotheses(Machine const& machine, Catalogue& catalogue, bool exchanges)
      : machine_(machine), catalogue_(catalogue), exchanges_(exchanges) {}

  std::vector<Hypothesis> find() {
    library(
        "NCCL_P2P_DISABLE", "1", "NCCL does not use peer access: data pass host memory",
        "NCCL_DEBUG=INFO: 'via SHM' where 'via P2P' is expected; NCCL_P2P_DISABLE, NCCL_P2P_LEVEL, IOMMU, containers "
        "without a common /dev/shm");
    library(
        "NCCL_NVLS_ENABLE", "0", "NVLS is not used: the NVSwitches reduce nothing",
        "NCCL_DEBUG=INFO: 'NVLS multicast support is not available'; NCCL_NVLS_ENABLE, driver, fabric manager, a VM or "
        "MIG without multicast");
    if (!machine_.nvswitches.empty()) no_nvlink();
    for (auto const* channels : {"1", "2", "4", "8"})
      library("NCCL_MAX_NCHANNELS", channels,
              fmt::format("NCCL uses {} channel{} only", channels, std::string(channels) == "1" ? "" : "s"),
              "NCCL_DEBUG=INFO: 'coll channels'; NCCL_MAX_NCHANNELS, NCCL_MAX_CTAS, a topology file that is missing or "
              "wrong");
    for (auto const* channels : {"1", "2", "4"})
      if (exchanges_)
        library("NCCL_MAX_P2P_NCHANNELS", channels,
                fmt::format("NCCL uses at most {} channel{} for each peer", channels,
                            std::string(channels) == "1" ? "" : "s"),
                "NCCL_DEBUG=INFO: 'p2p channels per peer'; NCCL_MAX_P2P_NCHANNELS");
    for (auto const* protocol : {"LL", "LL128", "Simple"})
      library("NCCL_PROTO", protocol, fmt::format("NCCL uses protocol {} for every size", protocol),
              "the environment and nccl.conf: NCCL_PROTO, or a tuner plugin");
    for (auto const* algorithm : {"Ring", "Tree"})
      library("NCCL_ALGO", algorithm, fmt::format("NCCL uses algorithm {} for every size", algorithm),
              "the environment and nccl.conf: NCCL_ALGO, or a tuner plugin");
    if (machine_.hosts.size() > 1) library_over_networks();
    return std::move(found_);
  }

 private:
  void library(std::string const& variable, std::string const& value, std::string text, std::string check) {
    if (machine_.library_environment.contains(variable)) return;
    auto h = hypothesis_of(CauseKind::Library, variable, std::move(text));
    h.check = std::move(check);
    h.settings = {{"library.env." + variable, value}};
    h.change = applying(h.settings.front(), catalogue_);
    found_.push_back(std::move(h));
  }

  // NCCL uses neither peer access nor NVLS, as with the topology file of another machine.
  void no_nvlink() {
    auto h = hypothesis_of(CauseKind::Library, "NCCL_TOPO_FILE",
                           "NCCL sees no NVLink: data pass host memory, and the NVSwitches reduce nothing");
    h.check =
        "nvidia-smi topo -m; NCCL_DEBUG=INFO: 'via SHM' and no NVLS; NCCL_TOPO_FILE of another machine, fabric manager";
    h.settings = {{"library.env.NCCL_P2P_DISABLE", "1"}, {"library.env.NCCL_NVLS_ENABLE", "0"}};
    for (auto const& setting : h.settings)
      if (machine_.library_environment.contains(setting.key.substr(std::string("library.env.").size()))) return;
    h.change = [first = applying(h.settings[0], catalogue_),
                second = applying(h.settings[1], catalogue_)](Machine& machine) {
      first(machine);
      second(machine);
    };
    found_.push_back(std::move(h));
  }

  void library_over_networks() {
    library("NCCL_NET_GDR_LEVEL", "LOC", "GPUDirect RDMA is not used: data pass host memory on their way to the NICs",
            "NCCL_DEBUG=INFO: 'via NET/IB' without GDRDMA; lsmod | grep nvidia_peermem; ACS, NCCL_NET_GDR_LEVEL");
    std::size_t nics = 0;
    for (auto const nic : machine_.all(PciKind::Nic))
      if (machine_.host_of(nic) == HostId(0) && !machine_.fabric->attachments_of(nic).empty()) ++nics;
    for (auto const used : {nics / 2, std::size_t{1}})
      if (used > 0 && used < nics) fewer_nics(used, nics);
  }

  // Every n-th of a node stays.
  void fewer_nics(std::size_t used, std::size_t nics) {
    auto h = hypothesis_of(CauseKind::Library, "NCCL_IB_HCA",
                           fmt::format("NCCL uses {} of the {} NICs of a node{}", used, nics,
                                       2 * used == nics ? ", or one of two ports of each" : ""));
    h.check =
        "NCCL_DEBUG=INFO: 'NET/IB : Using' lists the NICs; NCCL_IB_HCA, links that are down, a topology file that "
        "says wrong rates";
    h.change = [step = nics / used](Machine& machine) {
      std::map<HostId, std::set<PciId>> seen;  // a NIC has a cable in each plane
      std::erase_if(machine.fabric->attachments, [&](Fabric::Attachment const& attachment) {
        auto& of_node = seen[machine.host_of(attachment.nic)];
        of_node.insert(attachment.nic);
        return (of_node.size() - 1) % step != 0;
      });
    };
    found_.push_back(std::move(h));
  }

  Machine const& machine_;
  Catalogue& catalogue_;
  bool exchanges_;
  std::vector<Hypothesis> found_;
};

}  // namespace

std::vector<Hypothesis> library_hypotheses(Machine const& machine, Catalogue& catalogue, bool exchanges) {
  return LibraryHypotheses(machine, catalogue, exchanges).find();
}

}  // namespace lanewise
