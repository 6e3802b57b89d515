#include "emulator/virtual_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "core/machine/path_class.hpp"
#include "emulator/kernel_arguments.hpp"
#include "emulator/not_expressed.hpp"
#include "emulator/processor_model.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::emulator {
namespace {

// The emulator's own device numbers on the first root bus; kFirstBridgeSlot follows.
constexpr int kSerialSlot = 1, kRandomSlot = 2, kFirstShareSlot = 3, kManagementSlot = 7;
constexpr int kMaxShares = kManagementSlot - kFirstShareSlot;

constexpr std::int64_t kMinMiB = 256;  // of a NUMA node
constexpr int kGpuBarMiB = 16;         // not allocated before it is touched
constexpr int kDriveBytes = 64 << 20;
constexpr int kMtu = 9000;  // room for RoCE's largest payload, 4096 bytes

// QEMU splits option values at commas; two commas stand for one.
std::string escaped(std::string_view value) {
  std::string text;
  for (auto const c : value) text += c == ',' ? std::string(",,") : std::string(1, c);
  return text;
}

std::string speed(int generation) {
  constexpr std::array<std::string_view, 6> kSpeeds{"2_5", "5", "8", "16", "32", "64"};
  return std::string(kSpeeds.at(static_cast<std::size_t>(generation) - 1));
}

class VirtualMachineBuilder {
 public:
  VirtualMachineBuilder(Machine const& machine, HostId host, VirtualMachineOptions const& options)
      : machine_(machine), host_(host), options_(options), layout_(pci_layout(machine, host)) {
    for (std::size_t i = 0; i < machine.numa_nodes.size(); ++i)
      if (machine.at(machine.numa_nodes[i].socket).host == host) numa_nodes_.push_back(NumaId(i));
    for (std::size_t i = 0; i < machine.sockets.size(); ++i)
      if (machine.sockets[i].host == host) sockets_.push_back(SocketId(i));
  }

  VirtualMachine build() {
    vm_.name = fmt::format("node{}", options_.node);
    vm_.guest.host_name = vm_.name;
    for (int i = 0; i < options_.nodes; ++i) vm_.guest.hosts.push_back({fmt::format("node{}", i), address(255, i)});
    board();
    processors();
    platform();
    devices_of_user(false);
    for (auto const& device : layout_.devices) add(device);
    devices_of_user(true);
    parts();
    for (auto& what : not_expressed(machine_, host_, layout_, numa_nodes_, options_.newest_link))
      vm_.not_expressed.push_back(std::move(what));
    return std::move(vm_);
  }

 private:
  template <class... T>
  void argument(T&&... words) {
    (vm_.arguments.emplace_back(std::forward<T>(words)), ...);
  }

  static std::string address(int network, int node) { return fmt::format("10.77.{}.{}", network, node + 1); }
  // A locally administered address that is the same in every run.
  static std::string mac(int network, int node) { return fmt::format("02:4c:57:00:{:02x}:{:02x}", network, node + 1); }

  void role(std::string bdf, std::string name, RoleKind kind, std::string part = {}, std::string device_name = {}) {
    vm_.roles.push_back({std::move(bdf), std::move(name), kind, std::move(part), std::move(device_name)});
  }
  void platform_role(int slot, std::string const& name) {
    role(fmt::format("0000:00:{:02x}.0", slot), "emulator." + name, RoleKind::Platform);
  }

  // Devices of the user's: those that name their bus after the machine file's, which it may be one of; the others
  // before them, while the first root bus is the only one that QEMU can choose.
  void devices_of_user(bool on_named_bus) {
    for (auto const& device : options_.qemu_devices)
      if ((device.find(",bus=") != std::string::npos) == on_named_bus) argument("-device", device);
  }

  // Sockets' parts, and those that the machine file describes itself.
  void parts() {
    for (auto const socket : sockets_) {
      auto const* part = machine_.part_of(socket);
      vm_.cpus.push_back(part != nullptr ? part->name : "unknown");
      carry(part);
    }
    for (auto const& device : layout_.devices)
      if (device.function) carry(machine_.part_of(*device.function));
  }
  void carry(Part const* part) {
    if (part == nullptr || !part->inlined) return;
    if (std::find(vm_.parts.begin(), vm_.parts.end(), *part) == vm_.parts.end()) vm_.parts.push_back(*part);
  }

  [[nodiscard]] bool has_iommu() const {
    auto const mode = machine_.at(host_).settings.iommu;
    return mode != IommuMode::Off && mode != IommuMode::Unknown;
  }

  void board() {
    bool const kvm = options_.accelerator == Accelerator::Kvm;
    auto const processor = processor_model(machine_, sockets_, kvm);
    if (!processor.note.empty()) vm_.not_expressed.push_back({"part", "", "cpu", processor.note});
    argument("-name", vm_.name, "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none");
    argument("-machine", fmt::format("q35,sata=off,smbus=off{}", kvm && has_iommu() ? ",kernel-irqchip=split" : ""));
    argument("-accel", kvm ? "kvm" : "tcg,thread=multi", "-cpu", processor.argument);
    argument("-kernel", options_.kernel.string(), "-initrd", fmt::format("/proc/self/fd/{}", kInitramfsDescriptor));
    auto const more = options_.kernel_arguments.empty() ? "" : " " + options_.kernel_arguments;
    argument("-append", kernel_arguments(machine_, host_, layout_) + more);
    if (has_iommu()) argument("-device", "intel-iommu,intremap=on");  // must come before the devices that it serves
    platform_role(0, "host_bridge");
    platform_role(31, "chipset");
  }

  // One core for each NUMA node, and at least two.
  void processors() {
    std::map<SocketId, int> nodes_of;
    for (auto const id : numa_nodes_) ++nodes_of[machine_.at(id).socket];
    int cores = 1;
    for (auto const& [socket, nodes] : nodes_of) cores = std::max(cores, nodes);
    auto const sockets = static_cast<int>(sockets_.size());
    if (cores * sockets < 2) cores = 2;
    vm_.processors = cores * sockets;
    auto const count = static_cast<std::int64_t>(numa_nodes_.size());
    auto const each = std::max(kMinMiB, (options_.memory.value() >> 20) / count);
    argument("-smp", fmt::format("{},sockets={},cores={},threads=1", cores * sockets, sockets, cores));
    argument("-m", fmt::format("{}M", each * count));
    for (std::size_t node = 0; node < numa_nodes_.size(); ++node) {
      argument("-object", fmt::format("memory-backend-ram,id=memory{},size={}M", node, each));
      argument("-numa", fmt::format("node,nodeid={},memdev=memory{}", node, node));
    }
    for (int socket = 0; socket < sockets; ++socket)
      for (int core = 0; core < cores; ++core)
        argument("-numa",
                 fmt::format("cpu,node-id={},socket-id={},core-id={}", numa_of_core(socket, core), socket, core));
  }

  // Deals a socket's cores to its NUMA nodes in order; the last node gets the rest.
  [[nodiscard]] int numa_of_core(int socket, int core) const {
    int found = 0;
    int seen = 0;
    for (std::size_t node = 0; node < numa_nodes_.size(); ++node) {
      if (machine_.at(numa_nodes_[node]).socket != sockets_[static_cast<std::size_t>(socket)]) continue;
      if (seen++ <= core) found = static_cast<int>(node);
    }
    return found;
  }

  // Console, control ports, shared folders, and the management network, over which the nodes use ssh.
  void platform() {
    auto const channel = [&](std::string_view id, int descriptor) {
      argument("-chardev", fmt::format("socket,id={},fd={}", id, descriptor));
    };
    channel("console", kConsoleDescriptor);
    argument("-serial", "chardev:console");
    argument("-device", on_first_bus("virtio-serial-pci,id=ports", kSerialSlot, "serial"));
    constexpr std::array kPorts{std::pair{kControlPort, kControlDescriptor}, std::pair{kOutputPort, kOutputDescriptor},
                                std::pair{kErrorPort, kErrorDescriptor}};
    int number = 1;
    for (auto const& [name, descriptor] : kPorts) {
      channel(name, descriptor);
      argument("-device", fmt::format("virtserialport,bus=ports.0,nr={},chardev={},name={}", number++, name, name));
    }
    if (options_.input != GuestInputKind::None) {
      channel(kInputPort, kInputDescriptor);
      argument("-device", fmt::format("virtserialport,bus=ports.0,nr={0},chardev={1},name={1}", number, kInputPort));
    }
    vm_.guest.input = options_.input;
    argument("-object", "rng-random,id=random,filename=/dev/urandom");
    argument("-device", on_first_bus("virtio-rng-pci,rng=random", kRandomSlot, "random"));
    shares();
    if (options_.nodes < 2) return;
    constexpr int kManagementNetwork = 255;
    argument("-netdev", socket_backend(kManagementNetwork, "net.management"));
    argument("-device", on_first_bus(fmt::format("virtio-net-pci,netdev=net.management,romfile=,mac={}",
                                                 mac(kManagementNetwork, options_.node)),
                                     kManagementSlot, "management"));
    vm_.guest.nics.push_back({fmt::format("pci0000:00/0000:00:{:02x}.0", kManagementSlot), "management",
                              address(kManagementNetwork, options_.node), ""});
  }

  void shares() {
    if (options_.shares.size() > kMaxShares)
      throw PlanError(fmt::format("a guest sees at most {} folders of the host beside its root", kMaxShares - 1));
    int slot = kFirstShareSlot;
    for (auto const& share : options_.shares) {
      argument("-fsdev", fmt::format("local,id={},path={},security_model=none,multidevs=remap{}", share.tag,
                                     escaped(share.folder), share.writable ? "" : ",readonly=on"));
      argument("-device",
               on_first_bus(fmt::format("virtio-9p-pci,fsdev={0},mount_tag={0}", share.tag), slot++, share.tag));
    }
    vm_.guest.shares = options_.shares;
  }

  std::string on_first_bus(std::string device, int slot, std::string const& name) {
    platform_role(slot, name);
    return fmt::format("{},bus=pcie.0,addr={:#x},disable-legacy=on", device, slot);
  }

  // A network backend between the nodes, on the next descriptor.
  std::string socket_backend(int network, std::string const& id) {
    vm_.networks.push_back(network);
    auto const descriptor = kFirstNetworkDescriptor + static_cast<int>(vm_.networks.size()) - 1;
    return fmt::format("socket,id={},fd={}", id, descriptor);
  }

  void add(EmulatedDevice const& device) {
    if (device.model == DeviceModel::HostBridge) {
      auto const numa = std::find(numa_nodes_.begin(), numa_nodes_.end(), machine_.at(device.bridge).numa);
      argument("-device", fmt::format("pxb-pcie,id={},bus=pcie.0,addr={:#x},bus_nr={},numa_node={}", device.id,
                                      device.slot, device.bus_number, numa - numa_nodes_.begin()));
      role(device.address, "emulator." + device.id, RoleKind::Platform);
      return;
    }
    auto const place = fmt::format("id={},bus={},addr={:#x}", device.id, device.bus, device.slot);
    if (device.model != DeviceModel::Endpoint) ++ports_;
    auto const chassis = fmt::format("chassis={},slot={},hotplug=off", ports_, ports_);
    switch (device.model) {
      case DeviceModel::RootPort:
        argument("-device", fmt::format("pcie-root-port,{},{}{}", place, chassis, link(device)));
        break;
      case DeviceModel::SwitchUpstream: argument("-device", "x3130-upstream," + place); break;
      case DeviceModel::SwitchDownstream:
        argument("-device", fmt::format("xio3130-downstream,{},{}", place, chassis));
        break;
      default: endpoint(device, place);
    }
    vm_.guest.functions.push_back({device.path, shown_name(device), acs_if_possible(device)});
    if (device.function) {
      auto const& function = machine_.at(*device.function);
      auto const* part = machine_.part_of(*device.function);
      role(device.address, name_in_host(machine_, *device.function), role_kind(function.kind),
           part != nullptr ? part->name : "", function.device_name);
    }
  }

  [[nodiscard]] std::string shown_name(EmulatedDevice const& device) const {
    if (device.function) return name_in_host(machine_, *device.function);
    return "the port above " + name_in_host(machine_, *device.below);
  }

  // QEMU's switch ports have no ACS capability.
  [[nodiscard]] std::optional<std::uint16_t> acs_if_possible(EmulatedDevice const& device) const {
    return device.model == DeviceModel::RootPort ? acs_of_port(machine_, device) : std::nullopt;
  }

  // The port's link capability. QEMU reports it as the current link too, if the device below has no link of its own.
  [[nodiscard]] std::string link(EmulatedDevice const& device) const {
    if (!device.below) return "";
    auto wanted = machine_.at(*device.below).link;
    if (!wanted) wanted = assumed_link(machine_, *device.below);
    if (!wanted) return "";
    auto const generation = std::min(wanted->generation, options_.newest_link);
    return fmt::format(",x-speed={},x-width={}", speed(generation), wanted->width);
  }

  void endpoint(EmulatedDevice const& device, std::string const& place) {
    auto const id = *device.function;
    auto const name = device.id.substr(device.id.find('.') + 1);
    switch (machine_.at(id).kind) {
      case PciKind::Gpu:
        argument("-object", fmt::format("memory-backend-ram,id=bar.{},size={}M,share=on", name, kGpuBarMiB));
        argument("-device", fmt::format("ivshmem-plain,{},memdev=bar.{}", place, name));
        break;
      case PciKind::Nvme:
        argument("-blockdev",
                 fmt::format("driver=null-co,node-name=drive.{},size={},read-zeroes=on", name, kDriveBytes));
        argument("-device", fmt::format("nvme,{},serial={},drive=drive.{}", place, name, name));
        break;
      case PciKind::Nic: nic(device, place, name); break;
      default: argument("-device", "edu," + place);
    }
  }

  void nic(EmulatedDevice const& device, std::string const& place, std::string const& name) {
    auto const id = *device.function;
    auto const network = nics_++;
    bool const is_joined = options_.nodes > 1 && (!machine_.fabric || !machine_.fabric->attachments_of(id).empty());
    argument("-netdev", is_joined ? socket_backend(network, "net." + name)
                                  : fmt::format("hubport,id=net.{},hubid={}", name, network));
    // x-disable-pcie: without a link of its own, so that the port above shows the link of the machine file.
    argument("-device", fmt::format("virtio-net-pci,{},netdev=net.{},mac={},host_mtu={},romfile=,disable-legacy=on,"
                                    "x-disable-pcie=on",
                                    place, name, mac(network, options_.node), kMtu));
    auto const* part = machine_.part_of(id);
    bool const rdma = part == nullptr || part->nic.rdma;
    // The kernel allows at most 15 characters in an interface's name.
    auto const interface = name.size() <= 15 ? name : fmt::format("net{}", network);
    vm_.guest.nics.push_back(
        {device.path, interface, address(network, options_.node), rdma ? "rxe_" + name : std::string()});
  }

  Machine const& machine_;
  HostId host_;
  VirtualMachineOptions const& options_;
  PciLayout layout_;
  std::vector<NumaId> numa_nodes_;  // of this host, in the order of their numbers in the guest
  std::vector<SocketId> sockets_;
  VirtualMachine vm_;
  int ports_ = 0;
  int nics_ = 0;
};

}  // namespace

std::string_view to_string(Accelerator accelerator) { return accelerator == Accelerator::Kvm ? "kvm" : "tcg"; }

VirtualMachine virtual_machine(Machine const& machine, HostId host, VirtualMachineOptions const& options) {
  return VirtualMachineBuilder(machine, host, options).build();
}

}  // namespace lanewise::emulator
