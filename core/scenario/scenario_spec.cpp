#include "core/scenario/scenario_spec.hpp"
#include "core/machine/setting_list.hpp"
#include "core/scenario/job_fields.hpp"
#include "core/scenario/transfer_fields.hpp"
#include "core/workload/workload_reader.hpp"
#include "lanewise/scenario/scenario.hpp"

namespace lanewise {
namespace {

// One word or a list of words.
FieldSpec words_field(std::string name, std::string doc, std::string pattern) {
  return {.name = std::move(name),
          .type = ValueType::Custom,
          .doc = std::move(doc),
          .item = ValueType::Custom,
          .pattern = std::move(pattern)};
}

MapSpec const& transfer_spec() {
  static MapSpec const spec{
      "transfer",
      {{.name = "id", .type = ValueType::Id, .doc = "its name", .required = true},
       from_field(),
       to_field(),
       {.name = "bytes", .type = ValueType::Size, .doc = "how much", .required = true},
       op_field("how; when absent a copy by copy engines, or in a set by kernels where that is clearly faster"),
       mechanism_field("mechanism", "this mechanism and no other"),
       staging_field(),
       access_field(),
       pageable_field(),
       queue_pairs_field(),
       nics_field(),
       cores_field(),
       {.name = "after",
        .type = ValueType::List,
        .doc = "ids of transfers that must have finished",
        .item = ValueType::Id}}};
  return spec;
}

MapSpec const& variant_spec() {
  static MapSpec const spec{
      "variant", {{.name = "name", .type = ValueType::Id, .doc = "its name", .required = true}, settings_field()}};
  return spec;
}

MapSpec const& expectation_spec() {
  static MapSpec const spec{
      "expectation",
      {text_field("machine", "only on this machine"),
       text_field("variant", "only in this variant"),
       text_field("transfer", "of this transfer; absent: of the whole run"),
       text_field("collective", "of this collective, beside other jobs: its latency, or its bus bandwidth"),
       words_field("mechanism", "the mechanism chosen, or a list of allowed ones", mechanism_pattern()),
       words_field("avoids",
                   "what the route does not pass: root_complex, switch, socket_link, host_memory, nvswitch, nvlink, "
                   "network, chip_fabric, or a name; or a list",
                   "."),
       words_field("through", "what the route passes, in the same words", "."),
       {.name = "refuses",
        .type = ValueType::Custom,
        .doc = "a mechanism and the rule that refuses it: {pcie_p2p: P2P-SOCKET}"},
       {.name = "possible",
        .type = ValueType::Flag,
        .doc = "false: the transfer has no legal way, and the scenario passes because of it"},
       text_field("bandwidth", "'>= 40 GB/s', or relative: '>= 1.8 x VARIANT'"),
       text_field("latency", "time from start to end"),
       text_field("makespan", "time of the whole run"),
       text_field("regret", "'<= 2 %': against the best legal alternative, run in the same mode")}};
  return spec;
}

}  // namespace

MapSpec const& scenario_spec() {
  static MapSpec const spec{
      "scenario",
      {{.name = "lanewise", .type = ValueType::Word, .doc = "scenario/1", .required = true, .words = {"scenario/1"}},
       {.name = "scenario", .type = ValueType::Id, .doc = "its name", .required = true},
       text_field("title", "what it shows, in a sentence"),
       text_field("source", "where the truth is from"),
       {.name = "machines",
        .type = ValueType::List,
        .doc = "machines to run on, by name or file",
        .item = ValueType::Text},
       settings_field(),
       {.name = "objective",
        .type = ValueType::Word,
        .doc =
            "what the transfers are planned for together; makespan when absent, each: the best way of every one alone",
        .words = objective_names()},
       {.name = "transfers",
        .type = ValueType::List,
        .doc = "what moves; all begin together unless 'after' says otherwise",
        .map = &transfer_spec(),
        .item = ValueType::Map},
       {.name = "collective",
        .type = ValueType::Map,
        .doc = "instead of all else: what several places do together",
        .map = &collective_spec()},
       {.name = "collectives",
        .type = ValueType::List,
        .doc = "several such, or one beside other work",
        .map = &named_collective_spec(),
        .item = ValueType::Map},
       {.name = "compute",
        .type = ValueType::List,
        .doc = "what GPUs compute beside and between transfers and collectives",
        .map = &compute_spec(),
        .item = ValueType::Map},
       {.name = "workload",
        .type = ValueType::Map,
        .doc = "instead of all else: a step of training or inference of a language model",
        .map = &workload_spec()},
       {.name = "variants",
        .type = ValueType::List,
        .doc = "the same transfers under other settings",
        .map = &variant_spec(),
        .item = ValueType::Map},
       {.name = "expect",
        .type = ValueType::List,
        .doc = "what must hold",
        .map = &expectation_spec(),
        .item = ValueType::Map}}};
  return spec;
}

}  // namespace lanewise
