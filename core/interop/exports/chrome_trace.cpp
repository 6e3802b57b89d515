#include "core/interop/exports/chrome_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "core/io/json.hpp"

namespace lanewise {
namespace {

using Json = nlohmann::ordered_json;

std::string process_name(Trace const& trace) {
  return fmt::format("{} ({}) on {}", trace.mode == "hw" ? "measured" : "predicted", trace.mode, trace.machine);
}

// The thread of each step: the first thread of its transfer that is free when the step starts, else a new one.
std::vector<std::size_t> threads_of(Trace const& trace, std::vector<std::string>& names) {
  std::vector<std::size_t> order(trace.steps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return trace.steps[a].start < trace.steps[b].start; });
  std::map<std::string, std::vector<std::size_t>> of_transfer;
  std::vector<Seconds> busy_until;
  std::vector<std::size_t> threads(trace.steps.size());
  for (auto const i : order) {
    auto const& step = trace.steps[i];
    auto& own = of_transfer[step.transfer];
    auto const free = std::find_if(own.begin(), own.end(), [&](auto t) { return busy_until[t] <= step.start; });
    if (free == own.end()) {
      own.push_back(names.size());
      names.push_back(step.transfer);
      busy_until.push_back(step.end);
      threads[i] = own.back();
    } else {
      busy_until[*free] = step.end;
      threads[i] = *free;
    }
  }
  return threads;
}

// "gpu0 > gpu4, reduce": of a collective all steps belong to one transfer.
std::string name_of(StepTrace const& step) {
  return step.phase.empty() ? step.transfer : fmt::format("{} > {}, {}", step.from, step.to, step.phase);
}

Json named(char const* what, std::size_t process, std::size_t thread, std::string const& name) {
  return {{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}};
}

}  // namespace

nlohmann::ordered_json chrome_trace(std::span<Trace const> traces) {
  Json json{{"lanewise", "chrome_trace/1"}, {"displayTimeUnit", "ns"}};
  auto& events = json["traceEvents"] = Json::array();
  for (std::size_t process = 0; process < traces.size(); ++process) {
    auto const& trace = traces[process];
    std::vector<std::string> names;
    auto const threads = threads_of(trace, names);
    events.push_back(named("process_name", process, 0, process_name(trace)));
    for (std::size_t thread = 0; thread < names.size(); ++thread)
      events.push_back(named("thread_name", process, thread, names[thread]));
    for (std::size_t i = 0; i < trace.steps.size(); ++i) {
      auto const& step = trace.steps[i];
      Json args{{"step", i}, {"bytes", step.bytes.value()}};
      if (step.duration() > Seconds(0)) args["bandwidth_GBps"] = gigabytes_per_second(step.rate());
      if (step.verified) args["verified"] = *step.verified;
      if (!step.to.empty()) args.update({{"from", step.from}, {"to", step.to}, {"mechanism", step.mechanism}});
      if (!step.phase.empty()) args["phase"] = step.phase;
      if (step.offset) args["offset"] = step.offset->value();
      events.push_back({{"ph", "X"},
                        {"name", name_of(step)},
                        {"ts", microseconds(step.start)},
                        {"dur", microseconds(step.duration())},
                        {"pid", process},
                        {"tid", threads[i]},
                        {"args", std::move(args)}});
    }
  }
  return json;
}

}  // namespace lanewise
