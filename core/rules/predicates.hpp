#pragma once
// When each rule applies to an attempt, one function a rule. rule_table.cpp has the sentence and the source of each.
#include "lanewise/rules/rule.hpp"

namespace lanewise::rules {

// device_rules.cpp
bool device_off(Attempt const& attempt);

// gpu_rules.cpp: GPUs by themselves, and NVLink
bool no_gpu_runtime(Attempt const& attempt);
bool mig_on(Attempt const& attempt);
bool atomic_over_pcie(Attempt const& attempt);
bool atomic(Attempt const& attempt);
bool no_nvlink(Attempt const& attempt);
bool kernel_over_rdma_links(Attempt const& attempt);
bool has_cpu_link(Attempt const& attempt);
bool fabric_not_ready(Attempt const& attempt);
bool not_exported_to_other_nodes(Attempt const& attempt);
bool no_common_nvlink_neighbour(Attempt const& attempt);

// peer_rules.cpp: peer access over PCIe, and the CPU's through BAR1
bool nvlink_takes_peer(Attempt const& attempt);
bool nvswitch_without_fallback(Attempt const& attempt);
bool product_without_pcie_peer(Attempt const& attempt);
bool chips_differ(Attempt const& attempt);
bool guest_not_approved(Attempt const& attempt);
bool too_many_peers(Attempt const& attempt);
bool acs_blocks(Attempt const& attempt);
bool acs_redirects(Attempt const& attempt);
bool acs_unknown(Attempt const& attempt);
bool raw_address_under_iommu(Attempt const& attempt);
bool cpu_unknown(Attempt const& attempt);
bool sockets_refused(Attempt const& attempt);
bool writes_not_forwarded(Attempt const& attempt);
bool reads_not_forwarded(Attempt const& attempt);
bool larger_than_bar1(Attempt const& attempt);
bool bar_not_mappable(Attempt const& attempt);
bool no_bar1(Attempt const& attempt);

// device_rules.cpp: NICs, drives and other devices that reach GPU memory
bool no_network(Attempt const& attempt);
bool nic_without_verbs(Attempt const& attempt);
bool by_messages(Attempt const& attempt);
bool mpi_without_cuda(Attempt const& attempt);
bool nic_without_gpudirect(Attempt const& attempt);
bool gpu_without_rdma(Attempt const& attempt);
bool no_registration(Attempt const& attempt);
bool peermem_under_iommu(Attempt const& attempt);
bool p2pdma_refuses(Attempt const& attempt);
bool old_gpu_read_through_root_complex(Attempt const& attempt);
bool relay_useless(Attempt const& attempt);
bool no_gpudirect_storage(Attempt const& attempt);
bool storage_under_iommu(Attempt const& attempt);
bool device_without_registration(Attempt const& attempt);
bool device_under_iommu(Attempt const& attempt);

}  // namespace lanewise::rules
