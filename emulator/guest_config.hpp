#pragma once
// What a guest is told: written by the emulator into the guest's first file system (config.json), read by the guest's
// first process. Both are of one build.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lanewise::emulator {

// A file in the guest's first file system.
inline constexpr char kConfigFile[] = "/config.json";
inline constexpr char kModuleFolder[] = "/modules";

// Names of the virtual serial ports between emulator and guest.
inline constexpr char kControlPort[] = "lanewise.control";  // "ready", "failed TEXT", "exit N" one way, "run" the other
inline constexpr char kOutputPort[] = "lanewise.output";
inline constexpr char kErrorPort[] = "lanewise.error";

// A PCI function that must be where the layout says.
struct GuestFunction {
  std::string path;                  // below /sys/devices
  std::string name;                  // for people
  std::optional<std::uint16_t> acs;  // of a port: the ACS control bits it shall have
};

struct GuestNic {
  std::string path;       // of the PCI function, below /sys/devices
  std::string interface;  // the name that its network interface gets
  std::string address;    // "10.77.0.1"; a /24
  std::string rdma;       // the name of the RDMA device on it; empty: none
};

// A folder of the host, seen at the same place in the guest.
struct GuestShare {
  std::string tag;
  std::string folder;
  bool writable = false;
};

struct GuestHost {
  std::string name;
  std::string address;
};

struct GuestFile {
  std::string path;
  std::string text;
  int mode = 0644;
};

struct GuestConfig {
  std::string host_name;
  std::vector<GuestHost> hosts;  // of all the nodes, itself included
  std::vector<std::string> modules;
  std::vector<GuestFunction> functions;
  std::vector<GuestNic> nics;
  std::vector<GuestShare> shares;     // the first is the root of all
  std::vector<GuestFile> files;       // written into the guest before anything runs
  std::vector<std::string> services;  // shell commands that go on beside the command (the ssh server)
  std::vector<std::string> command;
  std::vector<std::string> environment;  // KEY=VALUE
  std::string working_folder;
};

std::string to_text(GuestConfig const& config);
// Throws nlohmann::json::exception when the text is not what to_text writes.
GuestConfig guest_config_from(std::string const& text);

}  // namespace lanewise::emulator
