#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/design/brief.hpp"
#include "core/design/job_digest.hpp"
#include "core/io/spelling.hpp"
#include "core/io/word.hpp"
#include "core/machine/setting_list.hpp"
#include "core/planner/libraries/library_field.hpp"
#include "core/workload/workload_reader.hpp"
#include "lanewise/io/bundled.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 3> kFaultScopes{"none", "each", "pairs"};

MapSpec const& candidate_spec() {
  static MapSpec const spec{
      "candidate",
      {text_field("machine", "a machine, by name or file"),
       text_field("cluster", "a cluster, by name or file"),
       {.name = "name", .type = ValueType::Id, .doc = "instead of the machine's with its settings"},
       settings_field("set"),
       {.name = "power", .type = ValueType::Power, .doc = "what it draws, instead of the sum of its parts"},
       {.name = "generate",
        .type = ValueType::Map,
        .doc = "instead of a machine: candidates made from parts, every combination of these choices",
        .map = &generator_spec()}}};
  return spec;
}

MapSpec const& design_job_spec() {
  static MapSpec const spec{
      "job",
      {text_field("scenario", "a scenario without settings, by name or file"),
       {.name = "workload", .type = ValueType::Map, .doc = "a step of a language model", .map = &workload_spec()},
       {.name = "collective", .type = ValueType::Word, .doc = "one of all GPUs", .words = collective_op_names()},
       {.name = "bytes", .type = ValueType::Size, .doc = "of the collective"},
       {.name = "name", .type = ValueType::Id, .doc = "instead of the scenario's, or the collective with its size"},
       {.name = "weight", .type = ValueType::Ratio, .doc = "how much it counts; 1 when absent"}}};
  return spec;
}

MapSpec const& job_limit_spec() {
  static MapSpec const spec{"limit of a job",
                            {{.name = "job", .type = ValueType::Id, .doc = "its name", .required = true},
                             text_field("time", "at most: <= 3 ms", true)}};
  return spec;
}

MapSpec const& limits_spec() {
  static MapSpec const spec{"limits",
                            {text_field("price", "at most: <= 400000 USD"),
                             text_field("power", "at most: <= 12 kW"),
                             {.name = "jobs",
                              .type = ValueType::List,
                              .doc = "how long jobs may take",
                              .map = &job_limit_spec(),
                              .item = ValueType::Map}}};
  return spec;
}

// What stands behind "<=", read by `parse`.
template <class T>
std::optional<T> at_most(MapReader& reader, std::string_view key, Parsed<T> (*parse)(std::string_view)) {
  auto const text = reader.text(key);
  if (!text) return std::nullopt;
  if (!text->starts_with("<=")) {
    reader.fail(*reader.node(key), fmt::format("'{}': a limit begins with <=", key));
    return std::nullopt;
  }
  auto parsed = parse(trimmed(std::string_view(*text).substr(2)));
  if (!parsed.value) reader.fail(*reader.node(key), fmt::format("'{}': {}", key, parsed.problem));
  return parsed.value;
}

// A scenario with one collective of all GPUs, for jobs that are given in a word.
Scenario collective_of_all(CollectiveOp op, Bytes bytes) {
  Scenario scenario;
  auto size = exact_text(bytes);
  std::erase(size, ' ');
  scenario.name = fmt::format("{}-{}", to_string(op), size);
  scenario.collective.emplace();
  scenario.collective->op = op;
  scenario.collective->among = {kAllGpus};
  scenario.collective->bytes = bytes;
  scenario.variants.emplace_back();
  return scenario;
}

class BriefReader {
 public:
  explicit BriefReader(SourceText const& source) : source_(source), folder_(fs::path(source.name()).parent_path()) {}

  DesignBrief read() {
    auto const root = parse_yaml(source_);
    expect_schema(root, "design/1", source_);
    MapReader top(root, design_brief_spec(), source_, diagnostics_);
    brief_.name = top.text("design").value_or("");
    brief_.title = top.text("title").value_or("");
    for (auto& reader : top.maps("candidates")) read_candidate(reader);
    for (auto& reader : top.maps("jobs")) read_job(reader);
    brief_.library = read_library(top);
    brief_.prices = top.text("prices").value_or("");
    if (!brief_.prices.empty() && fs::path(brief_.prices).is_relative())
      brief_.prices = (folder_ / brief_.prices).string();
    if (auto limits = top.map("limits")) read_limits(*limits);
    if (auto const faults = top.text("faults"))
      brief_.faults = parse_fault_scope(*faults).value.value_or(FaultScope::None);
    brief_.sensitivity = top.flag("sensitivity").value_or(false);
    if (diagnostics_.empty() && brief_.candidates.empty() && brief_.generators.empty())
      top.fail_at_key("candidates", "a brief has at least one candidate");
    if (diagnostics_.empty() && brief_.jobs.empty()) top.fail_at_key("jobs", "a brief has at least one job");
    diagnostics_.throw_if_any();
    return std::move(brief_);
  }

 private:
  void read_candidate(MapReader& reader) {
    DesignCandidate candidate;
    auto const machine = reader.text("machine");
    auto const cluster = reader.text("cluster");
    auto generate = reader.map("generate");
    if ((machine ? 1 : 0) + (cluster ? 1 : 0) + (generate ? 1 : 0) != 1)
      return reader.fail(reader.self(), "a candidate has one of 'machine', 'cluster' and 'generate'");
    if (generate) {
      for (auto const* key : {"name", "set", "power"})
        if (reader.has(key))
          reader.fail_at_key(key, fmt::format("'{}' is for one machine; 'generate' makes several", key));
      brief_.generators.push_back(read_generator(*generate));
      return;
    }
    candidate.machine = machine ? *machine : *cluster;
    std::error_code error;
    if (fs::is_regular_file(folder_ / candidate.machine, error))
      candidate.machine = (folder_ / candidate.machine).string();
    candidate.settings = read_settings(reader, "set");
    candidate.power = reader.power("power");
    candidate.name = reader.text("name").value_or(default_name(candidate));
    for (auto const& other : brief_.candidates)
      if (other.name == candidate.name)
        reader.fail(reader.self(),
                    fmt::format("a candidate '{}' is already there; give this one a 'name'", candidate.name));
    brief_.candidates.push_back(std::move(candidate));
  }

  static std::string default_name(DesignCandidate const& candidate) {
    auto name = fs::path(candidate.machine).stem().string();
    for (auto const& setting : candidate.settings) name += fmt::format(" {}={}", setting.key, setting.value);
    return name;
  }

  void read_job(MapReader& reader) {
    DesignJob job;
    digest_ = {};
    auto const scenario = reader.text("scenario");
    auto const collective = reader.text("collective");
    auto workload = reader.map("workload");
    if ((scenario ? 1 : 0) + (collective ? 1 : 0) + (workload ? 1 : 0) != 1)
      return reader.fail(reader.self(), "a job has one of 'scenario', 'workload' and 'collective'");
    if (scenario) read_scenario_of(reader, *scenario, job);
    if (collective) {
      auto const bytes = reader.size("bytes");
      if (!bytes) return reader.fail(reader.self(), "a collective needs 'bytes', such as 1 GiB");
      job.scenario =
          collective_of_all(parse_collective_op(*collective).value.value_or(CollectiveOp::AllReduce), *bytes);
    }
    if (workload) {
      job.scenario.workload = read_workload(*workload);
      add_files_of(*job.scenario.workload, digest_);
      auto const& step = *job.scenario.workload;
      job.scenario.name = step.trace ? step.trace->file : fmt::format("{}-{}", step.model.name, to_string(step.mode));
      job.scenario.variants.emplace_back();
    }
    add_job_entry(reader.self(), digest_);
    job.digest = digest_.text();
    job.name = reader.text("name").value_or(job.scenario.name);
    job.weight = reader.ratio("weight").value_or(1);
    if (job.weight <= 0) reader.fail(reader.self(), "a job's weight is above 0");
    for (auto const& other : brief_.jobs)
      if (other.name == job.name)
        reader.fail(reader.self(), fmt::format("a job '{}' is already there; give this one a 'name'", job.name));
    brief_.jobs.push_back(std::move(job));
  }

  void read_scenario_of(MapReader& reader, std::string const& name, DesignJob& job) {
    try {
      auto const beside = folder_ / name;
      std::error_code error;
      auto const source = SourceText::load(fs::is_regular_file(beside, error) ? beside : scenario_file(name));
      job.scenario = read_scenario(source);
      digest_.add(source.text());
      if (job.scenario.workload) add_files_of(*job.scenario.workload, digest_);
    } catch (InputError const& error) {
      reader.fail(*reader.node("scenario"), error.what());
    }
  }

  void read_limits(MapReader& reader) {
    brief_.limits.price = at_most<Money>(reader, "price", parse_money);
    brief_.limits.power = at_most<Watts>(reader, "power", parse_watts);
    std::vector<std::string> names;
    for (auto const& job : brief_.jobs) names.push_back(job.name);
    for (auto& limit : reader.maps("jobs")) {
      JobLimit found{limit.text("job").value_or(""),
                     at_most<Seconds>(limit, "time", parse_seconds).value_or(Seconds(0))};
      if (std::find(names.begin(), names.end(), found.job) == names.end())
        limit.fail(limit.self(), fmt::format("no job is called '{}'{}", found.job, did_you_mean(found.job, names)));
      brief_.limits.jobs.push_back(std::move(found));
    }
  }

  SourceText const& source_;
  fs::path folder_;
  Diagnostics diagnostics_;
  Digest digest_;  // of the job that is read
  DesignBrief brief_;
};

}  // namespace

MapSpec const& design_brief_spec() {
  static MapSpec const spec{
      "design",
      {{.name = "lanewise", .type = ValueType::Word, .doc = "design/1", .required = true, .words = {"design/1"}},
       {.name = "design", .type = ValueType::Id, .doc = "its name", .required = true},
       text_field("title", "what is bought, in a sentence"),
       {.name = "candidates",
        .type = ValueType::List,
        .doc = "what could be bought",
        .required = true,
        .map = &candidate_spec(),
        .item = ValueType::Map},
       {.name = "jobs",
        .type = ValueType::List,
        .doc = "what it is bought for",
        .required = true,
        .map = &design_job_spec(),
        .item = ValueType::Map},
       text_field("library",
                  "by whose collectives candidates are ranked: nccl, nccl-VERSION, rccl, best; both are shown; "
                  "of AMD's GPUs rccl instead of nccl; best when absent"),
       text_field("prices", "a file with prices, `lanewise: prices/1`"),
       {.name = "limits", .type = ValueType::Map, .doc = "what no candidate may exceed", .map = &limits_spec()},
       {.name = "faults",
        .type = ValueType::Word,
        .doc = "each: every component lost or halved, one at a time; pairs: every two of them; none when absent",
        .words = {kFaultScopes.begin(), kFaultScopes.end()}},
       flag_field("sensitivity", "move every figure through its range, and say how sure the ranking is")}};
  return spec;
}

std::string_view to_string(FaultScope scope) { return kFaultScopes[static_cast<std::size_t>(scope)]; }

Parsed<FaultScope> parse_fault_scope(std::string_view text) {
  return parse_word<FaultScope>(text, kFaultScopes, "a choice of failures");
}

DesignBrief read_design_brief(SourceText const& source) { return BriefReader(source).read(); }

DesignJob job_named(std::string const& text) {
  auto const colon = text.find(':');
  auto const word = text.substr(0, colon);
  auto const names = collective_op_names();
  if (std::find(names.begin(), names.end(), word) != names.end()) {
    auto const bytes = parse_bytes(colon == std::string::npos ? "1 GiB" : std::string_view(text).substr(colon + 1));
    if (!bytes.value) throw InputError(fmt::format("job '{}': {}", text, bytes.problem));
    auto scenario = collective_of_all(*parse_collective_op(word).value, *bytes.value);
    return {scenario.name, scenario, 1, digest_of(scenario.name)};
  }
  auto const source = SourceText::load(scenario_file(text));
  DesignJob job{{}, read_scenario(source)};
  job.name = job.scenario.name;
  Digest digest;
  digest.add(source.text());
  if (job.scenario.workload) add_files_of(*job.scenario.workload, digest);
  job.digest = digest.text();
  return job;
}

}  // namespace lanewise
