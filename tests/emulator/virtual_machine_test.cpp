// What every bundled machine becomes, checked without QEMU: the tree, the addresses, the command line, the settings.
#include "emulator/virtual_machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "emulator/emulation.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/machine/setting.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/server.hpp"

namespace lanewise::emulator {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// The value of each `-OPTION value` of one option.
std::vector<std::string> values(VirtualMachine const& vm, std::string const& option) {
  std::vector<std::string> found;
  for (std::size_t i = 0; i + 1 < vm.arguments.size(); ++i)
    if (vm.arguments[i] == option) found.push_back(vm.arguments[i + 1]);
  return found;
}

// "pxb-pcie,id=x,bus=y" as {"": pxb-pcie, id: x, bus: y}.
std::map<std::string, std::string> fields(std::string const& text) {
  std::map<std::string, std::string> found;
  for (std::size_t at = 0; at < text.size();) {
    auto const next = std::min(text.find(',', at), text.size());
    auto const word = text.substr(at, next - at);
    auto const equals = word.find('=');
    if (equals == std::string::npos)
      found[""] = word;
    else
      found[word.substr(0, equals)] = word.substr(equals + 1);
    at = next + 1;
  }
  return found;
}

std::vector<std::string> not_shown(VirtualMachine const& vm) {
  std::vector<std::string> reasons;
  for (auto const& what : vm.not_expressed) reasons.push_back(what.reason);
  return reasons;
}

std::vector<std::map<std::string, std::string>> devices(VirtualMachine const& vm, std::string const& model) {
  std::vector<std::map<std::string, std::string>> found;
  for (auto const& text : values(vm, "-device"))
    if (fields(text)[""] == model) found.push_back(fields(text));
  return found;
}

struct Case {
  std::string name;
  Machine machine;
};
std::vector<Case> everything() {
  auto catalogue = test::bundled();
  std::vector<Case> all;
  for (auto const& name : catalogue.machine_names()) all.push_back({name, catalogue.machine(name)});
  for (auto const& name : catalogue.cluster_names()) all.push_back({name, catalogue.machine(name)});
  return all;
}

std::size_t count_in_host(Machine const& machine, HostId host, PciKind kind) {
  auto const all = machine.all(kind);
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [&](PciId id) { return machine.host_of(id) == host; }));
}

TEST(BundledMachines, BecomeTheSameTree) {
  for (auto const& [name, machine] : everything()) {
    SCOPED_TRACE(name);
    auto const layout = pci_layout(machine, HostId(0));
    std::map<std::size_t, EmulatedDevice const*> by_function;
    for (auto const& device : layout.devices)
      if (device.function) {
        EXPECT_TRUE(by_function.emplace(index(*device.function), &device).second) << device.id;
      }
    for (std::size_t i = 0; i < machine.functions.size(); ++i) {
      auto const& function = machine.functions[i];
      if (machine.host_of(PciId(i)) != HostId(0)) continue;
      ASSERT_TRUE(by_function.contains(i)) << function.name;
      auto const& device = *by_function[i];
      EXPECT_TRUE(device.path.ends_with("/" + device.address));
      EXPECT_EQ(device.bridge, function.host_bridge);
      if (!function.parent) continue;
      auto const& parent = *by_function[index(*function.parent)];
      EXPECT_TRUE(device.path.starts_with(parent.path + "/")) << device.path;
      // Straight below a root port; below a switch with one of its ports between.
      auto const between = machine.at(*function.parent).kind == PciKind::Switch ? 2 : 1;
      auto const rest = device.path.substr(parent.path.size());
      EXPECT_EQ(std::count(rest.begin(), rest.end(), '/'), between) << device.path;
    }
  }
}

TEST(BundledMachines, AddressesAreNumberedDepthFirst) {
  for (auto const& [name, machine] : everything()) {
    SCOPED_TRACE(name);
    std::set<std::string> addresses;
    int last_bus = 0;
    for (auto const& device : pci_layout(machine, HostId(0)).devices) {
      EXPECT_TRUE(addresses.insert(device.address).second) << device.address;
      EXPECT_TRUE(is_pci_address(device.address)) << device.address;
      if (device.model == DeviceModel::Endpoint) continue;
      EXPECT_EQ(device.bus_number, last_bus + 1) << device.id;
      last_bus = device.bus_number;
    }
  }
}

TEST(BundledMachines, HaveACommandLineThatHoldsTogether) {
  for (auto const& [name, machine] : everything()) {
    SCOPED_TRACE(name);
    auto const vm = virtual_machine(machine, HostId(0), {.nodes = 2});
    std::set<std::string> known{"pcie.0", "ports.0"};
    std::set<std::string> taken;  // bus and slot
    std::set<std::string> backends;
    for (auto const* option : {"-object", "-chardev", "-netdev", "-fsdev", "-blockdev"})
      for (auto const& text : values(vm, option))
        for (auto const* key : {"id", "node-name"})
          if (auto const of = fields(text); of.contains(key)) {
            EXPECT_TRUE(backends.insert(of.at(key)).second) << text;
          }
    for (auto const& text : values(vm, "-device")) {
      auto const device = fields(text);
      for (auto const* key : {"memdev", "netdev", "drive", "chardev", "fsdev", "rng"})
        if (device.contains(key)) {
          EXPECT_TRUE(backends.contains(device.at(key))) << text;
        }
      if (!device.contains("bus")) continue;
      EXPECT_TRUE(known.contains(device.at("bus"))) << text;
      if (device.contains("id")) {
        EXPECT_TRUE(known.insert(device.at("id")).second) << text;
      }
      if (device.contains("addr")) {
        EXPECT_TRUE(taken.insert(device.at("bus") + device.at("addr")).second) << text;
      }
    }
    EXPECT_EQ(devices(vm, "ivshmem-plain").size(), count_in_host(machine, HostId(0), PciKind::Gpu));
    EXPECT_EQ(devices(vm, "nvme").size(), count_in_host(machine, HostId(0), PciKind::Nvme));
    EXPECT_EQ(devices(vm, "pcie-root-port").size(), count_in_host(machine, HostId(0), PciKind::RootPort));
    EXPECT_EQ(devices(vm, "x3130-upstream").size(), count_in_host(machine, HostId(0), PciKind::Switch));
    // One more joins the nodes for ssh.
    EXPECT_EQ(devices(vm, "virtio-net-pci").size(), count_in_host(machine, HostId(0), PciKind::Nic) + 1);
    EXPECT_LT(values(vm, "-append").at(0).size(), 2048U) << "longer than an x86 kernel reads";
  }
}

TEST(BundledMachines, EachFunctionHasARoleAndOnlyGpusAreGpus) {
  for (auto const& [name, machine] : everything()) {
    SCOPED_TRACE(name);
    auto const vm = virtual_machine(machine, HostId(0), {});
    RolesFile const file{vm.roles, vm.cpus, vm.parts, vm.not_expressed};
    EXPECT_EQ(read_roles(SourceText::from_memory("roles.yaml", write_roles(file))), file);
    std::size_t of_machine = 0;
    for (auto const& role : vm.roles) {
      if (role.kind == RoleKind::Platform) continue;
      ++of_machine;
      auto const host = machine.hosts[0].name;
      auto const id = machine.find_function(host.empty() ? role.name : host + "/" + role.name);
      ASSERT_TRUE(id) << role.name;
      EXPECT_EQ(role.kind, role_kind(machine.at(*id).kind)) << role.name;
      EXPECT_EQ(role.part, machine.part_of(*id) != nullptr ? machine.part_of(*id)->name : "");
    }
    std::size_t in_host = 0;
    for (std::size_t i = 0; i < machine.functions.size(); ++i)
      in_host += machine.host_of(PciId(i)) == HostId(0) ? 1 : 0;
    EXPECT_EQ(of_machine, in_host);
  }
}

TEST(BundledMachines, HostBridgesAreNearTheirNumaNode) {
  for (auto const& [name, machine] : everything()) {
    SCOPED_TRACE(name);
    auto const vm = virtual_machine(machine, HostId(0), {});
    std::size_t nodes = 0;
    for (auto const& node : machine.numa_nodes) nodes += machine.at(node.socket).host == HostId(0) ? 1 : 0;
    std::size_t described = 0;
    for (auto const& text : values(vm, "-numa")) described += text.starts_with("node,") ? 1 : 0;
    EXPECT_EQ(described, nodes);
    auto const bridges = devices(vm, "pxb-pcie");
    std::size_t at = 0;
    for (auto const& bridge : machine.host_bridges) {
      if (machine.at(bridge.socket).host != HostId(0)) continue;
      auto const id = HostBridgeId(&bridge - machine.host_bridges.data());
      if (std::none_of(machine.functions.begin(), machine.functions.end(), [&](PciFunction const& function) {
            return function.host_bridge == id && function.kind == PciKind::RootPort;
          }))
        continue;  // a flat tree
      // Nodes of the first host are the first of the machine.
      EXPECT_EQ(bridges.at(at++).at("numa_node"), std::to_string(index(bridge.numa))) << bridge.name;
    }
    EXPECT_EQ(at, bridges.size());
  }
}

// cpu0: rp0 - sw0 - gpu0, gpu1, nic0; rp1 - sw1 - gpu2, nvme0. cpu1: rp2 - gpu3; rp3 - nic1.
TEST(VirtualMachine, ASmallServerIsWhatOneWouldTypeByHand) {
  auto const vm = virtual_machine(test::machine_of({}), HostId(0), {});
  EXPECT_THAT(values(vm, "-device"),
              testing::IsSupersetOf({
                  "pxb-pcie,id=bridge0,bus=pcie.0,addr=0x8,bus_nr=1,numa_node=0",
                  "pcie-root-port,id=pci.rp0,bus=bridge0,addr=0x0,chassis=1,slot=1,hotplug=off,x-speed=16,x-width=16",
                  "x3130-upstream,id=pci.sw0,bus=pci.rp0,addr=0x0",
                  "ivshmem-plain,id=pci.gpu0,bus=pci.sw0.port0,addr=0x0,memdev=bar.gpu0",
              }));
  std::map<std::string, std::string> at;
  for (auto const& role : vm.roles) at[role.name] = role.bdf;
  EXPECT_EQ(at["rp0"], "0000:01:00.0");
  EXPECT_EQ(at["sw0"], "0000:02:00.0");
  EXPECT_EQ(at["gpu0"], "0000:04:00.0");
  EXPECT_EQ(at["gpu1"], "0000:05:00.0");
  EXPECT_EQ(at["nic0"], "0000:06:00.0");
  EXPECT_EQ(at["emulator.bridge0"], "0000:00:08.0");
}

// Only bridges can be plugged into an expander.
TEST(VirtualMachine, AFlatTreeIsOnTheFirstRootBus) {
  auto const machine = test::machine_from(
      "{lanewise: machine/1, machine: flat, sockets: [{socket: cpu0, part: unknown, pcie: [{gpu: gpu0, part: unknown}, "
      "{root_port: rp0, gpu: gpu1, part: unknown}]}]}");
  auto const vm = virtual_machine(machine, HostId(0), {});
  auto const gpus = devices(vm, "ivshmem-plain");
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0].at("bus"), "pcie.0");
  EXPECT_EQ(gpus[1].at("bus"), "pci.rp0");
  EXPECT_EQ(vm.guest.functions[0].path, "pci0000:00/0000:00:08.0");
  EXPECT_EQ(vm.guest.functions[1].path, "pci0000:01/0000:01:00.0");
}

TEST(VirtualMachine, ALinkNewerThanQemuKnowsIsTheNewestAndSaidSo) {
  test::Server server;
  server.cpu.replace(server.cpu.find("generation: 4"), 13, "generation: 5");
  server.gpu.replace(server.gpu.find("gen4"), 4, "gen5");
  auto machine = test::machine_of(server);
  machine.functions[index(*machine.find_function("gpu3"))].link = PcieLink{5, 8};
  auto const speed_of = [&](int newest) {
    auto const vm = virtual_machine(machine, HostId(0), {.newest_link = newest});
    for (auto const& port : devices(vm, "pcie-root-port"))
      if (port.at("id") == "pci.rp2") return std::pair(port.at("x-speed") + " x" + port.at("x-width"), not_shown(vm));
    return std::pair(std::string(), not_shown(vm));
  };
  EXPECT_EQ(speed_of(5).first, "32 x8");
  EXPECT_THAT(speed_of(5).second, Not(Contains(HasSubstr("newest link"))));
  EXPECT_EQ(speed_of(4).first, "16 x8");
  EXPECT_THAT(speed_of(4).second, Contains("rp2 is gen5 x8; the newest link of this QEMU is gen4"));
}

TEST(VirtualMachine, TheIommuIsThatOfTheSettings) {
  for (auto const& [setting, expected, device] :
       {std::tuple("off", "intel_iommu=off", false), std::tuple("pt", "intel_iommu=on iommu=pt", true),
        std::tuple("lazy", "intel_iommu=on iommu=nopt iommu.strict=0", true),
        std::tuple("strict", "intel_iommu=on iommu=nopt iommu.strict=1", true)}) {
    test::Server server;
    server.settings = std::string("acs: off, iommu: ") + setting;
    auto const vm = virtual_machine(test::machine_of(server), HostId(0), {});
    EXPECT_THAT(values(vm, "-append").at(0), HasSubstr(expected)) << setting;
    EXPECT_EQ(!devices(vm, "intel-iommu").empty(), device) << setting;
  }
}

TEST(VirtualMachine, AcsOfRootPortsIsThatOfTheFile) {
  auto machine = test::machine_of({});
  auto catalogue = test::bundled();
  apply_setting(machine, parse_setting("acs@gpu3=RR,CR"), catalogue);
  auto const vm = virtual_machine(machine, HostId(0), {});
  std::map<std::string, std::optional<std::uint16_t>> acs;
  for (auto const& function : vm.guest.functions) acs[function.name] = function.acs;
  EXPECT_EQ(acs["rp0"], std::optional<std::uint16_t>(0));
  EXPECT_EQ(acs["rp2"], AcsControl::kRequestRedirect | AcsControl::kCompletionRedirect);
  EXPECT_EQ(acs["gpu0"], std::nullopt);
  // The kernel is kept from redirecting where the file says that nothing is.
  std::string rp0;
  std::string rp2;
  for (auto const& role : vm.roles) {
    if (role.name == "rp0") rp0 = role.bdf;
    if (role.name == "rp2") rp2 = role.bdf;
  }
  auto const kernel = values(vm, "-append").at(0);
  EXPECT_THAT(kernel, HasSubstr(rp0));
  EXPECT_THAT(kernel, Not(HasSubstr(rp2)));
}

TEST(VirtualMachine, NicsOfTheFabricAreJoinedNodeByNode) {
  auto const cluster = test::cluster_of({}, "kind: single_switch, switch: ib-switch, nics: [nic1]");
  auto const first = virtual_machine(cluster, HostId(0), {.node = 0, .nodes = 2});
  auto const second = virtual_machine(cluster, HostId(1), {.node = 1, .nodes = 2});
  EXPECT_EQ(first.networks, (std::vector<int>{255, 1})) << "ssh, and nic1";
  EXPECT_EQ(second.networks, first.networks);
  ASSERT_EQ(second.guest.nics.size(), 3U);
  EXPECT_EQ(second.guest.nics[2].interface, "nic1");
  EXPECT_EQ(second.guest.nics[2].address, "10.77.1.2");
  EXPECT_EQ(second.guest.nics[2].rdma, "rxe_nic1");
  EXPECT_EQ(second.guest.host_name, "node1");
  std::set<std::string> addresses;
  for (auto const* vm : {&first, &second})
    for (auto const& nic : devices(*vm, "virtio-net-pci")) EXPECT_TRUE(addresses.insert(nic.at("mac")).second);
}

// The CPU of socket 0, and whether KVM runs the guest.
VirtualMachine with_cpu(std::string const& part, Accelerator accelerator = Accelerator::Emulation) {
  auto const machine = test::bundled().machine_from(
      SourceText::from_memory("m.yaml", "{lanewise: machine/1, machine: m, sockets: [{socket: cpu0, part: " + part +
                                            ", pcie: [{root_port: rp0, gpu: gpu0, part: unknown}]}]}"));
  return virtual_machine(machine, HostId(0), {.accelerator = accelerator});
}

TEST(VirtualMachine, TheProcessorSaysVendorFamilyAndNameOfTheFiles) {
  EXPECT_THAT(values(with_cpu("epyc-zen3"), "-cpu"),
              testing::ElementsAre("max,vendor=AuthenticAMD,family=25,model=1,model-id=AMD EPYC 7003 (Milan  Zen 3)"));
  EXPECT_THAT(values(with_cpu("xeon-broadwell"), "-cpu"),
              testing::ElementsAre("max,vendor=GenuineIntel,family=6,model=79,model-id=Intel Xeon E5 v4 (Broadwell)"));
  auto const exact = with_cpu("epyc-7742");
  EXPECT_THAT(values(exact, "-cpu"), testing::ElementsAre("max,vendor=AuthenticAMD,family=23,model-id=AMD EPYC 7742"));
  EXPECT_THAT(not_shown(exact), Contains(HasSubstr("'epyc-7742' names no CPUID")));
}

TEST(VirtualMachine, AProcessorThatQemuCannotBeIsSaidSo) {
  EXPECT_THAT(values(with_cpu("grace"), "-cpu"), testing::ElementsAre("max"));
  EXPECT_THAT(not_shown(with_cpu("grace")), Contains(HasSubstr("'grace' is no x86 processor")));
  EXPECT_THAT(values(with_cpu("unknown"), "-cpu"), testing::ElementsAre("max"));
  EXPECT_THAT(not_shown(with_cpu("unknown")), Contains(HasSubstr("CPU: unknown in the machine file")));
  auto const kvm = with_cpu("epyc-zen3", Accelerator::Kvm);
  EXPECT_THAT(values(kvm, "-cpu"), testing::ElementsAre("host"));
  EXPECT_THAT(not_shown(kvm), Contains(HasSubstr("with KVM the guest has this host's")));
}

TEST(VirtualMachine, TakesDevicesAndKernelArgumentsFromTheUser) {
  VirtualMachineOptions options;
  options.qemu_devices = {"qemu-xhci,id=usb", "edu,bus=pci.rp1"};
  options.kernel_arguments = "loglevel=7 iommu=off";
  auto const vm = virtual_machine(test::machine_of({}), HostId(0), options);
  auto const all = values(vm, "-device");
  auto const at = [&](std::string const& device) { return std::find(all.begin(), all.end(), device) - all.begin(); };
  auto const first_bridge =
      std::find_if(all.begin(), all.end(), [](auto const& device) { return device.starts_with("pxb-pcie"); }) -
      all.begin();
  EXPECT_LT(at("qemu-xhci,id=usb"), first_bridge) << "QEMU would choose a bus that takes bridges only";
  EXPECT_EQ(all.back(), "edu,bus=pci.rp1") << "after the bus that it names";
  EXPECT_THAT(values(vm, "-append").at(0), testing::EndsWith(" loglevel=7 iommu=off"));
}

TEST(VirtualMachine, HasAnInputPortOnlyIfTheCommandHasAnInput) {
  auto const has_port = [](GuestInputKind input) {
    auto const vm = virtual_machine(test::machine_of({}), HostId(0), {.input = input});
    EXPECT_EQ(vm.guest.input, input);
    auto const ports = devices(vm, "virtserialport");
    return std::any_of(ports.begin(), ports.end(), [](auto const& port) { return port.at("name") == kInputPort; });
  };
  EXPECT_FALSE(has_port(GuestInputKind::None));
  EXPECT_TRUE(has_port(GuestInputKind::Pipe));
  EXPECT_TRUE(has_port(GuestInputKind::Terminal));
}

TEST(VirtualMachine, RolesCarryThePartsThatOnlyTheFileHas) {
  auto catalogue = test::bundled();
  auto const machine = catalogue.machine("gh200x4");
  auto const vm = virtual_machine(machine, HostId(0), {});
  EXPECT_THAT(vm.cpus, testing::ElementsAre("grace", "grace", "grace", "grace"));
  ASSERT_EQ(vm.parts.size(), 1U);
  EXPECT_EQ(vm.parts[0], *machine.part_of(*machine.find_function("gpu0")));
}

TEST(VirtualMachine, WhatQemuCannotShowIsSaid) {
  auto catalogue = test::bundled();
  auto const gh200 = virtual_machine(catalogue.machine("gh200x4"), HostId(0), {});
  EXPECT_THAT(not_shown(gh200), Contains(HasSubstr("NVLink, C2C")));
  EXPECT_THAT(not_shown(gh200), Contains(HasSubstr("links that the machine file does not say")));
  EXPECT_THAT(not_shown(gh200), Not(Contains(HasSubstr("below switches"))));
  auto const switches = virtual_machine(catalogue.machine("rtx6000pro-x8-bcm"), HostId(0), {});
  EXPECT_THAT(not_shown(switches), Contains(HasSubstr("no ACS capability")));
  EXPECT_THAT(not_shown(switches), Contains(HasSubstr("virtual switches of one chip")));
  EXPECT_THAT(not_shown(switches), Contains(HasSubstr("links between sockets")));
}

TEST(Emulation, BootingMayTakeLongerWhereProcessorsShareCores) {
  using namespace std::chrono_literals;
  EXPECT_EQ(usual_boot_limit(2, 2), 120s);
  EXPECT_EQ(usual_boot_limit(1, 64), 120s);
  EXPECT_EQ(usual_boot_limit(3, 2), 240s);
  EXPECT_EQ(usual_boot_limit(128, 2), 64 * 120s);
  auto const vm = virtual_machine(test::machine_of({}), HostId(0), {});
  EXPECT_EQ(vm.processors, 2);
  EXPECT_EQ(processors_of({vm, vm}), 4);
}

TEST(VirtualMachine, ACommaInAFolderIsNotTheEndOfAnOption) {
  VirtualMachineOptions options;
  options.shares.push_back({"share1", "/data/a,readonly=off", true});
  auto const vm = virtual_machine(test::machine_of({}), HostId(0), options);
  EXPECT_THAT(values(vm, "-fsdev"),
              testing::ElementsAre("local,id=share0,path=/,security_model=none,multidevs=remap,readonly=on",
                                   "local,id=share1,path=/data/a,,readonly=off,security_model=none,multidevs=remap"));
}

TEST(VirtualMachine, WhatAPcCannotHoldIsRefused) {
  std::string ports;
  for (int i = 0; i < 33; ++i) ports += "{gpu: g" + std::to_string(i) + ", part: unknown},";
  auto const machine = test::machine_from(
      "{lanewise: machine/1, machine: wide, sockets: [{socket: cpu0, part: unknown, pcie: [{root_port: rp0, switch: "
      "sw0, "
      "part: unknown, ports: [" +
      ports + "]}]}]}");
  try {
    pci_layout(machine, HostId(0));
    FAIL() << "laid out";
  } catch (PlanError const& error) {
    EXPECT_THAT(error.what(), HasSubstr("'wide' cannot be emulated: it needs more than the 32 devices on one bus"));
  }
}

}  // namespace
}  // namespace lanewise::emulator
