#include "core/interop/machines/nccl/log/log_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/interop/machines/roles.hpp"
#include "core/interop/words.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

constexpr int kMaxDevice = 1023;  // larger numbers in brackets are addresses

bool has(std::string_view text, std::string_view mark) { return text.find(mark) != std::string_view::npos; }

std::optional<int> number(std::string_view text) {
  int value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

class LogReader {
 public:
  NcclLogFacts read(std::string_view text) {
    for (std::size_t start = 0; start < text.size();) {
      auto const end = std::min(text.find('\n', start), text.size());
      auto const line = text.substr(start, end - start);
      if (auto const parsed = parse_nccl_log_line(line))
        read_line(*parsed);
      else if (has(line, " device ") && has(line, "Rank ") && has(line, " on "))
        read_device_line(line);
      else if (auto const at = line.find("NCCL version "); at != std::string_view::npos)
        read_version(line.substr(at));
      start = end + 1;
    }
    return std::move(facts_);
  }

 private:
  struct Tree {
    std::vector<NcclTreeLine> lines;
    bool open = false;
  };

  void read_line(NcclLogLine const& line) {
    auto& host = facts_.hosts[std::string(line.host)];
    ++host.lines;
    if (read_tree(line, host)) return;
    auto const text = trimmed(line.text, kBlanks);
    if (text.starts_with("Channel ")) return read_channel(text, line, host);
    if (has(text, "NCCL version ")) return read_version(text.substr(text.find("NCCL version ")));
    if (has(text, "busId ")) read_rank(text, host);
    if (has(text, ": Using [") || has(text, "Using [0]")) read_nets(text, host);
    if (text.starts_with("Using network ")) facts_.network = word_after(text, "network");
    if (has(text, "GPU Direct RDMA") && has(text, "nabled")) host.gpudirect = true;
    if (has(text, "GPU Direct RDMA") && has(text, "isabled")) host.no_gpudirect = true;
    if (has(text, "DMA-BUF is available")) host.dma_buf = true;
    bool const path = has(text, " :GPU/") || has(text, " :NET/") || has(text, " :CPU/");
    if (path) ++facts_.paths;
    if (line.device && *line.device <= kMaxDevice) host.devices.insert(*line.device);
  }

  // A tree starts with "=== System" or a CPU, and ends with a line of '='. The longest of the host is kept.
  bool read_tree(NcclLogLine const& line, NcclLogHost& host) {
    auto& tree = trees_[std::string(line.process)];
    if (line.text.starts_with("=== System")) {
      tree = {{}, true};
      return true;
    }
    if (line.text.starts_with("=====")) {
      tree.open = false;
      return true;
    }
    auto const parsed = parse_nccl_tree_line(line.text);
    if (!parsed) return false;
    if (!tree.open) tree = {{}, true};
    tree.lines.push_back(*parsed);
    if (tree.lines.size() > host.tree.size()) host.tree = tree.lines;
    return true;
  }

  void read_version(std::string_view text) {
    auto const word = word_after(text, "version");
    if (facts_.version.empty() && !word.empty() && word.front() >= '0' && word.front() <= '9') facts_.version = word;
  }

  // "comm 0x... rank 3 nranks 8 cudaDev 3 nvmlDev 3 busId 4e000 commId ..."
  void read_rank(std::string_view text, NcclLogHost& host) {
    if (auto const ranks = number(word_after(text, "nranks")))
      facts_.ranks = std::max(facts_.ranks.value_or(0), *ranks);
    auto const bus = bus_id_of_nccl(word_after(text, "busId"));
    if (bus.empty()) return;
    auto device = number(word_after(text, "nvmlDev"));
    if (!device) device = number(word_after(text, "cudaDev"));
    host.gpus[bus] = device.value_or(-1);
  }

  // "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_2:1/RoCE [RO]; OOB eth0:10.0.0.1<0>"
  void read_nets(std::string_view text, NcclLogHost& host) {
    text = text.substr(0, text.find(';'));
    for (auto open = text.find('['); open != std::string_view::npos; open = text.find('[', open + 1)) {
      auto const close = text.find(']', open);
      if (close == std::string_view::npos) return;
      auto const index = number(text.substr(open + 1, close - open - 1));
      auto name = text.substr(close + 1);
      name = name.substr(0, name.find_first_of(" :\t\r["));
      if (index && *index <= kMaxDevice && !name.empty()) host.nets[*index] = name;
    }
  }

  // "Channel 00/24 :    0   1   2" is a ring; "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM" a connection.
  void read_channel(std::string_view text, NcclLogLine const& line, NcclLogHost& host) {
    auto const via = text.find(" via ");
    if (via == std::string_view::npos) {
      auto const slash = text.find('/');
      if (slash != std::string_view::npos && !has(text, "->"))
        if (auto const count = number(text.substr(slash + 1, text.find_first_of(" :", slash) - slash - 1)))
          facts_.channels = std::max(facts_.channels.value_or(0), *count);
      return;
    }
    auto transport = text.substr(via + 5);
    transport = transport.substr(0, transport.find_first_of(kBlanks));
    read_ends(text.substr(0, via), has(transport, "NET/"), line, host);
    bool const gdr = has(transport, "GDRDMA");
    if (transport.starts_with("NET/") && !has(text, "[receive]")) {
      auto net = transport.substr(0, transport.find("/GDRDMA"));
      if (line.device)
        host.net_uses.insert(
            fmt::format("GPU {} by {} {} GPUDirect RDMA", *line.device, net, gdr ? "with" : "without"));
    }
    if (gdr) host.gpudirect = true;
    host.transports.insert(std::string(transport));
  }

  // "3[4e000] -> 4[57000]" has addresses in older versions, "3[3] -> 4[4]" numbers of GPUs in newer ones.
  void read_ends(std::string_view text, bool other_host, NcclLogLine const& line, NcclLogHost& host) {
    auto const arrow = text.find("->");
    if (arrow == std::string_view::npos) return;
    for (auto const& end : {text.substr(0, arrow), text.substr(arrow)}) {
      auto const open = end.find('[');
      auto const close = end.find(']');
      if (open == std::string_view::npos || close == std::string_view::npos || close < open) continue;
      auto const inside = end.substr(open + 1, close - open - 1);
      if (auto const device = number(inside); device && *device <= kMaxDevice) {
        if (!other_host || line.device == device) host.devices.insert(*device);
      } else if (auto const bus = bus_id_of_nccl(inside); !bus.empty() && !other_host) {
        host.gpus.emplace(bus, -1);
      }
    }
  }

  // nccl-tests: "#  Rank  0 Group  0 Pid  6899 on node7 device  0 [0000:04:00] NVIDIA H100 80GB HBM3"
  void read_device_line(std::string_view line) {
    auto const close = line.find(']');
    auto const open = line.find('[');
    auto const device = number(word_after(line, "device"));
    if (!device || *device > kMaxDevice || close == std::string_view::npos || open > close) return;
    auto& host = facts_.hosts[std::string(word_after(line, "on"))];
    host.devices.insert(*device);
    auto const name = std::string(trimmed(line.substr(close + 1), kBlanks));
    if (!name.empty()) host.gpu_names.push_back(name);
    auto const bus = line.substr(open + 1, close - open - 1);
    unsigned value = 0;
    auto const hex = bus.starts_with("0x") ? bus.substr(2) : std::string_view();
    if (!hex.empty() && std::from_chars(hex.data(), hex.data() + hex.size(), value, 16).ec == std::errc() &&
        value <= 0xff)
      host.gpus[fmt::format("0000:{:02x}:00.0", value)] = *device;
    else if (auto const address = std::string(bus) + ".0"; is_pci_address(address))
      host.gpus[address] = *device;
  }

  NcclLogFacts facts_;
  std::map<std::string, Tree> trees_;  // by process
};

}  // namespace

NcclLogFacts read_nccl_log_facts(std::string_view text) { return LogReader().read(text); }

}  // namespace lanewise
