/* Compiles the kernel's p2pdma decision, which p2pdma.sh takes from the source package, with stand-ins of its own. */
#include <linux/pci_regs.h>
#include <stdbool.h>

#include "tests/oracle/linux_stand_ins.h"

typedef uint16_t u16;

#define CONFIG_X86 1
#define PCI_VENDOR_ID_INTEL 0x8086
#define PCI_DEVFN(slot, function) ((((slot)&0x1f) << 3) | ((function)&0x07))
#define GFP_KERNEL 0

static struct cpuinfo_x86 boot_cpu;
#define cpu_data(number) boot_cpu

/* Messages are not printed. */
struct seq_buf {
  char* buffer;
  size_t size, len;
};
#define seq_buf_init(sequence, text, length) ((sequence)->buffer = (text), (sequence)->size = (length), (sequence)->len = 1)
#define seq_buf_printf(sequence, ...) ((void)(sequence))
#define pci_warn(device, ...) ((void)(device))

#define list_first_entry_or_null(list, type, member) ((list)->first)
#define pci_find_host_bridge(on_bus) ((on_bus)->host)
#define pci_upstream_bridge(function) ((function)->upstream)
#define pci_pcie_type(function) ((function)->pcie_type)
#define pci_domain_nr(on_bus) ((void)(on_bus), 0)
#define pci_name(function) ((void)(function), "")

static void pci_read_config_word(struct pci_dev* function, int position, u16* value) {
  *value = position == function->acs_cap + PCI_ACS_CTRL ? function->acs_control : 0;
}

/* Decisions are not remembered. */
#define rcu_read_lock() ((void)0)
#define rcu_read_unlock() ((void)0)
#define rcu_dereference(pointer) (pointer)
#define xa_mk_value(value) (value)
#define xa_store(array, position, value, flags) ((void)(array), (void)(position), (void)(value), (void)(flags))

#include "p2pdma_decision.inc"

enum pci_p2pdma_map_type linux_map_type(struct pci_dev* provider, struct pci_dev* client, struct cpuinfo_x86 cpu) {
  int distance = 0;
  boot_cpu = cpu;
  return calc_map_type_and_dist(provider, client, &distance, false);
}
