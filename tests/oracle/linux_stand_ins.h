/* The structures and functions of Linux that its p2pdma decision uses, written anew and reduced to what it asks of them.
 * The names are the kernel's, the rest is ours. Shared by the kernel's text (C) and the comparison (C++). */
#ifndef LANEWISE_LINUX_STAND_INS_H
#define LANEWISE_LINUX_STAND_INS_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pci_dev;

/* The first function on a bus stands for the list of all of them. */
struct function_list {
  struct pci_dev* first;
};

struct pci_bus {
  unsigned char number;
  struct pci_host_bridge* host;
  struct function_list devices;
};

struct pci_host_bridge {
  struct pci_bus* bus;
};

struct pci_p2pdma {
  int map_types;
};

struct pci_dev {
  struct pci_bus* bus;      /* the root bus of its host bridge */
  struct pci_dev* upstream; /* the bridge above; null on a root bus */
  unsigned int devfn;
  unsigned short vendor, device;
  uint16_t acs_cap;     /* 0: no ACS capability */
  uint16_t acs_control; /* its control register */
  int pcie_type;
  struct pci_p2pdma* p2pdma;
};

struct cpuinfo_x86 {
  unsigned char x86; /* family */
  unsigned char x86_vendor;
};

enum { X86_VENDOR_INTEL = 0, X86_VENDOR_AMD = 2, X86_VENDOR_UNKNOWN = 0xff };

/* What the decision comes to. */
enum pci_p2pdma_map_type {
  PCI_P2PDMA_MAP_UNKNOWN = 0,
  PCI_P2PDMA_MAP_NONE,
  PCI_P2PDMA_MAP_NOT_SUPPORTED,
  PCI_P2PDMA_MAP_BUS_ADDR,
  PCI_P2PDMA_MAP_THRU_HOST_BRIDGE
};

/* The decision of the kernel's text on a machine with this boot CPU; the signature of the library's one function,
 * `linux_map_type`. */
typedef enum pci_p2pdma_map_type (*linux_map_type_function)(struct pci_dev* provider, struct pci_dev* client,
                                                            struct cpuinfo_x86 cpu);

#ifdef __cplusplus
}
#endif
#endif
