#include "core/machine/machine_fields.hpp"

#include <fmt/format.h>

#include <utility>

namespace lanewise {
namespace {

using Texts = std::vector<std::string>;

SoftwareField flag(std::string const& name, std::string const& doc, bool Software::*member) {
  SoftwareField field;
  static_cast<Field<Software>&>(field) = FieldsOf<Software>::scalar(
      name, doc, [member](auto& software) -> auto& { return software.*member; });
  field.flag = member;
  return field;
}

FunctionField of(std::optional<PciKind> kind, Field<PciFunction> made) {
  FunctionField field;
  static_cast<Field<PciFunction>&>(field) = std::move(made);
  field.only = kind;
  return field;
}

// An ACS control as a word ("off") or a list of bits; nullopt after reporting what is wrong.
std::optional<AcsControl> read_acs(MapReader& reader) {
  auto const* node = reader.custom("acs");
  if (node == nullptr) return std::nullopt;
  std::string text = node->text;
  if (node->kind == YamlKind::Sequence)
    for (auto const& item : node->items) text += (text.empty() ? "" : ",") + item.text;
  auto const parsed = parse_acs(text);
  if (!parsed.value) reader.fail(*node, fmt::format("'acs': {}", parsed.problem));
  return parsed.value;
}

// `Object::acs` is an AcsControl or an optional one.
template <class Object>
Field<Object> acs(std::string const& doc) {
  Field<Object> field;
  field.spec = {.name = "acs",
                .type = ValueType::Custom,
                .doc = doc,
                .item = ValueType::Custom,
                .pattern = "^(on|off|unknown|(SV|TB|RR|CR|UF|EC|DT)([,+ ]+(SV|TB|RR|CR|UF|EC|DT))*)$"};
  field.read = [](Object& object, MapReader& reader) {
    if (auto const control = read_acs(reader)) object.acs = *control;
  };
  field.write = [](Object const& object) {
    if constexpr (std::is_same_v<decltype(object.acs), AcsControl>)
      return Texts{to_string(object.acs)};  // even when it is the default: `unknown` is worth reading
    else
      return object.acs ? Texts{to_string(*object.acs)} : Texts{};
  };
  field.clear = [](Object& object) { object.acs = Object{}.acs; };
  return field;
}

Field<Settings> iommu() {
  Field<Settings> field;
  field.spec = {.name = "iommu",
                .type = ValueType::Custom,
                .doc = "off, pt, lazy, strict, vfio, unknown; on and translated mean lazy, passthrough means pt",
                .pattern = "^(off|pt|passthrough|lazy|strict|vfio|unknown|on|translated)$"};
  field.read = [](Settings& settings, MapReader& reader) {
    auto const text = reader.text("iommu");
    if (!text) return;
    auto const mode = parse_iommu(*text);
    if (mode.value)
      settings.iommu = *mode.value;
    else
      reader.fail(*reader.node("iommu"), "'iommu': " + mode.problem);
  };
  field.write = [](Settings const& settings) { return Texts{std::string(to_string(settings.iommu))}; };
  field.clear = [](Settings& settings) { settings.iommu = Settings{}.iommu; };
  return field;
}

Field<Settings> iommu_page() {
  auto field =
      FieldsOf<Settings>::scalar("iommu_page", "page size of the IOMMU's mappings", LANEWISE_MEMBER(iommu_page));
  field.read = [](Settings& settings, MapReader& reader) {
    auto const page = reader.size("iommu_page");
    if (!page) return;
    if (*page == Bytes(0)) reader.fail(*reader.node("iommu_page"), "'iommu_page': a page has more than 0 bytes");
    settings.iommu_page = *page;
  };
  return field;
}

Field<Virtualization> virtualization_kind() {
  Field<Virtualization> field;
  field.spec = {.name = "kind",
                .type = ValueType::Word,
                .doc = "none, or passthrough: a virtual machine with passed-through devices",
                .words = {"none", "passthrough"}};
  field.read = [](Virtualization& virtualization, MapReader& reader) {
    if (auto const kind = reader.text("kind")) virtualization.passthrough = *kind == "passthrough";
  };
  field.write = [](Virtualization const& v) { return Texts{v.passthrough ? "passthrough" : "none"}; };
  field.clear = [](Virtualization& virtualization) { virtualization.passthrough = false; };
  return field;
}

Field<PciFunction> chip() {
  auto field = FieldsOf<PciFunction>::scalar(
      "chip", "of a switch: its chip; virtual switches of one chip share silicon", LANEWISE_MEMBER(chip));
  field.spec.type = ValueType::Id;
  return field;
}

Field<PciFunction> port_of() {
  auto field = FieldsOf<PciFunction>::scalar(
      "port_of",
      "of a NIC: the NIC whose port it shares, as a second function of the adapter (Data Direct, Socket Direct)",
      LANEWISE_MEMBER(port_of));
  field.spec.type = ValueType::Id;
  return field;
}

Field<NumaNode> numa_number() {
  auto field = FieldsOf<NumaNode>::scalar("node", "its number in the operating system", LANEWISE_MEMBER(os_index));
  field.spec.required = true;
  field.write = [](NumaNode const& numa) { return Texts{std::to_string(numa.os_index)}; };
  return field;
}

Field<Override> override_op() {
  Field<Override> field;
  field.spec = {.name = "op", .type = ValueType::Word, .doc = "which op; default: every one", .words = op_names()};
  field.read = [](Override& entry, MapReader& reader) {
    if (auto const op = reader.text("op")) entry.op = parse_op(*op).value;
  };
  field.write = [](Override const& entry) { return entry.op ? Texts{std::string(to_string(*entry.op))} : Texts{}; };
  field.clear = [](Override& entry) { entry.op.reset(); };
  return field;
}

Field<Override> override_source() {
  auto field = FieldsOf<Override>::scalar("source", "who measured it, how and when", LANEWISE_MEMBER(source));
  field.spec.required = true;
  field.write = [](Override const& entry) { return Texts{entry.source}; };
  return field;
}

constexpr auto kOnlyCompared = "no prediction hangs on it; comparisons show it";
constexpr auto kForDisplay = "it is only for display";
constexpr auto kOfThisHost = "it is how this host finds the device, not what the device is";

}  // namespace

std::vector<SoftwareField> const& software_fields() {
  static std::vector<SoftwareField> const fields{
      flag("cuda", "a GPU runtime (CUDA, HIP)", &Software::cuda),
      flag("peermem", "nvidia-peermem is loaded", &Software::peermem),
      flag("dma_buf", "verbs registers GPU memory by dma-buf", &Software::dma_buf),
      flag("gdrcopy", "the CPU can map BAR1", &Software::gdrcopy),
      flag("gpudirect_storage", "GPUDirect Storage is set up", &Software::gpudirect_storage),
      flag("fabric_manager", "the NVSwitch fabric manager is running", &Software::fabric_manager),
      flag("imex", "the IMEX service is running, which exports GPU memory to other nodes over NVLink", &Software::imex),
      flag("gpudirect_async", "GPUs ring NICs' doorbells themselves (GPUDirect Async)", &Software::gpudirect_async),
      flag("mpi_messages", "what goes between memories of nodes goes as messages of MPI, also where NICs do RDMA verbs",
           &Software::mpi_messages),
      flag("cuda_aware_mpi", "MPI takes addresses of GPU memory (CUDA-aware MPI)", &Software::cuda_aware_mpi),
      flag("geforce_peer", "a modified driver allows PCIe peer access on products where NVIDIA's refuses it",
           &Software::geforce_peer)};
  return fields;
}

std::vector<Field<Settings>> const& settings_fields() {
  static std::vector<Field<Settings>> const fields{
      acs<Settings>("ACS control of every port: off, on, unknown, or a list of SV, TB, RR, CR, UF, EC, DT"), iommu(),
      iommu_page(),
      not_in_fingerprint(
          FieldsOf<Settings>::scalar("firmware", "the system's firmware (BIOS), as it names its maker and version",
                                     LANEWISE_MEMBER(firmware)),
          kOnlyCompared)};
  return fields;
}

std::vector<Field<Virtualization>> const& virtualization_fields() {
  using Key = FieldsOf<Virtualization>;
  static std::vector<Field<Virtualization>> const fields{
      virtualization_kind(),
      not_in_fingerprint(
          Key::scalar("hypervisor", "kvm, firecracker, xen, vmware, hyperv", LANEWISE_MEMBER(hypervisor)), kForDisplay),
      Key::scalar("approval", "the hypervisor announces peer-to-peer as approved for all GPUs",
                  LANEWISE_MEMBER(approval)),
      Key::scalar("ats", "address translation services work end to end", LANEWISE_MEMBER(ats))};
  return fields;
}

std::vector<FunctionField> const& function_fields() {
  using Key = FieldsOf<PciFunction>;
  static std::vector<FunctionField> const fields{
      of({},
         not_in_fingerprint(Key::scalar("bdf", "its PCI address, 0000:3b:00.0", LANEWISE_MEMBER(bdf)), kOfThisHost)),
      of({}, Key::link("link", "negotiated between the port and the device below it", LANEWISE_MEMBER(link))),
      of({}, Key::link("max", "what it could negotiate, where that is more", LANEWISE_MEMBER(max_link))),
      of({}, acs<PciFunction>("ACS control of this port, where it differs from settings.acs")),
      of({}, not_in_fingerprint(
                 Key::scalar("firmware", "version of its firmware (of a GPU: VBIOS)", LANEWISE_MEMBER(firmware)),
                 kOnlyCompared)),
      of({}, Key::scalar("off", "it failed or is switched off, and with it all below it", LANEWISE_MEMBER(off))),
      of(PciKind::Switch, chip()),
      of(PciKind::Gpu, Key::scalar("mig", "of a GPU: MIG is on", LANEWISE_MEMBER(mig))),
      of(PciKind::Gpu,
         not_in_fingerprint(
             Key::scalar("memory_numa",
                         "of a GPU: the NUMA node of its own memory, where the system shows it as one (GPU "
                         "NUMA ID of nvidia-smi)",
                         LANEWISE_MEMBER(memory_numa)),
             kForDisplay)),
      of(PciKind::Nic,
         not_in_fingerprint(Key::scalar("device_name", "of a NIC: its name in the operating system (mlx5_0)",
                                        LANEWISE_MEMBER(device_name)),
                            kOfThisHost)),
      of(PciKind::Nic, port_of()),
      of(PciKind::Nic,
         Key::scalar("rate", "of a NIC: rate of its port, where that is less than the part's", LANEWISE_MEMBER(rate))),
      of(PciKind::Nic, Key::scalar("rail", "of a NIC in a cluster: its rail", LANEWISE_MEMBER(rail)))};
  return fields;
}

std::vector<Field<NumaNode>> const& numa_fields() {
  static std::vector<Field<NumaNode>> const fields{
      not_in_fingerprint(numa_number(), "the name of the node says it"),
      not_in_fingerprint(FieldsOf<NumaNode>::scalar("cores", "its cores, as the kernel lists them: 0-27,56-83",
                                                    LANEWISE_MEMBER(cores)),
                         "steps carry the number of cores that they use")};
  return fields;
}

std::vector<Field<Override>> const& override_fields() {
  using Key = FieldsOf<Override>;
  static std::vector<Field<Override>> const fields{
      override_op(), Key::scalar("bandwidth", "measured for one large transfer", LANEWISE_MEMBER(bandwidth)),
      Key::scalar("latency", "measured for a tiny transfer", LANEWISE_MEMBER(latency)),
      not_in_fingerprint(override_source(), kForDisplay)};
  return fields;
}

}  // namespace lanewise
