#include "explore/exploration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

#include "core/design/evaluation.hpp"
#include "core/design/faults.hpp"
#include "core/io/argument.hpp"
#include "core/io/interrupt.hpp"
#include "core/io/json.hpp"
#include "core/machine/setting_value.hpp"
#include "core/view/machine/machine_json.hpp"
#include "explore/machine_files.hpp"
#include "lanewise/explain/choice_explanation.hpp"
#include "lanewise/explain/matrix.hpp"
#include "lanewise/explain/places.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/machine/machine_file.hpp"
#include "lanewise/planner/libraries/library_name.hpp"

namespace lanewise {
namespace {

using Json = Exploration::Json;

constexpr std::array<std::string_view, 6> kWanted{"machine", "matrix", "route", "jobs", "faults", "yaml"};

// ---------------------------------------------------------------------------------------------------- requests
void refuse_other_keys(Json const& request, std::initializer_list<std::string_view> keys) {
  if (!request.is_object()) throw InputError("a request is a JSON object");
  for (auto const& [key, value] : request.items())
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      throw InputError(fmt::format("a request of this kind has no key '{}'; keys: {}", key, fmt::join(keys, ", ")));
}

template <class T>
T value_of(Json const& request, std::string const& key, std::optional<T> absent = {}) {
  auto const found = request.find(key);
  if (found == request.end()) {
    if (absent) return *absent;
    throw InputError(fmt::format("the request has no '{}'", key));
  }
  try {
    return found->get<T>();
  } catch (Json::exception const&) {
    throw InputError(fmt::format("'{}' of the request has a value of the wrong type", key));
  }
}

// ---------------------------------------------------------------------------------------------------- errors
// `of`: text, setting, matrix, route, jobs
void add_errors(Json& errors, std::string_view of, InputError const& error) {
  if (error.diagnostics().empty()) errors.push_back({{"of", of}, {"message", error.what()}});
  for (auto const& one : error.diagnostics()) {
    errors.push_back({{"of", of}, {"message", one.message}});
    if (one.pos.line > 0) {
      errors.back()["file"] = one.pos.file;
      errors.back()["line"] = one.pos.line;
      errors.back()["column"] = one.pos.column;
    }
  }
}

void add_time(Json& answer, std::string const& name, std::chrono::steady_clock::time_point begun) {
  std::chrono::duration<double, std::micro> const took = std::chrono::steady_clock::now() - begun;
  answer["took_us"][name] = took.count();
}

// Runs what may have no answer on this machine; then `errors` says why.
template <class Find>
void add_answer(Json& answer, std::string const& name, Find const& find) {
  auto const begun = std::chrono::steady_clock::now();
  try {
    answer[name] = find();
  } catch (InputError const& error) {
    add_errors(answer["errors"], name, error);
  } catch (PlanError const& error) {
    answer["errors"].push_back({{"of", name}, {"message", error.what()}});
  }
  add_time(answer, name, begun);
}

// ---------------------------------------------------------------------------------------------------- answers
Json matrix_of(Model const& model, Bytes bytes, Op op) {
  auto const& machine = model.machine();
  MatrixQuery query;
  query.bytes = bytes;
  query.op = op;
  for (auto const gpu : machine.all(PciKind::Gpu)) query.places.emplace_back(gpu);
  if (query.places.size() > kMaxPlacesDrawn)
    return matrix_json(make_matrix_by_class(model, query, nullptr), machine.name);
  return matrix_json(make_matrix(model, query, nullptr), machine.name);
}

Json faults_of(Machine const& machine) {
  Json found = Json::array();
  for (auto const& fault : single_faults(machine)) {
    Json settings = Json::array();
    for (auto const& one : fault.settings) settings.push_back(text_of(one));
    found.push_back({{"what", fault.what}, {"settings", std::move(settings)}});
  }
  return found;
}

Json job_json(std::string const& name, JobEvaluation const& found) {
  Json json{{"name", name}};
  if (!found.figures) {
    json["failure"] = found.failure;
    return json;
  }
  auto const& figures = *found.figures;
  json["time_us"] = microseconds(figures.time);
  if (figures.bus_bandwidth) json["bus_bandwidth_GBps"] = gigabytes_per_second(*figures.bus_bandwidth);
  if (figures.tokens_per_second) json["tokens_per_second"] = *figures.tokens_per_second;
  if (!figures.bottleneck.empty()) json["busiest"] = figures.bottleneck;
  return json;
}

}  // namespace

OpenedMachine open_machine(Catalogue& catalogue, std::string const& name_or_file) {
  auto const machine = catalogue.machine(name_or_file);  // names what is wrong with it
  auto const file = catalogue.file_named(name_or_file).value_or(name_or_file);
  return {machine.name, file.string(), SourceText::load(file).text(), {}};
}

Exploration::Exploration(Catalogue& catalogue, std::vector<OpenedMachine> opened, std::vector<DesignJob> jobs,
                         std::filesystem::path folder)
    : catalogue_(catalogue), opened_(std::move(opened)), jobs_(std::move(jobs)), folder_(std::move(folder)) {}

Json Exploration::start() {
  kept_ = {};  // files beside a cluster's may have changed
  Json json{{"lanewise", "explore/1"}};
  json["opened"] = Json::array();
  for (auto const& one : opened_) json["opened"].push_back({{"name", one.name}, {"settings", one.settings}});
  json["files"] = machine_files(folder_);
  json["machines"] = catalogue_.machine_names();
  json["clusters"] = catalogue_.cluster_names();
  json["jobs"] = Json::array();
  for (auto const& job : jobs_) json["jobs"].push_back(job.name);
  json["parts"] = Json::object();
  for (auto const& name : catalogue_.part_names())
    json["parts"][std::string(to_string(catalogue_.part(name)->kind))].push_back(name);
  return json;
}

Json Exploration::open(Json const& request) {
  refuse_other_keys(request, {"name"});
  auto const name = value_of<std::string>(request, "name");
  auto const answer = [](OpenedMachine const& one) {
    return Json{{"name", one.name}, {"file", one.file}, {"text", one.text}, {"settings", one.settings}};
  };
  for (auto const& one : opened_)
    if (one.name == name) return answer(one);
  if (auto const file = catalogue_.file_named(name)) return answer({name, file->string(), read_file(*file), {}});
  return answer({name, name, SourceText::load(machine_file_in(folder_, name)).text(), {}});
}

Exploration::Kept const& Exploration::prepared(std::string const& file, std::string const& text,
                                               std::vector<std::string> const& settings) {
  auto const key = Json{file, text, settings}.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (kept_.key == key) return kept_;
  kept_ = {};
  Kept made{key, Json::array(), nullptr};
  try {
    auto machine = catalogue_.machine_from(SourceText::from_memory(file, text));
    for (auto const& setting : settings) {
      try {
        apply_setting(machine, parse_setting(setting), catalogue_);
      } catch (InputError const& error) {
        add_errors(made.errors, "setting", error);
        made.errors.back()["setting"] = setting;
      }
    }
    made.model = std::make_unique<Model const>(std::move(machine));
  } catch (InputError const& error) {
    add_errors(made.errors, "text", error);
  }
  return kept_ = std::move(made);
}

Json Exploration::jobs(Model const& model, std::string const& bytes, std::string const& library) {
  Approach approach;
  if (library != "best") approach.library = argument(parse_library(library));
  auto jobs = jobs_;
  if (jobs.empty())
    for (auto const* op : {"all_reduce", "all_gather", "all_to_all"})
      jobs.push_back(job_named(fmt::format("{}:{}", op, bytes)));
  Json json = Json::array();
  auto const find = [&](std::string const& name) { return catalogue_.machine(name); };
  for (auto const& job : jobs)
    json.push_back(job_json(job.name, evaluate_job(job.scenario, model, approach, find, {})));
  return json;
}

Json Exploration::evaluate(Json const& request) {
  refuse_other_keys(request, {"file", "text", "settings", "bytes", "op", "library", "from", "to", "want"});
  auto const size = value_of<std::string>(request, "bytes", "256 MiB");
  auto const bytes = argument(parse_bytes(size));
  if (bytes == Bytes(0)) throw InputError("a transfer has more than 0 bytes");
  auto const op = argument(parse_op(value_of<std::string>(request, "op", "copy")));
  auto const library = value_of<std::string>(request, "library", "best");
  auto const from = value_of<std::string>(request, "from", "");
  auto const to = value_of<std::string>(request, "to", "");
  auto const want = value_of<std::vector<std::string>>(request, "want");
  for (auto const& one : want)
    if (std::find(kWanted.begin(), kWanted.end(), one) == kWanted.end())
      throw InputError(fmt::format("'{}' cannot be wanted; wanted are: {}", one, fmt::join(kWanted, ", ")));
  auto const file = value_of<std::string>(request, "file");
  auto const text = value_of<std::string>(request, "text");
  auto const settings = value_of<std::vector<std::string>>(request, "settings", std::vector<std::string>());

  Json answer{{"lanewise", "exploration/1"}, {"errors", Json::array()}, {"took_us", Json::object()}};
  auto const begun = std::chrono::steady_clock::now();
  auto const& kept = prepared(file, text, settings);
  answer["errors"] = kept.errors;
  answer["places"] = kept.model == nullptr ? Json::array() : Json(all_endpoints(kept.model->machine()));
  add_time(answer, "places", begun);
  if (kept.model == nullptr) return answer;
  auto const& model = *kept.model;
  auto const& machine = model.machine();
  auto const find = [&](std::string const& wanted) -> Json {
    if (wanted == "machine") return machine_json(machine);
    if (wanted == "matrix") return matrix_of(model, bytes, op);
    if (wanted == "jobs") return jobs(model, size, library);
    if (wanted == "faults") return faults_of(machine);
    if (wanted == "yaml") return write_machine(machine);
    auto const pair = explain_pair(machine, from, to, bytes, op);
    return why_json(pair.choice, pair.machine);
  };
  for (auto const& wanted : want) {
    add_answer(answer, wanted, [&] { return find(wanted); });
    throw_if_interrupted();  // what was stopped may be incomplete
  }
  return answer;
}

Json Exploration::save(Json const& request) {
  refuse_other_keys(request, {"file", "text", "replace"});
  auto const name = value_of<std::string>(request, "file");
  auto const file = machine_file_in(folder_, name);
  auto const text = value_of<std::string>(request, "text");
  catalogue_.machine_from(SourceText::from_memory(file.string(), text));
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(file, error))) {
    if (!is_machine_file(file)) throw InputError(fmt::format("{} is there, and holds no machine or cluster", name));
    if (!value_of<bool>(request, "replace", false)) return {{"exists", name}};
  }
  write_file(file, text);
  kept_ = {};
  return {{"saved", name}};
}

}  // namespace lanewise
