#pragma once
// Changes of a machine as key=value: "acs=on", "acs@sw0=RR,CR", "iommu=translated", "link@gpu3=gen3 x8". Used by --set
// on the command line and by the variants of scenarios.
#include <string>
#include <string_view>
#include <vector>

#include "lanewise/machine/catalogue.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

struct Setting {
  std::string key;    // "acs", "acs@sw0", "virtualization.clique"
  std::string value;  // as written
  friend bool operator==(Setting const&, Setting const&) = default;
};

// Whether it is a variable of a communication library that `library.env.VARIABLE` sets.
bool is_library_variable(std::string_view name);

// Splits "key=value"; "off@NAME" alone means true. Throws InputError when there is no '='.
Setting parse_setting(std::string_view text);

// Applies the setting to the machine. Throws InputError with the allowed keys, values or names.
//   acs=on|off|unknown|RR,CR    acs@NAME=...    ports above a device, or every downstream port of a switch or root port
//   iommu=off|pt|lazy|strict|vfio|translated    iommu_page=2 MiB
//   virtualization=none|passthrough    virtualization.approval=true, .ats=true, .clique=gpu0,gpu1
//   software.peermem=true    likewise cuda, dma_buf, gdrcopy, gpudirect_storage, fabric_manager, imex,
//   gpudirect_async, mpi_messages, cuda_aware_mpi, geforce_peer
//   library.env.NCCL_P2P_DISABLE=1    a variable that NCCL reads, for plans as that library makes them
//   link@NAME=gen3 x8    part@NAME=PART    mig@GPU=true
//   nvlink=off    takes every NVLink, C2C and GPU xGMI link away
// What fails:
//   off@NAME    a device with all below it, a node, a network switch, an NVSwitch, or a link as count@ names it
//   count@nvlink.gpu3=17    links of a GPU to the NVSwitches; count@nvlink.gpu0-gpu1=1, count@socket.cpu0-cpu1=2
//   count@cables.leaf0-spine=31    cables between two switches    count@spine=3    switches that act as one
//   rate@nic3=100 Gb/s    its cable    uplinks=16, uplinks@leaf0=16    cables from leaf switches to the tier above
// How the network divides traffic among cables:
//   routing=adaptive|static|ecmp    flows_per_pair=4    of ecmp: flows between two NICs
// In NAME, * and ? stand for any characters but '/': part@node*/gpu0=..., off@nvlink.gpu*.
void apply_setting(Machine& machine, Setting const& setting, Catalogue& catalogue);

}  // namespace lanewise
