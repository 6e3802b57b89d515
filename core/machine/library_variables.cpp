#include "core/machine/library_variables.hpp"

#include <algorithm>
#include <array>

namespace lanewise {
namespace {

constexpr std::string_view kBuffers = "chunks of rings and trees are not modelled";
constexpr std::string_view kWindows = "the calls of a plan register no windows";
constexpr std::string_view kNics = "the NICs are those of the machine file that are on its network";
constexpr std::string_view kNoEffect = "it changes no decision";

constexpr std::array kVariables{
    LibraryVariable{"NCCL_ALGO", ""},
    LibraryVariable{"NCCL_PROTO", ""},
    LibraryVariable{"NCCL_NTHREADS", ""},
    LibraryVariable{"NCCL_LL128_NTHREADS", ""},
    LibraryVariable{"NCCL_THREAD_THRESHOLDS", ""},
    LibraryVariable{"NCCL_MIN_NCHANNELS", ""},
    LibraryVariable{"NCCL_MAX_NCHANNELS", ""},
    LibraryVariable{"NCCL_MIN_CTAS", ""},
    LibraryVariable{"NCCL_MAX_CTAS", ""},
    LibraryVariable{"NCCL_MAX_P2P_NCHANNELS", ""},
    LibraryVariable{"NCCL_NCHANNELS_PER_NET_PEER", ""},
    LibraryVariable{"NCCL_P2P_NVL_CHUNKSIZE", ""},
    LibraryVariable{"NCCL_P2P_PCI_CHUNKSIZE", ""},
    LibraryVariable{"NCCL_P2P_NET_CHUNKSIZE", ""},
    LibraryVariable{"NCCL_NVLS_ENABLE", ""},
    LibraryVariable{"NCCL_NVLS_NCHANNELS", ""},
    LibraryVariable{"NCCL_NVLS_CHUNKSIZE", ""},
    LibraryVariable{"NCCL_NVLSTREE_MAX_CHUNKSIZE", ""},
    LibraryVariable{"NCCL_COLLNET_ENABLE", ""},
    LibraryVariable{"NCCL_COLLNET_NODE_THRESHOLD", ""},
    LibraryVariable{"NCCL_PAT_ENABLE", ""},
    LibraryVariable{"NCCL_LL128_C2C", ""},
    LibraryVariable{"NCCL_MNNVL_ENABLE", ""},
    LibraryVariable{"NCCL_P2P_DISABLE", ""},
    LibraryVariable{"NCCL_P2P_LEVEL", ""},
    LibraryVariable{"NCCL_P2P_READ_ENABLE", ""},
    LibraryVariable{"NCCL_SHM_DISABLE", ""},
    LibraryVariable{"NCCL_SHM_LOCALITY", ""},
    LibraryVariable{"NCCL_NVB_DISABLE", ""},
    LibraryVariable{"NCCL_CROSS_NIC", ""},
    LibraryVariable{"NCCL_PXN_DISABLE", ""},
    LibraryVariable{"NCCL_P2P_PXN_LEVEL", ""},
    LibraryVariable{"NCCL_NET_GDR_LEVEL", ""},
    LibraryVariable{"NCCL_NET_GDR_C2C", ""},
    LibraryVariable{"NCCL_NET_GDR_READ", ""},
    LibraryVariable{"NCCL_NET_OVERHEAD", ""},
    LibraryVariable{"NCCL_BUFFSIZE", kBuffers},
    LibraryVariable{"NCCL_LL_BUFFSIZE", kBuffers},
    LibraryVariable{"NCCL_LL128_BUFFSIZE", kBuffers},
    LibraryVariable{"NCCL_SYM_KERNEL", kWindows},
    LibraryVariable{"NCCL_SYM_CTAS", kWindows},
    LibraryVariable{"NCCL_P2P_DIRECT_DISABLE", "the copy between buffers that it adds is not modelled"},
    LibraryVariable{"NCCL_PXN_C2C", "a relay beside NVLink-C2C is not modelled"},
    LibraryVariable{"NCCL_NET_DISABLE_INTRA", "data between GPUs of a node are planned without NICs"},
    LibraryVariable{"NCCL_NETDEVS_POLICY", kNics},
    LibraryVariable{"NCCL_IB_HCA", kNics},
    LibraryVariable{"NCCL_IB_MERGE_NICS", kNics},
    LibraryVariable{"NCCL_IB_QPS_PER_CONNECTION", "`--set flows_per_pair=N` says it of a hashed network"},
    LibraryVariable{"NCCL_IB_SPLIT_DATA_ON_QPS", "`--set flows_per_pair=N` says it of a hashed network"},
    LibraryVariable{"NCCL_MIN_P2P_NCHANNELS", "those of a peer follow from its links"},
    LibraryVariable{"NCCL_CUMEM_ENABLE", kNoEffect},
    LibraryVariable{"NCCL_IGNORE_CPU_AFFINITY", kNoEffect},
    LibraryVariable{"NCCL_TOPO_DUMP_FILE", kNoEffect},
    LibraryVariable{"NCCL_GRAPH_DUMP_FILE", kNoEffect},
    LibraryVariable{"NCCL_TOPO_FILE", "the machine file is the topology; `lanewise import nccl FILE` makes one"},
    LibraryVariable{"NCCL_GRAPH_FILE", "the graphs are searched for"},
};

}  // namespace

std::span<LibraryVariable const> library_variables() { return kVariables; }

LibraryVariable const* find_library_variable(std::string_view name) {
  auto const* found =
      std::find_if(kVariables.begin(), kVariables.end(), [&](auto const& variable) { return variable.name == name; });
  return found == kVariables.end() ? nullptr : found;
}

}  // namespace lanewise
