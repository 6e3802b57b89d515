// Every rule, with its sentence and its source.
#include <array>

#include "core/rules/predicates.hpp"
#include "lanewise/rules/rule.hpp"

namespace lanewise {
namespace {

constexpr std::string_view kDriver = "NVIDIA open GPU kernel modules, p2p_caps.c (df1c9a3)";
constexpr std::string_view kP2pdma = "Linux 6.1, drivers/pci/p2pdma.c";
constexpr std::string_view kGdrGuide = "NVIDIA GPUDirect RDMA documentation";

// In the order of docs/rules.md: first what the platform lacks, then what the product refuses, then the route.
constexpr std::array kRules{
    Rule{"DEVICE-OFF", "A device on the way, or its node, is off.", "the machine description", true, rules::device_off},
    Rule{"GPU-RUNTIME", "Without a GPU runtime nothing can start a transfer on a GPU.",
         "CUDA Programming Guide, Multi-Device System", true, rules::no_gpu_runtime},
    Rule{"P2P-MIG", "A GPU in MIG mode has no peers.", "NVIDIA MIG User Guide, Application Considerations; p2p_caps.c",
         true, rules::mig_on},
    Rule{"ATOMIC-PCIE", "Native atomics do not work over PCIe peer mappings of this GPU.",
         "CUDA, cudaDevP2PAttrNativeAtomicSupported; p2p_caps.c", true, rules::atomic_over_pcie},
    Rule{"ATOMIC-STAGED", "An atomic has no staged form: the memory must be mapped.",
         "CUDA Programming Guide, atomic functions", true, rules::atomic},
    Rule{"NVLINK-NONE", "No NVLink joins the two.", "the machine description", true, rules::no_nvlink},
    Rule{"LINK-RDMA-ONLY", "RoCE links between accelerators carry copies; kernels do not load or store over them.",
         "Intel Gaudi documentation, Network Configuration; Intel Gaudi 3 white paper (RDMA NICs in the accelerator)",
         true, rules::kernel_over_rdma_links},
    Rule{"HOST-NVLINK-FIRST", "A GPU with NVLink to a CPU reaches host memory over it, not over PCIe.",
         "IBM REDP-5472 (AC922); NVIDIA GH200 whitepaper", true, rules::has_cpu_link},
    Rule{"NVLINK-FABRIC", "NVSwitch passes nothing until the fabric manager has initialised it.",
         "NVIDIA Fabric Manager User Guide", true, rules::fabric_not_ready},
    Rule{"NVLINK-IMEX", "GPU memory is exported to other nodes over NVLink only where the IMEX service runs on both.",
         "NVIDIA IMEX Service for NVLink Networks, Overview", true, rules::not_exported_to_other_nodes},
    Rule{"RELAY-NEIGHBOUR", "A relay needs a third GPU with NVLink to both.", "the machine description", true,
         rules::no_common_nvlink_neighbour},
    Rule{"P2P-NVSWITCH-NO-FALLBACK", "GPUs on NVSwitch never fall back to PCIe peer access.", kDriver, true,
         rules::nvswitch_without_fallback},
    Rule{"P2P-NVLINK-FIRST",
         "The driver maps a peer over NVLink where there is one; PCIe peer access is not offered beside it.", kDriver,
         true, rules::nvlink_takes_peer},
    Rule{"P2P-PRODUCT", "The driver refuses PCIe peer access for this product.",
         "NVIDIA driver, GeForce RTX 30/40 series; nccl-tests issue 117", true, rules::product_without_pcie_peer},
    Rule{"P2P-CHIP", "PCIe peers must be the same chip.", kDriver, true, rules::chips_differ},
    Rule{"P2P-GUEST",
         "In a virtual machine the driver offers peer access only between devices below a switch it sees, or announced "
         "as one clique.",
         "p2p_caps.c and hypervisor.c (df1c9a3); QEMU hw/vfio/pci-quirks.c x-nv-gpudirect-clique", true,
         rules::guest_not_approved},
    Rule{"P2P-PEER-LIMIT", "A GPU maps at most eight peers where there is no NVSwitch.",
         "CUDA Programming Guide, Peer-to-Peer Memory Access; P2P_MAX_NUM_PEERS", true, rules::too_many_peers},
    Rule{"P2P-IOMMU-TRANSLATED",
         "On bare metal a translating IOMMU corrupts or drops peer access by raw address; use iommu off or pt.",
         "CUDA Programming Guide, IOMMU on Linux", true, rules::raw_address_under_iommu},
    Rule{"P2P-ACS-BLOCKED", "ACS translation blocking drops translated requests at the downstream port.",
         "PCI Express Base Specification 6.12.3", true, rules::acs_blocks},
    Rule{"P2P-RC-UNKNOWN", "Nobody says whether this root complex forwards peer requests; name the CPU's part.",
         kP2pdma, true, rules::cpu_unknown},
    Rule{"P2P-SOCKET", "This CPU does not forward peer requests to another socket.",
         "NVIDIA driver, IOH topology rule in p2p_caps.c; Linux commit 494d63b", true, rules::sockets_refused},
    Rule{"P2P-RC-WRITE", "This root complex does not forward peer writes between these ports.", kP2pdma, true,
         rules::writes_not_forwarded},
    Rule{"P2P-RC-READ", "This root complex does not forward peer reads between these ports.", kP2pdma, true,
         rules::reads_not_forwarded},
    Rule{"BAR-GDRCOPY", "The CPU reaches GPU memory through BAR1 only with gdrcopy.", "NVIDIA gdrcopy README", true,
         rules::bar_not_mappable},
    Rule{"BAR-NONE", "This GPU has no BAR1 window that the CPU can map.", "NVIDIA gdrcopy README; part datasheet", true,
         rules::no_bar1},
    Rule{"NET-NONE", "No fabric joins a NIC of the one node with a NIC of the other.", "the cluster description", true,
         rules::no_network},
    Rule{"NET-VERBS", "This NIC does not do RDMA verbs.", "part datasheet", true, rules::nic_without_verbs},
    Rule{"MPI-CUDA", "MPI takes addresses of GPU memory only where it is CUDA-aware.",
         "Open MPI FAQ on CUDA (MPIX_Query_cuda_support)", true, rules::mpi_without_cuda},
    Rule{"GDR-NIC", "This NIC's driver does not register GPU memory.",
         "rdma-core; Linux drivers/infiniband/sw/rxe has no DMA engine of its own", true, rules::nic_without_gpudirect},
    Rule{"GDR-PRODUCT", "The driver refuses GPUDirect RDMA for this product.", kGdrGuide, true,
         rules::gpu_without_rdma},
    Rule{"GDR-REGISTRATION", "GPU memory is registered through nvidia-peermem or dma-buf; neither is there.", kGdrGuide,
         true, rules::no_registration},
    Rule{"GDR-IOMMU-TRANSLATED",
         "nvidia-peermem hands out raw addresses: the IOMMU must be off or pt (dma-buf maps them properly).",
         "GPUDirect RDMA documentation 3.4", true, rules::peermem_under_iommu},
    Rule{"GDR-P2PDMA",
         "For dma-buf, Linux p2pdma does not accept a way through this host bridge; it takes ACS redirect at any port "
         "between "
         "the two as such a way.",
         kP2pdma, true, rules::p2pdma_refuses},
    Rule{"GDR-READ-PRE-AMPERE", "GPUs before Ampere without NVLink are read too slowly through the root complex.",
         "NCCL src/graph/paths.cc, ncclTopoCheckGdr", true, rules::old_gpu_read_through_root_complex},
    Rule{"GDR-RELAY-NEIGHBOUR", "A relay needs another GPU with NVLink to this one and nearer to the NIC.", "NCCL PXN",
         true, rules::relay_useless},
    Rule{"GDS-SOFTWARE", "GPUDirect Storage is not set up on this machine.",
         "NVIDIA GPUDirect Storage installation guide", true, rules::no_gpudirect_storage},
    Rule{"GDS-IOMMU", "GPUDirect Storage needs the IOMMU off or pt; on Grace it needs it on.",
         "NVIDIA GPUDirect Storage best practices and troubleshooting guides", true, rules::storage_under_iommu},
    Rule{"DEV-REGISTRATION",
         "A device's driver reaches GPU memory through the nvidia-peermem interface or dma-buf; neither is there.",
         kGdrGuide, true, rules::device_without_registration},
    Rule{"DEV-IOMMU-TRANSLATED",
         "Without dma-buf a device's driver gets raw addresses of GPU memory: the IOMMU must be off or pt.",
         "GPUDirect RDMA documentation 3.4", true, rules::device_under_iommu},
    Rule{"P2P-ACS-REDIRECT",
         "ACS sends the packets up to the root complex although a switch joins the two: twice through its uplink.",
         "PCI Express Base Specification 6.12.3; Linux 6.1, drivers/pci/p2pdma.c", false, rules::acs_redirects},
    Rule{"P2P-ACS-UNKNOWN", "The ACS control could not be read (root is needed): planned as redirected.",
         "Linux: config space beyond 64 bytes needs CAP_SYS_ADMIN", false, rules::acs_unknown},
    Rule{"MPI-MESSAGES",
         "MPI carries it as a message: the library copies small ones and asks before it sends large ones.",
         "Open MPI, MPICH and UCX: eager and rendezvous protocols", false, rules::by_messages},
    Rule{"BAR1-WINDOW",
         "The buffer is larger than the BAR1 window: it is mapped piece by piece, each at the price of a pin.",
         "GPUDirect RDMA documentation 3.1 to 3.5", false, rules::larger_than_bar1},
};

}  // namespace

std::span<Rule const> all_rules() { return kRules; }

}  // namespace lanewise
