#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/io/json.hpp"
#include "core/machine/setting_value.hpp"
#include "core/view/design_text.hpp"

namespace lanewise {
namespace {

using Json = nlohmann::ordered_json;

Json job_json(JobResult const& job) {
  Json json;
  if (!job.figures) return {{"failure", job.failure}};
  json["time_us"] = microseconds(job.figures->time);
  if (auto const& range = job.figures->range) json["range_us"] = {microseconds(range->low), microseconds(range->high)};
  if (job.best) json["best_us"] = microseconds(*job.best);
  json["ratio"] = job.ratio;
  if (job.figures->bus_bandwidth) json["bus_bandwidth_GBps"] = gigabytes_per_second(*job.figures->bus_bandwidth);
  if (job.figures->tokens_per_second) json["tokens_per_second"] = *job.figures->tokens_per_second;
  json["busiest"] = job.figures->bottleneck;
  return json;
}

Json money_json(Money const& money) { return {{"amount", money.amount}, {"currency", money.currency}}; }

Json bill_json(Bill const& bill) {
  Json json;
  auto& parts = json["parts"] = Json::array();
  for (auto const& line : bill.lines) {
    Json one{{"part", line.part}, {"kind", line.kind}, {"count", line.count}};
    if (line.power) one["power_W"] = line.power->value();
    if (line.price) one["price"] = money_json(*line.price);
    parts.push_back(std::move(one));
  }
  auto& cables = json["cables"] = Json::array();
  for (auto const& cable : bill.cables) {
    Json one{{"what", cable.what}, {"count", cable.count}, {"rate_GBps", gigabytes_per_second(cable.rate)}};
    if (cable.price) one["price"] = money_json(*cable.price);
    cables.push_back(std::move(one));
  }
  auto& lanes = json["lanes"] = Json::array();
  for (auto const& lane : bill.lanes) {
    Json one{{"owner", lane.owner}, {"used", lane.used}};
    if (lane.there) one["there"] = *lane.there;
    lanes.push_back(std::move(one));
  }
  json["without_power"] = bill.without_power;
  json["without_price"] = bill.without_price;
  return json;
}

Json candidate_json(CandidateResult const& result, std::vector<DesignJob> const& jobs) {
  Json json{{"candidate", result.candidate.name}, {"machine", result.candidate.machine}};
  if (!result.candidate.source.empty()) json["generated"] = true;
  if (!result.failure.empty()) {
    json["failure"] = result.failure;
    return json;
  }
  json["gpus"] = result.gpus;
  json["detailed"] = result.is_final;
  if (!result.beaten_by.empty()) json["beaten_by"] = result.beaten_by;
  json["score"] = result.score;
  json["on_front"] = result.on_front;
  json["meets_limits"] = result.meets_limits();
  json["broken_limits"] = result.broken_limits;
  if (result.bill.price) json["price"] = money_json(*result.bill.price);
  if (result.power)
    json["power_W"] = result.power->value();
  else
    json["power_at_least_W"] = result.bill.power.value();
  auto const& pairs = result.pairs;
  if (pairs.worst_pair_rate) {
    json["slowest_pair"] = pairs.worst_pair;
    json["slowest_pair_GBps"] = gigabytes_per_second(*pairs.worst_pair_rate);
  }
  if (pairs.bisection) json["bisection_GBps"] = gigabytes_per_second(*pairs.bisection);
  auto& of_jobs = json["jobs"] = Json::object();
  for (std::size_t j = 0; j < jobs.size(); ++j) of_jobs[jobs[j].name] = job_json(result.jobs[j]);
  json["bill"] = bill_json(result.bill);
  if (result.faults) json["faults"] = faults_json(*result.faults, jobs);
  return json;
}

std::string csv_cell(std::string text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) text.insert(at, "\"");
  return "\"" + text + "\"";
}

}  // namespace

Json faults_json(FaultReport const& report, std::vector<DesignJob> const& jobs) {
  Json json{{"lanewise", "fault_report/1"},
            {"machine", report.machine},
            {"failures_at_once", report.scope == FaultScope::Pairs ? 2 : 1},
            {"resilience", report.resilience},
            {"worst", report.worst_kept}};
  auto& weights = json["weights"] = Json::object();
  for (auto const& job : jobs) weights[job.name] = job.weight;
  auto& losses = json["losses"] = Json::array();
  for (auto const& loss : report.losses) {
    auto settings = Json::array();
    for (auto const& setting : loss.fault.settings) settings.push_back(text_of(setting));
    Json one{{"settings", std::move(settings)}, {"what", loss.fault.what}, {"alike", loss.alike}, {"kept", loss.kept}};
    auto& ratios = one["ratios"] = Json::object();
    for (std::size_t j = 0; j < jobs.size(); ++j)
      ratios[jobs[j].name] = loss.ratios[j] ? Json(*loss.ratios[j]) : Json(nullptr);
    if (!loss.impossible.empty()) one["impossible"] = loss.impossible;
    losses.push_back(std::move(one));
  }
  return json;
}

Json design_json(DesignComparison const& all) {
  Json json{{"lanewise", "design_result/1"},
            {"design", all.design},
            {"library", all.library},
            {"mode", all.simulated ? "sim" : "estimate"}};
  if (!all.title.empty()) json["title"] = all.title;
  auto& weights = json["weights"] = Json::object();
  for (auto const& job : all.jobs) weights[job.name] = job.weight;
  if (auto const& generated = all.generated; generated.combinations > 0)
    json["generated"] = {{"combinations", generated.combinations},
                         {"candidates", generated.candidates},
                         {"equivalent", generated.equivalent},
                         {"excluded", generated.excluded}};
  auto& candidates = json["candidates"] = Json::array();
  for (auto const& result : all.candidates) candidates.push_back(candidate_json(result, all.jobs));
  if (all.sensitivity) {
    auto const& found = *all.sensitivity;
    auto& sensitivity = json["sensitivity"];
    sensitivity["draws"] = found.draws;
    sensitivity["seed"] = found.seed;
    auto& duels = sensitivity["duels"] = Json::array();
    for (auto const& duel : found.duels)
      duels.push_back({{"first", all.candidates[duel.first].candidate.name},
                       {"second", all.candidates[duel.second].candidate.name},
                       {"share", duel.share}});
    auto& swings = sensitivity["figures"] = Json::array();
    for (auto const& swing : found.swings)
      swings.push_back({{"figure", parameter_ranges()[static_cast<std::size_t>(swing.parameter)].name},
                        {"at_low", swing.at_low},
                        {"at_high", swing.at_high},
                        {"decides", swing.decides()},
                        {"measured_by", measurement_of(swing.parameter)}});
  }
  return json;
}

std::string design_csv(DesignComparison const& all) {
  std::string text =
      "candidate,job,weight,time_us,best_us,bus_bandwidth_GBps,tokens_per_second,ratio,score,price,currency,power_W,on_"
      "front,meets_limits,low_us,high_us,detailed,beaten_by\n";
  for (auto const& result : all.candidates)
    for (std::size_t j = 0; j < result.jobs.size(); ++j) {
      auto const& job = result.jobs[j];
      auto const number = [](auto const& value) { return value ? fmt::format("{}", *value) : std::string(); };
      std::optional<double> time;
      std::optional<double> best;
      std::optional<double> bus;
      std::optional<double> tokens;
      std::optional<double> low;
      std::optional<double> high;
      if (job.figures && job.figures->range) {
        low = microseconds(job.figures->range->low);
        high = microseconds(job.figures->range->high);
      }
      if (job.figures) {
        time = microseconds(job.figures->time);
        if (job.figures->bus_bandwidth) bus = gigabytes_per_second(*job.figures->bus_bandwidth);
        tokens = job.figures->tokens_per_second;
      }
      if (job.best) best = microseconds(*job.best);
      auto const& price = result.bill.price;
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_cell(result.candidate.name),
                          csv_cell(all.jobs[j].name), all.jobs[j].weight, number(time), number(best), number(bus),
                          number(tokens), job.ratio, result.score, price ? fmt::format("{}", price->amount) : "",
                          price ? price->currency : "", result.power ? fmt::format("{}", result.power->value()) : "",
                          result.on_front, result.meets_limits(), number(low), number(high), result.is_final,
                          csv_cell(result.beaten_by));
    }
  return text;
}

}  // namespace lanewise
