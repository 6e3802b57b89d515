#include "core/view/workload_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "core/io/json.hpp"
#include "core/text/percent.hpp"
#include "core/text/table.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

using Json = nlohmann::ordered_json;

// "tp 8 x pp 4 x dp 4": what divides the work.
std::string parallel_words(Parallelism const& p) {
  std::vector<std::string> words;
  auto const add = [&](char const* name, int size) {
    if (size > 1) words.push_back(fmt::format("{} {}", name, size));
  };
  add("tp", p.tp);
  add("cp", p.cp);
  add("pp", p.pp);
  add("dp", p.dp);
  auto text = words.empty() ? "one rank" : fmt::format("{} ranks: {}", p.ranks(), fmt::join(words, " x "));
  if (p.ep > 1) text += fmt::format(", ep {}", p.ep);
  if (p.sp) text += ", sequence parallel";
  if (p.vpp > 1) text += fmt::format(", {} chunks a stage", p.vpp);
  if (p.zero > 0) text += fmt::format(", zero {}", p.zero);
  return text;
}

std::string batch_words(Workload const& workload) {
  auto const& b = workload.batch;
  auto text = workload.mode == WorkloadMode::Train
                  ? fmt::format("{} sequences of {} tokens a step, {} micro-batches of {} a replica", b.global,
                                b.sequence, micro_batches(workload), b.micro)
                  : fmt::format("{} at once, prompts of {} tokens", b.concurrency, b.prompt);
  if (b.prefix_hit > 0) text += fmt::format(", {} of them cached", percent_text(b.prefix_hit, 0));
  return text;
}

std::string heading(Workload const& workload) {
  if (auto const& trace = workload.trace)
    return fmt::format("trace {}; {} ranks\n{} nodes of rank 0\n\n", trace->file, trace->ranks,
                       trace->trace.nodes.size());
  return fmt::format("{}, {}; {}\n{}\n\n", workload.model.title, to_string(workload.mode),
                     parallel_words(workload.parallel), batch_words(workload));
}

// "134 MB", decimal as rates are.
std::string size_words(double bytes) {
  for (auto const& [unit, name] : {std::pair{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}})
    if (bytes >= unit) return fmt::format("{:.3g} {}", bytes / unit, name);
  return fmt::format("{:.0f} B", bytes);
}
std::string size_words(Bytes bytes) { return size_words(static_cast<double>(bytes.value())); }

std::size_t group_size(Workload const& workload, TrafficPattern const& pattern) {
  return rank_groups_of(pattern, workload).front().size();
}

std::string count_words(double count) {
  if (count > 0 && count < 1) return fmt::format("{:.2g}", count);
  return count == static_cast<double>(static_cast<std::int64_t>(count)) ? fmt::format("{:.0f}", count)
                                                                        : fmt::format("{:.1f}", count);
}

Json pattern_json(TrafficPattern const& pattern, std::size_t group_size) {
  return {{"id", pattern.id},
          {"what", pattern.what},
          {"exchange", to_string(pattern.exchange)},
          {"among", to_string(pattern.among)},
          {"group_size", group_size},
          {"bytes", pattern.bytes.value()},
          {"count", pattern.count},
          {"phase", to_string(pattern.phase)},
          {"wire_bytes", wire_bytes_per_step(pattern, group_size)}};
}

Json workload_json(Workload const& workload) {
  if (auto const& trace = workload.trace)
    return {{"trace", trace->file}, {"ranks", trace->ranks}, {"nodes", trace->trace.nodes.size()}};
  auto const& p = workload.parallel;
  return {{"model", workload.model.name},
          {"mode", to_string(workload.mode)},
          {"ranks", p.ranks()},
          {"parallel",
           {{"tp", p.tp},
            {"sp", p.sp},
            {"cp", p.cp},
            {"pp", p.pp},
            {"vpp", p.vpp},
            {"dp", p.dp},
            {"zero", p.zero},
            {"ep", p.ep}}},
          {"micro_batches", micro_batches(workload)},
          {"tokens_at_once", tokens_at_once(workload)}};
}

// "order tp-dp-pp, the fastest of 6 by estimate; tp-pp-dp would take 3.1 s instead of 2.8 s".
std::string searched_words(SearchedOrder const& searched) {
  if (searched.tried == 1) return fmt::format("order {}: there is no other\n", searched.order);
  auto text = fmt::format("order {}, the fastest of {} by estimate", searched.order, searched.tried);
  if (!searched.step_as_default)
    text += fmt::format("; {} cannot be done", searched.default_order);
  else if (searched.default_order != searched.order)
    text += fmt::format("; {} would take {} instead of {}", searched.default_order,
                        rounded_text(*searched.step_as_default), rounded_text(searched.step));
  return text + "\n";
}

Json searched_json(SearchedOrder const& searched) {
  Json json{{"taken", searched.order}, {"tried", searched.tried}, {"estimated_step_us", microseconds(searched.step)}};
  if (searched.step_as_default) json["estimated_step_as_default_us"] = microseconds(*searched.step_as_default);
  return json;
}

// "time to the first token" and the like.
std::string_view step_name(WorkloadMode mode) {
  switch (mode) {
    case WorkloadMode::Train: return "step";
    case WorkloadMode::Prefill: return "first token after";
    case WorkloadMode::Decode: return "time of a token";
    case WorkloadMode::KvTransfer: return "transfer";
  }
  return "step";
}

}  // namespace

std::string traffic_text(Workload const& workload, std::vector<TrafficPattern> const& traffic) {
  Table table({"traffic", "exchange", "among", "size", "a step", "a rank sends", "when", "what"});
  table.align_left(7);
  for (auto const& pattern : traffic) {
    auto const size = group_size(workload, pattern);
    auto const among = pattern.exchange == Exchange::PrefillToDecode ? std::string("prefill to decode")
                       : size == 1                                   ? std::string(to_string(pattern.among))
                                   : fmt::format("{} {}", to_string(pattern.among), size);
    table.add({pattern.id, std::string(to_string(pattern.exchange)), among, size_words(pattern.bytes),
               count_words(pattern.count), size_words(wire_bytes_per_step(pattern, size)),
               std::string(to_string(pattern.phase)), pattern.what});
  }
  return heading(workload) + (traffic.empty() ? "nothing goes between its ranks\n" : table.text());
}

Json traffic_json(Workload const& workload, std::vector<TrafficPattern> const& traffic) {
  Json json{{"lanewise", "workload/1"}};
  json.update(workload_json(workload));
  auto& patterns = json["traffic"] = Json::array();
  for (auto const& pattern : traffic) patterns.push_back(pattern_json(pattern, group_size(workload, pattern)));
  return json;
}

std::string step_text(Workload const& workload, StepTime const& step, std::string const& machine,
                      std::string const& library) {
  auto text = fmt::format("on {}, collectives by {}\n", machine, library);
  Table table(
      {"traffic", "exchange", "among", "reach", "size", "each", "bus bandwidth", "a step", "exposed", "hidden"});
  for (auto const& [time, exposed, hidden] : step.patterns) {
    auto const& pattern = time.pattern;
    table.add({pattern.id, std::string(to_string(pattern.exchange)),
               fmt::format("{} x {}", time.groups, time.group_size), time.reach, size_words(pattern.bytes),
               rounded_text(time.each), rounded_text(time.bus_bandwidth), count_words(pattern.count),
               rounded_text(exposed), rounded_text(hidden)});
  }
  if (!step.patterns.empty()) text += table.text();
  auto const share = [&](Seconds part) {
    return fmt::format("{} ({})", rounded_text(part), percent_text(part / step.step, 1));
  };
  text += "\n";
  if (workload.mode != WorkloadMode::KvTransfer) {
    text += fmt::format("computing {}, {}", share(step.computing), step.computing_by);
    if (step.mfu > 0 && step.computing_by.find("mfu") == std::string::npos)
      text += fmt::format(", which is an mfu of {}", percent_text(step.mfu));
    text += fmt::format("\nexposed communication {}", share(step.exposed));
    if (step.idle > Seconds(0))
      text += fmt::format("\n{} {}", workload.trace ? "neither of both" : "idle pipeline", share(step.idle));
    text += "\n";
  }
  if (step.searched) text += searched_words(*step.searched);
  for (auto const& note : step.notes) text += note + "\n";
  text += fmt::format("{} {}", step_name(workload.mode), rounded_text(step.step));
  if (!workload.trace) text += fmt::format(", {:.4g} tokens/s", step.tokens_per_second);
  if (step.step_mfu > 0 && workload.mode == WorkloadMode::Train)
    text += fmt::format(", mfu of the step {}", percent_text(step.step_mfu));
  text += "\n";
  if (workload.batch.request_rate) {
    auto const tokens = workload.batch.prompt * (1 - workload.batch.prefix_hit);
    bool const is_latent = workload.model.latent_key_value_size > 0;  // each GPU that decodes gets the whole
    auto one = workload;
    one.parallel = {};
    auto const copies = is_latent ? static_cast<double>(std::max<std::size_t>(1, workload.decode.size())) : 1.0;
    auto const needed = workload.batch.request_rate->value() * kv_bytes_of_rank(one, tokens) * copies;
    text += fmt::format("{} prompts a second need {} of cache on the way\n", workload.batch.request_rate->value(),
                        rounded_text(BytesPerSecond(needed)));
  }
  return text;
}

Json step_json(Workload const& workload, StepTime const& step) {
  auto json = workload_json(workload);
  auto& patterns = json["traffic"] = Json::array();
  for (auto const& [time, exposed, hidden] : step.patterns) {
    auto one = pattern_json(time.pattern, time.group_size);
    one["groups"] = time.groups;
    one["reach"] = time.reach;
    one["each_us"] = microseconds(time.each);
    one["bus_bandwidth_GBps"] = gigabytes_per_second(time.bus_bandwidth);
    one["exposed_us"] = microseconds(exposed);
    one["hidden_us"] = microseconds(hidden);
    patterns.push_back(std::move(one));
  }
  json["computing_us"] = microseconds(step.computing);
  json["computing_by"] = step.computing_by;
  if (step.mfu > 0) json["mfu"] = step.mfu;
  json["exposed_us"] = microseconds(step.exposed);
  json["idle_us"] = microseconds(step.idle);
  json["step_us"] = microseconds(step.step);
  if (step.searched) json["order"] = searched_json(*step.searched);
  if (!workload.trace) json["tokens_per_second"] = step.tokens_per_second;
  if (!step.notes.empty()) json["notes"] = step.notes;
  if (step.step_mfu > 0) json["step_mfu"] = step.step_mfu;
  return json;
}

}  // namespace lanewise
