#include "core/scenario/job_fields.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/io/spelling.hpp"
#include "core/machine/files/key_values.hpp"
#include "core/planner/libraries/library_field.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

FieldSpec id_field() { return {.name = "id", .type = ValueType::Id, .doc = "its name", .required = true}; }
FieldSpec after_field() {
  return {.name = "after",
          .type = ValueType::List,
          .doc = "ids of what must have finished: at each place what is done last there",
          .item = ValueType::Id};
}

std::vector<FieldSpec> collective_fields() {
  return {
      {.name = "op", .type = ValueType::Word, .doc = "what they do", .required = true, .words = collective_op_names()},
      {.name = "among",
       .type = ValueType::List,
       .doc = "who takes part, in order: names and ranges, [gpu0..gpu7]; [all_gpus]: every GPU of the machine, with "
              "bytes rounded down to a multiple of 16 for each",
       .required = true,
       .item = ValueType::Text},
      {.name = "bytes",
       .type = ValueType::Size,
       .doc = "what one participant holds: its whole input (reduce, all_reduce, reduce_scatter, all_to_all), the whole "
              "result (all_gather), what the root or the first holds (broadcast, scatter, gather, chain)"},
      {.name = "algorithm",
       .type = ValueType::Word,
       .doc = "how; auto, the fastest by estimate, when absent",
       .words = algorithm_names()},
      text_field("library",
                 "plan it as a library would: nccl, or nccl-2.18 to nccl-2.30; as well as possible when absent"),
      text_field("root", "of broadcast, scatter, gather and reduce; the first when absent"),
      {.name = "sizes",
       .type = ValueType::List,
       .doc = "of all_to_all_v: for each participant what it sends to each, [[0 B, 4 MiB], [1 MiB, 0 B]]",
       .item = ValueType::Custom},
      {.name = "pieces",
       .type = ValueType::Count,
       .doc = "of a chain: in how many the data goes on; as many as are fastest when absent"}};
}

std::vector<Bytes> read_row(MapReader const& reader, YamlNode const& row, std::size_t columns) {
  std::vector<Bytes> sizes;
  for (auto const& cell : row.items) {
    auto const parsed = parse_bytes(cell.text);
    if (!parsed.value) reader.fail(cell, fmt::format("'sizes': {}", parsed.problem));
    sizes.push_back(parsed.value.value_or(Bytes(0)));
  }
  if (sizes.size() != columns)
    reader.fail(row, fmt::format("'sizes': {} sizes in a row, and {} take part", sizes.size(), columns));
  return sizes;
}

void read_sizes(MapReader& reader, CollectiveSpec& collective) {
  bool const uneven = collective.op == CollectiveOp::AllToAllV;
  if (reader.has("sizes") != uneven)
    return reader.fail_at_key("sizes", "'sizes' belongs to the op all_to_all_v, which needs it");
  if (reader.has("bytes") == uneven)
    return reader.fail_at_key("bytes", uneven ? "all_to_all_v has 'sizes' instead of 'bytes'"
                                              : fmt::format("missing key 'bytes' of {}", to_string(collective.op)));
  if (!uneven) return;
  auto const rows = reader.items("sizes");
  for (auto const* row : rows) collective.sizes.push_back(read_row(reader, *row, collective.among.size()));
  if (rows.size() != collective.among.size())
    reader.fail(*reader.node("sizes"),
                fmt::format("'sizes': {} rows, and {} take part", rows.size(), collective.among.size()));
  for (auto const& row : collective.sizes) {
    Bytes sum{0};
    for (auto const bytes : row) sum += bytes;
    collective.bytes = std::max(collective.bytes, sum);
  }
}

}  // namespace

MapSpec const& collective_spec() {
  static MapSpec const spec{"collective", collective_fields()};
  return spec;
}

MapSpec const& named_collective_spec() {
  static MapSpec const spec = [] {
    MapSpec named{"one of several collectives", {id_field()}};
    for (auto& field : collective_fields()) named.fields.push_back(std::move(field));
    named.fields.push_back(after_field());
    return named;
  }();
  return spec;
}

MapSpec const& compute_spec() {
  static MapSpec const spec{
      "compute",
      {id_field(),
       {.name = "on",
        .type = ValueType::List,
        .doc = "the GPUs that each do this: names and ranges, [gpu0..gpu7]",
        .required = true,
        .item = ValueType::Text},
       {.name = "time",
        .type = ValueType::Time,
        .doc = "how long it takes; or flop and bytes, and no kernel is faster"},
       {.name = "flop", .type = ValueType::Work, .doc = "floating-point operations, at the part's peak rate"},
       {.name = "precision",
        .type = ValueType::Word,
        .doc = "of the operations: which peak rate; fp32 when absent",
        .words = precision_names()},
       {.name = "bytes", .type = ValueType::Size, .doc = "of the GPU's own memory, read and written"},
       after_field()}};
  return spec;
}

CollectiveSpec read_collective(MapReader& reader) {
  CollectiveSpec collective;
  if (reader.has("id")) collective.id = reader.text("id").value_or("");
  if (auto const op = reader.text("op")) collective.op = parse_collective_op(*op).value.value_or(collective.op);
  collective.among = expanded_names(reader, "among");
  bool const all_gpus = collective.among == std::vector<std::string>{kAllGpus};
  if (collective.among.size() < 2 && !all_gpus && reader.has("among"))
    reader.fail(*reader.node("among"), "a collective has at least two participants");
  collective.bytes = reader.size("bytes").value_or(Bytes(0));
  if (auto const name = reader.text("algorithm"))
    collective.algorithm = parse_algorithm(*name).value.value_or(Algorithm::Auto);
  collective.library = read_library(reader);
  if (auto const* library = reader.node("library"); library != nullptr && library->text != "best") {
    if (reader.has("id"))
      reader.fail(*reader.node("library"), "'library' belongs to 'collective', which stands alone in its scenario");
    if (collective.algorithm != Algorithm::Auto)
      reader.fail(*reader.node("library"),
                  "a library chooses its algorithm by itself: no 'algorithm' beside 'library'");
  }
  collective.root = reader.text("root").value_or("");
  auto const& among = collective.among;
  if (!collective.root.empty() && std::find(among.begin(), among.end(), collective.root) == among.end())
    reader.fail(*reader.node("root"),
                fmt::format("'{}' does not take part{}", collective.root, did_you_mean(collective.root, among)));
  collective.pieces = static_cast<std::size_t>(reader.count("pieces").value_or(0));
  if (reader.has("pieces") && collective.op != CollectiveOp::Chain)
    reader.fail(*reader.node("pieces"), "'pieces' belongs to the op chain");
  if (reader.has("op")) read_sizes(reader, collective);
  if (reader.has("after")) collective.after = reader.texts("after");
  return collective;
}

ComputeSpec read_compute(MapReader& reader) {
  ComputeSpec compute;
  compute.id = reader.text("id").value_or("");
  compute.on = expanded_names(reader, "on");
  compute.time = reader.time("time").value_or(Seconds(0));
  compute.flop = reader.work("flop").value_or(Flop(0));
  if (auto const precision = reader.text("precision"))
    compute.precision = parse_precision(*precision).value.value_or(Precision::Fp32);
  compute.bytes = reader.size("bytes").value_or(Bytes(0));
  compute.after = reader.texts("after");
  bool const roofline = compute.flop > Flop(0) || compute.bytes > Bytes(0);
  if ((compute.time > Seconds(0)) == roofline)
    reader.fail(reader.self(), "computing has either a 'time' above zero, or 'flop', 'bytes' or both");
  if (reader.has("precision") && !reader.has("flop"))
    reader.fail(*reader.node("precision"), "'precision' belongs to 'flop'");
  if (auto const* on = reader.node("on"); on != nullptr && on->kind != YamlKind::Scalar && on->items.empty())
    reader.fail(*on, "'on': the list is empty, so nothing computes; name GPUs: [gpu0..gpu7]");
  auto names = compute.on;
  std::sort(names.begin(), names.end());
  if (auto const twice = std::adjacent_find(names.begin(), names.end()); twice != names.end())
    reader.fail(*reader.node("on"), fmt::format("'{}' stands there twice", *twice));
  return compute;
}

}  // namespace lanewise
