#pragma once
// The bus and address of every PCI function of a host in its virtual machine, as the firmware (SeaBIOS) numbers them:
// depth first. The guest checks at boot that the kernel found each function there.
//
//   host bridge cpu0.hb            pxb-pcie              root bus 01
//     root port rp0                pcie-root-port        0000:01:00.0
//       switch sw0                 x3130-upstream        0000:02:00.0
//         (its ports)              xio3130-downstream    0000:03:00.0, 03:01.0, ...
//           gpu0                   an endpoint           0000:04:00.0
//
// Devices of a flat tree, without a root port, are on the first root bus with the chipset: 0000:00:08.0, ...
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lanewise/machine/machine.hpp"

namespace lanewise::emulator {

enum class DeviceModel : std::uint8_t { HostBridge, RootPort, SwitchUpstream, SwitchDownstream, Endpoint };

struct EmulatedDevice {
  DeviceModel model = DeviceModel::Endpoint;
  std::string id;       // of the device in QEMU, and of the bus below it
  std::string bus;      // the QEMU bus it sits on
  int slot = 0;         // its device number there
  int bus_number = 0;   // of a host bridge: its root bus; of a port: the bus below
  std::string address;  // "0000:02:00.0"; of a host bridge: its address on the first root bus
  std::string path;     // below /sys/devices: "pci0000:01/0000:01:00.0/0000:02:00.0"; empty for a host bridge
  HostBridgeId bridge{};
  std::optional<PciId> function;  // of the machine file; absent: a host bridge, or a port of a switch
  std::optional<PciId> below;     // of a root port or a switch's port: the device below it
};

struct PciLayout {
  std::vector<EmulatedDevice> devices;  // parents before children, host bridges in the machine's order
};

// Lower device numbers of the first root bus are the emulator's own: chipset, shares, console.
inline constexpr int kFirstBridgeSlot = 8;

// Throws PlanError when the host needs more than a PC has: 256 buses, 23 host bridges or devices of a
// flat tree, 32 ports a switch.
PciLayout pci_layout(Machine const& machine, HostId host);

// A function's name without its host: "gpu0" of "node1/gpu0".
std::string name_in_host(Machine const& machine, PciId id);

}  // namespace lanewise::emulator
