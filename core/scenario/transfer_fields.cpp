#include "core/scenario/transfer_fields.hpp"

namespace lanewise {

FieldSpec from_field() { return text_field("from", "where the data is", true); }
FieldSpec to_field() { return text_field("to", "where it goes", true); }

FieldSpec op_field(std::string doc) {
  return {.name = "op", .type = ValueType::Word, .doc = std::move(doc), .words = op_names()};
}

FieldSpec mechanism_field(std::string name, std::string doc) {
  return {.name = std::move(name), .type = ValueType::Custom, .doc = std::move(doc), .pattern = mechanism_pattern()};
}

std::optional<Mechanism> mechanism_at(MapReader const& reader, YamlNode const& node, std::string const& name) {
  auto const parsed = parse_mechanism(name);
  if (!parsed.value) reader.fail(node, parsed.problem);
  return parsed.value;
}

FieldSpec staging_field() {
  return {.name = "staging",
          .type = ValueType::Word,
          .doc = "of host_staged: 'driver' is CUDA's own copy between GPUs without peer access, 'pipelined' ours",
          .words = {"driver", "pipelined"}};
}

bool read_staging(MapReader& reader, bool of_host_staged) {
  auto const staging = reader.text("staging");
  if (staging && !of_host_staged)
    reader.fail(*reader.node("staging"), "'staging' belongs to the mechanism host_staged");
  return staging == "driver";
}

MapSpec const& access_spec() {
  static MapSpec const spec{
      "access",
      {{.name = "each", .type = ValueType::Size, .doc = "one DMA; of a measured sweep its rows, where left out"},
       {.name = "window",
        .type = ValueType::Size,
        .doc = "memory that is touched again and again; of a measured sweep its rows, where left out"},
       {.name = "pattern", .type = ValueType::Word, .doc = "order of the touches", .words = {"random", "sequential"}}}};
  return spec;
}

FieldSpec access_field() {
  return {.name = "access",
          .type = ValueType::Map,
          .doc = "device DMA to host memory: how it is cut up",
          .map = &access_spec()};
}

std::optional<Access> read_access(MapReader& reader) {
  auto map = reader.map("access");
  if (!map) return std::nullopt;
  return Access{map->size("each").value_or(Bytes(0)), map->size("window").value_or(Bytes(0)),
                map->text("pattern") == "random"};
}

FieldSpec pageable_field() { return flag_field("pageable", "host memory that is not pinned"); }
FieldSpec queue_pairs_field() {
  return {.name = "queue_pairs", .type = ValueType::Count, .doc = "of RDMA; as many as the NIC needs when absent"};
}
FieldSpec nics_field() {
  return {.name = "nics",
          .type = ValueType::List,
          .doc = "between nodes: the NIC of the source's node and that of the target's; any when absent",
          .item = ValueType::Text};
}

std::vector<std::string> read_nics(MapReader& reader) {
  auto names = reader.texts("nics");
  if (!reader.has("nics") || names.size() == 2) return names;
  reader.fail(*reader.node("nics"), "'nics': expected two, such as [node0/nic0, node1/nic0]");
  return {};
}

FieldSpec cores_field() {
  return {.name = "cores",
          .type = ValueType::Count,
          .doc = "of copies between host memories: so many copy at once, each a piece; one when absent"};
}

}  // namespace lanewise
