#include <array>

#include "core/io/word.hpp"
#include "core/machine/setting_list.hpp"
#include "core/measurement/measurement.hpp"
#include "core/scenario/transfer_fields.hpp"

namespace lanewise {
namespace {

constexpr std::array<std::string_view, 3> kFigures{"bus_bandwidth", "algorithm_bandwidth", "time"};
constexpr std::array<std::string_view, 3> kQuantities{"bandwidth", "latency", "makespan"};

FieldSpec doubtful_field() { return text_field("doubtful", "why the figures are printed but left out of the gate"); }

FieldSpec bytes_field(std::string doc) { return {.name = "bytes", .type = ValueType::Size, .doc = std::move(doc)}; }
FieldSpec spread_field() {
  return {.name = "spread", .type = ValueType::Ratio, .doc = "of the repetitions: (p95 - p5) / median"};
}

FieldSpec noise_field() {
  return {
      .name = "noise", .type = ValueType::Ratio, .doc = "of the median: half its 95 % confidence interval / median"};
}

MapSpec const& matrix_spec() {
  static MapSpec const spec{
      "matrix",
      {{.name = "places", .type = ValueType::List, .doc = "gpu0..gpu7", .required = true, .item = ValueType::Text},
       {.name = "rows",
        .type = ValueType::Custom,
        .doc = "[from][to], a list of lists of numbers; null: not measured",
        .required = true}}};
  return spec;
}

MapSpec const& pair_spec() {
  static MapSpec const spec{"value",
                            {from_field(),
                             to_field(),
                             {.name = "value", .type = ValueType::Custom, .doc = "the figure", .required = true},
                             bytes_field("if other than the series'"),
                             nics_field(),
                             spread_field(),
                             noise_field()}};
  return spec;
}

MapSpec const& sweep_spec() {
  static MapSpec const spec{
      "sweep",
      {from_field(),
       to_field(),
       nics_field(),
       {.name = "rows",
        .type = ValueType::Custom,
        .doc = "[[size, figure], ...]; after them the spread of its repetitions and the noise of its median: [size, "
               "figure, spread, noise]",
        .required = true}}};
  return spec;
}

MapSpec const& together_spec() {
  static MapSpec const spec{
      "together",
      {{.name = "flows",
        .type = ValueType::Custom,
        .doc = "[[from, to], ...]: all at once; {from, to, bytes, nics} where one has a size or NICs of its own; or "
               "{all_to_all: "
               "[gpu0..gpu7]}",
        .required = true},
       {.name = "value",
        .type = ValueType::Custom,
        .doc = "bandwidth: the total of all flows; latency, makespan: from the start of all to the end of the last",
        .required = true},
       bytes_field("of each flow, if other than the series'"),
       spread_field(),
       noise_field()}};
  return spec;
}

MapSpec const& measured_collective_spec() {
  static MapSpec const spec{
      "collective",
      {{.name = "op", .type = ValueType::Word, .doc = "what it does", .required = true, .words = collective_op_names()},
       {.name = "among",
        .type = ValueType::List,
        .doc = "gpu0..gpu7: its participants, by rank",
        .required = true,
        .item = ValueType::Text},
       text_field("library", "what ran it: nccl, or nccl-2.18 to nccl-2.30", true),
       text_field("root", "of broadcast, reduce, scatter and gather: one of `among`; the first when absent"),
       {.name = "cleared",
        .type = ValueType::Count,
        .doc = "before the exchange each GPU clears its own memory: this many times the size of the collective; 0 when "
               "absent"},
       {.name = "figure",
        .type = ValueType::Word,
        .doc = "what a figure is; bus_bandwidth when absent, time where the quantity is makespan",
        .words = {kFigures.begin(), kFigures.end()}},
       {.name = "rows",
        .type = ValueType::Custom,
        .doc = "[[size, figure], ...], sizes as nccl-tests counts them: of all ranks together for all_gather, "
               "reduce_scatter, gather and scatter",
        .required = true}}};
  return spec;
}

FieldSpec word_field(std::string name, std::string doc, std::vector<std::string> words) {
  return {.name = std::move(name), .type = ValueType::Word, .doc = std::move(doc), .words = std::move(words)};
}

MapSpec const& program_spec() {
  static MapSpec const spec{
      "program",
      {word_field("issue",
                  "the order in which it issues the copies: as listed (the default), each source first to its next "
                  "neighbour, or one that nobody fixes, of which the mean is predicted",
                  {"listed", "rotated", "unordered"}),
       word_field(
           "stream",
           "each copy its own (the default); one a source or one a destination, whose copies follow one another; "
           "or CUDA's legacy default stream, in which a copy holds both its GPUs",
           {"own", "source", "destination", "legacy_default"}),
       word_field("waits",
                  "destination: a copy waits for those issued before it into the same GPU, as PyTorch's copy_() does",
                  {"nothing", "destination"}),
       word_field("timed",
                  "the total is of all bytes by the end of the last copy (the default), by the end of the copies from "
                  "or into one GPU of the last flow, or the sum of what each flow had until its own end",
                  {"all", "last_source", "last_destination", "mean"}),
       {.name = "rounds",
        .type = ValueType::Count,
        .doc = fmt::format("repetitions without a barrier between them, at most {}; more change nothing",
                           kMaxProgramRounds)}}};
  return spec;
}

MapSpec const& series_spec() {
  static MapSpec const spec{
      "series",
      {{.name = "series", .type = ValueType::Id, .doc = "its name, once in a file", .required = true},
       {.name = "quantity",
        .type = ValueType::Word,
        .doc = "what was measured",
        .required = true,
        .words = {kQuantities.begin(), kQuantities.end()}},
       {.name = "unit",
        .type = ValueType::Word,
        .doc = "of every figure, as printed",
        .required = true,
        .words = {"GB/s", "GiB/s", "MB/s", "MiB/s", "Gb/s", "TB/s", "ns", "us", "ms", "s"}},
       op_field("how; copy when absent"),
       bytes_field("of each transfer; a sweep gives it row by row, a figure or a flow may have its own"),
       mechanism_field("mechanism", "how the benchmark went; absent: as the planner would"),
       staging_field(),
       access_field(),
       pageable_field(),
       queue_pairs_field(),
       cores_field(),
       flag_field("pulled", "peer access driven by the destination's copy engine (nvbandwidth's read tests)"),
       flag_field(
           "pipelined",
           "many transfers in flight, their starts are hidden (perftest, osu_bw); of a latency: the time between "
           "transfers that follow one another in a stream (p2pBandwidthLatencyTest)"),
       flag_field("of_first",
                  "the bandwidth of the first of several flows while the others run (nvbandwidth's bidirectional and "
                  "host_to_all tests)"),
       {.name = "program",
        .type = ValueType::Map,
        .doc = "how the benchmark issued several transfers and what it timed; absent: all at once, as listed",
        .map = &program_spec()},
       flag_field("both_ways", "both directions at once; a figure is the sum"),
       settings_field(),
       doubtful_field(),
       {.name = "matrix", .type = ValueType::Map, .doc = "every pair of places", .map = &matrix_spec()},
       {.name = "values", .type = ValueType::List, .doc = "single pairs", .map = &pair_spec(), .item = ValueType::Map},
       {.name = "sweep", .type = ValueType::Map, .doc = "one pair over sizes", .map = &sweep_spec()},
       {.name = "together",
        .type = ValueType::List,
        .doc = "several transfers at once",
        .map = &together_spec(),
        .item = ValueType::Map},
       {.name = "collective",
        .type = ValueType::Map,
        .doc = "a collective that a library ran, over sizes",
        .map = &measured_collective_spec()}}};
  return spec;
}

MapSpec const& noise_spec() {
  static MapSpec const spec{
      "noise",
      {from_field(),
       to_field(),
       bytes_field("of the transfer"),
       {.name = "samples", .type = ValueType::Count, .doc = "how often it was measured", .required = true},
       {.name = "spread", .type = ValueType::Ratio, .doc = "of the samples: (p95 - p5) / median", .required = true}}};
  return spec;
}

MapSpec const& fact_spec() {
  static MapSpec const spec{"fact",
                            {from_field(),
                             to_field(),
                             op_field("how; copy when absent"),
                             {.name = "bytes", .type = ValueType::Size, .doc = "how much; 256 MiB when absent"},
                             mechanism_field("mechanism", "a mechanism, of which 'legal' speaks"),
                             flag_field("legal", "whether it was possible"),
                             mechanism_field("chosen", "the way that the system took by itself"),
                             mechanism_field("faster", "the faster of two that were measured"),
                             mechanism_field("slower", "and the slower"),
                             staging_field(),
                             settings_field(),
                             text_field("source", "if another"),
                             doubtful_field()}};
  return spec;
}

}  // namespace

std::string_view to_string(MeasuredQuantity quantity) { return kQuantities.at(static_cast<std::size_t>(quantity)); }
Parsed<MeasuredQuantity> parse_measured_quantity(std::string_view text) {
  return parse_word<MeasuredQuantity>(text, kQuantities, "a measured quantity");
}

std::string_view to_string(CollectiveFigure figure) { return kFigures.at(static_cast<std::size_t>(figure)); }
Parsed<CollectiveFigure> parse_collective_figure(std::string_view text) {
  return parse_word<CollectiveFigure>(text, kFigures, "a figure of a collective");
}

MapSpec const& all_flows_spec() {
  static MapSpec const spec{
      "flows",
      {{.name = "all_to_all",
        .type = ValueType::List,
        .doc = "gpu0..gpu7: each to every other, sources in this order, each with its targets in it",
        .required = true,
        .item = ValueType::Text}}};
  return spec;
}

MapSpec const& measured_flow_spec() {
  static MapSpec const spec{"flow",
                            {from_field(), to_field(), bytes_field("its size; the point's when absent"), nics_field()}};
  return spec;
}

MapSpec const& measurement_spec() {
  static MapSpec const spec{
      "measurement",
      {{.name = "lanewise",
        .type = ValueType::Word,
        .doc = "measurement/1",
        .required = true,
        .words = {"measurement/1"}},
       {.name = "measurement", .type = ValueType::Id, .doc = "its name", .required = true},
       text_field("title", "what was measured, in a line"),
       text_field("machine", "the machine or cluster, by name or file; --on takes another", true),
       text_field("source", "where the figures are from", true),
       text_field("date", "when they were taken"),
       text_field("method", "with what and how they were taken", true),
       {.name = "grade",
        .type = ValueType::Word,
        .doc = "A: complete and the topology known; B: topology partly inferred; C: single figures",
        .words = {"A", "B", "C"}},
       {.name = "notes", .type = ValueType::List, .doc = "remarks", .item = ValueType::Text},
       doubtful_field(),
       {.name = "environment",
        .type = ValueType::Dictionary,
        .doc = "what it ran in: driver, runtime, gpu, clocks, topology, ...",
        .item = ValueType::Text},
       {.name = "noise",
        .type = ValueType::List,
        .doc = "transfers that were measured again and again meanwhile: how far the machine itself drifted",
        .map = &noise_spec(),
        .item = ValueType::Map},
       {.name = "withhold",
        .type = ValueType::List,
        .doc = "PART.KEY, or PART.KEY=VALUE with what other machines give: figures of parts that were read from this "
               "measurement and are taken away before predicting",
        .item = ValueType::Text},
       settings_field(),
       {.name = "series", .type = ValueType::List, .doc = "figures", .map = &series_spec(), .item = ValueType::Map},
       {.name = "facts",
        .type = ValueType::List,
        .doc = "what was possible, refused, chosen or faster",
        .map = &fact_spec(),
        .item = ValueType::Map}}};
  return spec;
}

}  // namespace lanewise
