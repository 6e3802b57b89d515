#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/io/json.hpp"
#include "core/io/spelling.hpp"
#include "core/io/yaml.hpp"
#include "core/verdict/baseline.hpp"

namespace lanewise {
namespace {

using Json = nlohmann::ordered_json;
using Path = std::vector<std::string>;  // keys, and the numbers of items

// The node at a path, or the last on the way to it that is there.
YamlNode const& node_at(YamlNode const& root, Path const& path) {
  auto const* node = &root;
  for (auto const& step : path) {
    auto const* next = node->find(step);
    for (std::size_t i = 0; node->kind == YamlKind::Sequence && i < node->items.size(); ++i)
      if (step == fmt::format("{}", i)) next = &node->items[i];
    if (next == nullptr) break;
    node = next;
  }
  return *node;
}

// The same as a tree with places, which the JSON library does not know: JSON is YAML, too. Nothing where our YAML is
// stricter.
std::optional<YamlNode> with_places(SourceText const& source) {
  try {
    return parse_yaml(source);
  } catch (InputError const&) {
    return std::nullopt;
  }
}

// Only a file that is wrong is read twice.
[[noreturn]] void refuse(SourceText const& source, Path const& path, std::string const& message) {
  auto const root = with_places(source);
  if (!root) refuse_at(source.whole(), fmt::format("{}: {}", fmt::join(path, "/"), message));
  auto const& node = node_at(*root, path);
  throw InputError(
      std::vector<Diagnostic>{{{source.name(), node.line, node.column}, message, std::string(source.line(node.line))}});
}

// A value of the file, and how one comes to it. A value of a wrong kind is an error at its place.
class JsonPlace {
 public:
  JsonPlace(SourceText const& source, Json const& json, Path path = {})
      : source_(source), json_(json), path_(std::move(path)) {}

  [[nodiscard]] bool has(std::string const& key) const { return json_.is_object() && json_.contains(key); }
  [[nodiscard]] JsonPlace at(std::string const& key) const {
    if (!json_.is_object()) wrong("an object");
    auto path = path_;
    if (!json_.contains(key)) fail(fmt::format("the key '{}' is missing{}", key, misspelt(key)));
    path.push_back(key);
    return {source_, json_[key], std::move(path)};
  }
  [[nodiscard]] std::vector<JsonPlace> items_of(std::string const& key) const {
    std::vector<JsonPlace> items;
    if (!has(key)) return items;
    auto const list = at(key);
    if (!list.json_.is_array()) list.wrong("a list");
    for (std::size_t i = 0; i < list.json_.size(); ++i) {
      auto path = list.path_;
      path.push_back(fmt::format("{}", i));
      items.emplace_back(source_, list.json_[i], std::move(path));
    }
    return items;
  }
  [[nodiscard]] std::string text(std::string const& key) const {
    auto const value = at(key);
    if (!value.json_.is_string()) value.wrong("a text");
    return value.json_.get<std::string>();
  }
  [[nodiscard]] bool flag(std::string const& key) const {
    auto const value = at(key);
    if (!value.json_.is_boolean()) value.wrong("true or false");
    return value.json_.get<bool>();
  }
  [[nodiscard]] Seconds time(std::string const& key) const { return at(key).time(); }
  [[nodiscard]] Seconds time() const {
    constexpr double kMaxMicroseconds = 1e15;  // as the longest time that scenarios may have
    if (!json_.is_number() || !(json_.get<double>() >= 0 && json_.get<double>() <= kMaxMicroseconds))
      wrong("a number of microseconds, from 0 to 1e15,");
    return from_microseconds(json_.get<double>());
  }
  [[nodiscard]] Bytes size(std::string const& key) const {
    auto const value = at(key);
    if (!value.json_.is_number()) value.wrong("a number of bytes");
    try {
      return size_from(value.json_);
    } catch (InputError const&) {
      value.wrong("a whole number of bytes");
    }
  }
  // The text of a key that is one of some words.
  [[nodiscard]] std::string word(std::string const& key, std::vector<std::string> const& words) const {
    auto const found = text(key);
    if (std::find(words.begin(), words.end(), found) == words.end())
      at(key).fail(fmt::format("'{}' is not allowed as '{}'{} allowed: {}", found, key,
                               did_you_mean_first(found, words), fmt::join(words, ", ")));
    return found;
  }
  [[nodiscard]] TimeRange range(std::string const& key) const {
    auto const ends = items_of(key);
    if (ends.size() != 2) at(key).wrong("a list of two times");
    return {ends[0].time(), ends[1].time()};
  }

 private:
  [[noreturn]] void fail(std::string const& message) const { refuse(source_, path_, message); }
  [[noreturn]] void wrong(std::string_view wanted) const {
    fail(fmt::format("{} is needed here, not {}", wanted, json_.is_structured() ? json_.type_name() : json_.dump()));
  }
  // The key that is there and is nearest to a missing one.
  [[nodiscard]] std::string misspelt(std::string const& key) const {
    std::vector<std::string> there;
    for (auto const& [name, value] : json_.items()) there.push_back(name);
    auto const nearest = nearest_spelling(key, there);
    return nearest.empty() ? "" : fmt::format("; '{}' is there: did you mean '{}'?", nearest, key);
  }

  SourceText const& source_;
  Json const& json_;
  Path path_;
};

void read_work(JsonPlace const& run, RunSummary& summary) {
  auto const bytes_of = [](JsonPlace const& place) {
    return place.has("bytes") ? std::optional(place.size("bytes")) : std::nullopt;
  };
  for (auto const& item : run.items_of("decisions"))
    summary.work.push_back({item.text("transfer"), item.text("mechanism"), bytes_of(item)});
  for (auto const& item : run.items_of("collectives"))
    summary.work.push_back({item.text("id"), item.text("algorithm"), bytes_of(item)});
  if (run.has("algorithm")) summary.work.push_back({"", run.text("algorithm"), bytes_of(run)});
}

// Files of earlier versions do not say whether a run passed: its expectations do, and a run that failed was expected to
// where the scenario passed.
bool passed(JsonPlace const& scenario, JsonPlace const& run, RunSummary const& summary) {
  if (run.has("passed")) return run.flag("passed");
  if (run.has("failure") && !scenario.flag("passed")) return false;
  auto const results = scenario.items_of("results");
  return std::none_of(results.begin(), results.end(), [&](JsonPlace const& result) {
    return !result.has("not_judged") && result.text("machine") == summary.machine &&
           result.text("variant") == summary.variant && !result.flag("passed");
  });
}

RunSummary read_run(JsonPlace const& scenario, JsonPlace const& run) {
  RunSummary summary;
  summary.scenario = scenario.text("scenario");
  summary.machine = run.text("machine");
  summary.variant = run.text("variant");
  summary.measured = scenario.word("mode", {"sim", "estimate", "hw"}) == "hw";
  if (scenario.has("file")) summary.pos.file = scenario.text("file");
  summary.passed = passed(scenario, run, summary);
  summary.timed = !run.has("not_judged");
  if (run.has("failure") || run.has("skipped")) return summary;
  summary.makespan = run.time("makespan_us");
  if (run.has("makespan_noise_us")) summary.noise = run.range("makespan_noise_us");
  read_work(run, summary);
  return summary;
}

}  // namespace

Baseline read_baseline(SourceText const& source) {
  auto const json = parse_json(source, "verdict/1");
  JsonPlace const root(source, json);
  Baseline baseline{source.name(), {}, !root.has("stopped")};
  (void)root.at("scenarios");  // a file without any is no verdict
  for (auto const& scenario : root.items_of("scenarios"))
    for (auto const& run : scenario.items_of("runs")) baseline.runs.push_back(read_run(scenario, run));
  return baseline;
}

}  // namespace lanewise
