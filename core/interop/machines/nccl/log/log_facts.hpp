#pragma once
// What a log says about each host, before any conclusions.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/interop/machines/nccl/log/log_lines.hpp"

namespace lanewise {

struct NcclLogHost {
  std::vector<NcclTreeLine> tree;      // the longest that a process of the host printed
  std::map<std::string, int> gpus;     // CUDA's or NVML's number, by PCI address
  std::set<int> devices;               // numbers of GPUs without an address
  std::map<int, std::string> nets;     // "mlx5_0", by NCCL's number
  std::set<std::string> transports;    // "P2P/CUMEM", "SHM", "NET/IB/3/GDRDMA"
  std::set<std::string> net_uses;      // "GPU 0 by NET/IB/3 with GPUDirect RDMA"
  std::vector<std::string> gpu_names;  // as nccl-tests lists them: "NVIDIA H100 80GB HBM3"
  bool gpudirect = false;              // some NIC registers GPU memory
  bool no_gpudirect = false;           // some NIC does not
  bool dma_buf = false;
  std::size_t lines = 0;
};

struct NcclLogFacts {
  std::map<std::string, NcclLogHost> hosts;  // by name; empty: lines without a prefix
  std::string version;                       // "2.18.1+cuda12.1"
  std::string network;                       // "IB", "Socket"
  std::optional<int> ranks;
  std::optional<int> channels;
  std::size_t paths = 0;  // lines of the table of paths
};

NcclLogFacts read_nccl_log_facts(std::string_view text);

}  // namespace lanewise
