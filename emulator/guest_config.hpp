#pragma once
// A guest's configuration. The emulator writes it into the initramfs (config.json) and the guest's first process reads
// it. Both come from the same build.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lanewise::emulator {

// Files and folders in the initramfs.
inline constexpr char kConfigFile[] = "/config.json";
inline constexpr char kModuleFolder[] = "/modules";

// Names of the virtual serial ports between the emulator and a guest.
inline constexpr char kControlPort[] =
    "lanewise.control";  // guest_message.hpp says what comes; "run", "size ROWS COLUMNS", "end-of-input BYTES" go to it
inline constexpr char kOutputPort[] = "lanewise.output";
inline constexpr char kErrorPort[] = "lanewise.error";
inline constexpr char kInputPort[] = "lanewise.input";  // only of a guest whose command has an input

// What a command has for standard input: nothing, what comes through the input port, or a terminal of its own.
enum class GuestInputKind : std::uint8_t { None, Pipe, Terminal };

// A PCI function that must be where the layout has it.
struct GuestFunction {
  std::string path;                  // below /sys/devices
  std::string name;                  // for people
  std::optional<std::uint16_t> acs;  // of a port: the ACS control bits that it gets
};

struct GuestNic {
  std::string path;       // of the PCI function, below /sys/devices
  std::string interface;  // the name of its network interface
  std::string address;    // "10.77.0.1"; a /24
  std::string rdma;       // the name of its RDMA device; empty: none
};

// A folder of the host that the guest sees at the same place.
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
  std::vector<GuestHost> hosts;  // all nodes, itself included
  std::vector<std::string> modules;
  std::vector<GuestFunction> functions;
  std::vector<GuestNic> nics;
  std::vector<GuestShare> shares;     // the first is the root folder
  std::vector<GuestFile> files;       // written into the guest before anything runs
  std::vector<std::string> services;  // shell commands that start background services (the ssh server)
  std::vector<std::string> command;
  std::vector<std::string> environment;  // KEY=VALUE
  std::string working_folder;
  GuestInputKind input = GuestInputKind::None;
  int rows = 24, columns = 80;  // of the terminal
};

std::string to_text(GuestConfig const& config);
// Throws nlohmann::json::exception when the text is not from to_text().
GuestConfig guest_config_from(std::string const& text);

}  // namespace lanewise::emulator
