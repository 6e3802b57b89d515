#pragma once
// The hardware and settings of one machine, or of all nodes of a cluster: sockets, the PCI tree under them, NVLink,
// NICs, host memory, the network. A plain value without behaviour: rules and model derive everything else from it.
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lanewise/machine/part.hpp"
#include "lanewise/machine/pcie_link.hpp"
#include "lanewise/units/quantity.hpp"

namespace lanewise {

enum class HostId : std::uint32_t {};  // an operating system: one machine, or one node of a cluster
enum class SocketId : std::uint32_t {};
enum class NumaId : std::uint32_t {};        // a NUMA node: host memory
enum class HostBridgeId : std::uint32_t {};  // a PCI host bridge: a root bus under a root complex
enum class PciId : std::uint32_t {};         // a position in the PCI tree
enum class PartId : std::uint32_t {};        // into Machine::parts
enum class NvSwitchId : std::uint32_t {};

template <class Id>
constexpr std::size_t index(Id id) {
  return static_cast<std::size_t>(id);
}

// ------------------------------------------------------------------------------------------------------ settings

// The ACS control register of a root port or a switch downstream port (PCIe Base Specification, 7.7.11.3).
struct AcsControl {
  static constexpr std::uint16_t kSourceValidation = 0x01, kTranslationBlocking = 0x02, kRequestRedirect = 0x04,
                                 kCompletionRedirect = 0x08, kUpstreamForwarding = 0x10, kEgressControl = 0x20,
                                 kDirectTranslated = 0x40;
  bool known = true;  // false: config space could not be read
  std::uint16_t bits = 0;

  [[nodiscard]] bool has(std::uint16_t bit) const { return (bits & bit) != 0; }
  friend bool operator==(AcsControl const&, AcsControl const&) = default;
  static AcsControl off() { return {}; }
  // What Linux sets while an IOMMU is in use: SV, RR, CR, UF.
  static AcsControl on() {
    return {true, kSourceValidation | kRequestRedirect | kCompletionRedirect | kUpstreamForwarding};
  }
  static AcsControl unknown() { return {false, 0}; }
};
std::string to_string(AcsControl control);            // "off", "on", "unknown", "RR,CR"
Parsed<AcsControl> parse_acs(std::string_view text);  // the same words; bits separated by ',' or '+'

enum class IommuMode : std::uint8_t { Unknown, Off, Passthrough, Lazy, Strict, Vfio };
std::string_view to_string(IommuMode mode);            // unknown, off, pt, lazy, strict, vfio
Parsed<IommuMode> parse_iommu(std::string_view text);  // also `on` and `translated`, which mean lazy
constexpr bool translates(IommuMode mode) {
  return mode == IommuMode::Lazy || mode == IommuMode::Strict || mode == IommuMode::Vfio;
}

// Whether the transfers run in a virtual machine, and what its hypervisor announces.
struct Virtualization {
  bool passthrough = false;                       // a virtual machine with passed-through devices
  std::string hypervisor;                         // kvm, firecracker, xen, vmware, hyperv; empty: unknown
  bool approval = false;                          // the hypervisor announces peer-to-peer as approved for all its GPUs
  std::vector<std::vector<std::string>> cliques;  // GPUs announced as peers by the approval capability
  bool ats = false;                               // address translation services work end to end
  friend bool operator==(Virtualization const&, Virtualization const&) = default;
};

struct Settings {
  AcsControl acs = AcsControl::unknown();  // of every port without an ACS control of its own
  IommuMode iommu = IommuMode::Unknown;
  Bytes iommu_page{4096};  // page size of the IOMMU's mappings
  std::string firmware;    // the system's (BIOS), as it names its maker and version; empty: unknown
  Virtualization virtualization;
  friend bool operator==(Settings const&, Settings const&) = default;
};

struct Software {
  bool cuda = true;      // a GPU runtime (CUDA, HIP)
  bool peermem = false;  // nvidia-peermem: verbs registers GPU memory
  bool dma_buf = false;  // ibv_reg_dmabuf_mr works for GPU memory
  bool gdrcopy = false;  // the CPU can map BAR1
  bool gpudirect_storage = false;
  bool fabric_manager = true;    // NVSwitch fabric is initialised
  bool imex = true;              // the service that exports GPU memory to other nodes over NVLink is running
  bool gpudirect_async = false;  // the GPU rings the NIC's doorbell (libgdsync): no CPU between a kernel and a send
  bool mpi_messages = false;     // between memories of nodes data go as messages of MPI, though NICs may do verbs
  bool cuda_aware_mpi = false;   // MPI takes addresses of GPU memory
  bool geforce_peer = false;     // a modified driver allows PCIe peer access on products where NVIDIA's refuses it
  friend bool operator==(Software const&, Software const&) = default;
};

// ---------------------------------------------------------------------------------------------------------- hardware

struct Host {
  std::string name;     // "node0" in a cluster, empty for a single machine
  std::string machine;  // the machine file's name for it
  Settings settings;
  Software software;
  bool off = false;  // the node is down: none of its devices and memories can be used
  friend bool operator==(Host const&, Host const&) = default;
};

struct Socket {
  std::string name;  // "cpu0"
  HostId host{};
  std::optional<PartId> part;
  friend bool operator==(Socket const&, Socket const&) = default;
};

struct NumaNode {
  std::string name;  // "numa0"
  SocketId socket{};
  int os_index = 0;
  std::string cores;  // "0-27,56-83", as the kernel writes a list; empty: unknown
  friend bool operator==(NumaNode const&, NumaNode const&) = default;
};
// The numbers of a list as the kernel writes it: "0-3,8" gives 0 1 2 3 8. Empty when the text is no such list.
std::vector<int> numbers_of_list(std::string_view list);

struct HostBridge {
  std::string name;
  SocketId socket{};
  NumaId numa{};
  friend bool operator==(HostBridge const&, HostBridge const&) = default;
};

enum class PciKind : std::uint8_t { RootPort, Switch, Gpu, Nic, Nvme, Device };
std::string_view to_string(PciKind kind);

// One function in the PCI tree, with the link to its parent and the port above it.
struct PciFunction {
  std::string name;
  PciKind kind = PciKind::Device;
  std::optional<PciId> parent;  // absent: directly on the host bridge (a root port, or a device of a flat tree)
  HostBridgeId host_bridge{};
  std::optional<PartId> part;          // absent: unknown, or a root port
  std::optional<PcieLink> link;        // negotiated with the parent; absent: unknown, see assumed_link()
  std::optional<PcieLink> max_link;    // what it could negotiate, where that is more
  std::optional<AcsControl> acs;       // of the port above it; absent: Settings::acs
  std::string bdf;                     // PCI address, "0000:3b:00.0"; empty: unknown
  std::string chip;                    // of a switch: virtual switches with the same chip share silicon
  bool off = false;                    // it failed or is switched off, and with it all below it
  bool mig = false;                    // of a GPU
  std::optional<int> memory_numa;      // of a GPU: the NUMA node of its own memory, where the system shows it as one
  std::string firmware;                // its version (VBIOS of a GPU); empty: unknown
  std::string device_name;             // of a NIC: "mlx5_0"
  std::string port_of;                 // of a NIC: the one whose port it shares, as a second function; empty: its own
  std::optional<BytesPerSecond> rate;  // of a NIC: where its port runs slower than the part's
  std::optional<int> rail;             // of a NIC in a cluster
  friend bool operator==(PciFunction const&, PciFunction const&) = default;
};

struct SocketLink {
  SocketId a{}, b{};
  PartId part{};
  int count = 1;
  friend bool operator==(SocketLink const&, SocketLink const&) = default;
};

using NvlinkEnd = std::variant<PciId, SocketId>;  // a GPU, or a CPU that has NVLink

// NVLink, NVLink-C2C or xGMI between two GPUs, or a GPU and a CPU: `count` bonded links.
struct NvlinkBundle {
  NvlinkEnd a, b;
  PartId part{};
  int count = 1;
  friend bool operator==(NvlinkBundle const&, NvlinkBundle const&) = default;
};

// All NVSwitches of a host, or of a domain that joins GPUs of several nodes, as the one non-blocking crossbar that they
// form.
struct NvSwitch {
  struct Port {
    PciId gpu{};
    int count = 0;  // links from this GPU
    friend bool operator==(Port const&, Port const&) = default;
  };
  std::string name;
  std::optional<HostId> host = HostId{};  // absent: a domain, which joins GPUs of several nodes
  PartId part{};                          // the switch
  PartId link_part{};                     // its links
  std::vector<Port> ports;                // of a domain: ascending by GPU
  int chips = 0;                          // of a domain: how many switches it consists of; 0: unknown
  friend bool operator==(NvSwitch const&, NvSwitch const&) = default;
};

// Where data can be: GPU memory, a drive or another device (PciId), or host memory (NumaId). A NIC stands for its wire.
using Place = std::variant<PciId, NumaId>;

// The operation that a transfer asks for. Prefetch and Fault move pages of Unified Memory: in advance, or one group of
// page faults after another.
enum class Op : std::uint8_t { Copy, Write, Read, LoadStore, Atomic, Prefetch, Fault, Send };
std::string_view to_string(Op op);
std::vector<std::string> op_names();
Parsed<Op> parse_op(std::string_view text);
// Whether a kernel on a GPU does it, rather than a copy engine or the driver.
constexpr bool by_kernel(Op op) { return op == Op::Write || op == Op::Read || op == Op::LoadStore || op == Op::Atomic; }
// Whether it moves pages of Unified Memory, rather than bytes between two buffers.
constexpr bool migrates(Op op) { return op == Op::Prefetch || op == Op::Fault; }

// A measured figure that replaces what the model predicts.
struct Override {
  Place from, to;
  std::optional<Op> op;  // absent: every op
  std::optional<BytesPerSecond> bandwidth;
  std::optional<Seconds> latency;
  std::string source;
  friend bool operator==(Override const&, Override const&) = default;
};

// How a fabric divides traffic among the cables and switches that lead to the same place.
enum class Routing : std::uint8_t {
  Adaptive,  // packet by packet, evenly
  Static,    // all traffic to one destination takes the same cables (InfiniBand's forwarding tables)
  Ecmp,      // each flow takes the cables that a hash of its addresses gives
  Valiant    // of a dragonfly: evenly by way of every switch of other groups, never straight (Valiant, 1982)
};
std::string_view to_string(Routing routing);  // adaptive, static, ecmp, valiant

// The networks between nodes: switches, the cables between them, and the NICs on them. No cable joins two networks.
struct Fabric {
  struct Network {
    std::string name;  // compute, storage, front_end; empty where there is only one
    std::string
        kind;  // direct, single_switch, leaf_spine, rail_optimised, rail_only, fat_tree, torus, dragonfly, graph
    Routing routing = Routing::Adaptive;
    int flows_per_pair = 1;  // with ecmp: how many flows the traffic between two NICs consists of
    int planes = 1;          // how many times its switches are there; a NIC has a cable in each
    friend bool operator==(Network const&, Network const&) = default;
  };
  struct Switch {
    std::string name;
    int tier = 0;                // 0: NICs may be on it
    int count = 1;               // how many switches act as this one, such as all spines; 0: unknown
    std::optional<PartId> part;  // absent: unknown
    std::uint32_t network = 0;   // into `networks`
    int group = 0;               // of a dragonfly
    friend bool operator==(Switch const&, Switch const&) = default;
  };
  // All cables between two switches.
  struct Trunk {
    std::uint32_t lower = 0;  // of the lower tier, where the tiers differ
    std::uint32_t upper = 0;
    int cables = 0;          // 0: none is left
    BytesPerSecond rate{0};  // of all of them together, in each direction
    friend bool operator==(Trunk const&, Trunk const&) = default;
  };
  struct Attachment {
    PciId nic{};
    std::uint32_t at = 0;                // its switch
    std::optional<BytesPerSecond> rate;  // of the cable, where it is slower than the NIC, as each of several is
    friend bool operator==(Attachment const&, Attachment const&) = default;
  };
  std::vector<Network> networks;  // in the order in which transfers prefer them
  std::vector<Switch> switches;   // those of tier 0 first; of a `direct` network a single one, which is none
  std::vector<Trunk> trunks;
  std::vector<Attachment> attachments;  // ascending by NIC

  [[nodiscard]] Network const& network_of(std::uint32_t network_switch) const {
    return networks[switches[network_switch].network];
  }
  // The cables of a NIC: one in each plane of its network. Empty when it is not on the fabric.
  [[nodiscard]] std::span<Attachment const> attachments_of(PciId nic) const;
  // What all cables from a switch to those of higher tiers carry in each direction; nullopt where there are none.
  [[nodiscard]] std::optional<BytesPerSecond> uplink(std::uint32_t of) const;
  friend bool operator==(Fabric const&, Fabric const&) = default;
};

// In a cluster every vector is ordered by node: the functions of one host are neighbours, in the order of `hosts`.
struct Machine {
  std::string name;
  std::string title;
  std::vector<std::string> notes;  // what an importer inferred or could not find out
  std::vector<Host> hosts;
  std::vector<Part> parts;
  std::vector<Socket> sockets;
  std::vector<NumaNode> numa_nodes;
  std::vector<HostBridge> host_bridges;
  std::vector<PciFunction> functions;  // parents before children
  std::vector<SocketLink> socket_links;
  std::vector<NvlinkBundle> nvlinks;
  std::vector<NvSwitch> nvswitches;  // those of nodes, then the domains
  std::vector<Override> overrides;
  std::optional<Fabric> fabric;
  // Variables that communication libraries read (NCCL_P2P_DISABLE). They change what a library does, not the machine.
  std::map<std::string, std::string> library_environment;

  friend bool operator==(Machine const&, Machine const&) = default;

  [[nodiscard]] PciFunction const& at(PciId id) const { return functions[index(id)]; }
  [[nodiscard]] HostBridge const& at(HostBridgeId id) const { return host_bridges[index(id)]; }
  [[nodiscard]] NumaNode const& at(NumaId id) const { return numa_nodes[index(id)]; }
  [[nodiscard]] Socket const& at(SocketId id) const { return sockets[index(id)]; }
  [[nodiscard]] Host const& at(HostId id) const { return hosts[index(id)]; }
  [[nodiscard]] Part const& at(PartId id) const { return parts[index(id)]; }

  [[nodiscard]] SocketId socket_of(PciId id) const { return at(at(id).host_bridge).socket; }
  [[nodiscard]] NumaId numa_of(PciId id) const { return at(at(id).host_bridge).numa; }
  [[nodiscard]] HostId host_of(PciId id) const { return at(socket_of(id)).host; }
  [[nodiscard]] HostId host_of(Place const& place) const;
  [[nodiscard]] Part const* part_of(PciId id) const { return at(id).part ? &at(*at(id).part) : nullptr; }
  [[nodiscard]] Part const* part_of(SocketId id) const { return at(id).part ? &at(*at(id).part) : nullptr; }
  // The ACS control of the port above a function.
  [[nodiscard]] AcsControl acs_above(PciId id) const { return at(id).acs ? *at(id).acs : at(host_of(id)).settings.acs; }

  // Whether a device, one above it or its node is off.
  [[nodiscard]] bool is_off(PciId id) const;
  [[nodiscard]] bool is_off(Place const& place) const;

  // All functions of one kind, in file order.
  [[nodiscard]] std::vector<PciId> all(PciKind kind) const;
  [[nodiscard]] std::optional<PciId> find_function(std::string_view wanted) const;
  // "gpu0", "nic1", "nvme0", "numa0", or a socket's name for the memory of its first NUMA node.
  [[nodiscard]] std::optional<Place> find_place(std::string_view wanted) const;
  // The same. Throws InputError with the nearest spelling when there is no such place.
  [[nodiscard]] Place place(std::string_view wanted) const;
  [[nodiscard]] std::string const& name_of(Place const& place) const;
};

// The id of the part of this name in the machine; the part is added when the machine has none of this name.
PartId add_part(Machine& machine, Part const& part);

// "gpu0..gpu7" gives 8 names, "node0/gpu0..node3/gpu7" gives 32; a text without ".." gives itself. Throws InputError
// when the ends of a range do not fit each other.
std::vector<std::string> expand_range(std::string_view text);

}  // namespace lanewise
