#include "core/view/design_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/text/percent.hpp"
#include "core/text/table.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

constexpr std::size_t kMaxFaults = 12;
constexpr std::size_t kMaxSwings = 8;
constexpr std::size_t kMaxReasons = 6;  // for which generated candidates are left out
constexpr double kDecided = 0.9;        // of draws

std::string watts_words(Watts power) { return fmt::format("{:.4g} kW", power.value() / 1000); }

std::string power_words(CandidateResult const& result) {
  if (result.power) return watts_words(*result.power);
  return result.bill.power > Watts(0) ? "> " + watts_words(result.bill.power) : "unknown";
}

// What a candidate costs for as much as the fastest one does.
std::string price_of_score(CandidateResult const& result) {
  if (!result.bill.price || result.score <= 0) return "";
  return to_string(Money{result.bill.price->amount / result.score, result.bill.price->currency});
}

// What the tables call candidates: generated ones by what they do not have in common.
class Labels {
 public:
  explicit Labels(std::vector<CandidateResult> const& candidates) {
    std::vector<std::vector<std::string>> names;
    for (auto const& result : candidates)
      if (result.is_final && !result.candidate.source.empty()) names.push_back(segments_of(result.candidate.name));
    if (names.size() < 2) return;
    for (auto const& segment : names.front())
      if (std::all_of(names.begin(), names.end(),
                      [&](auto const& name) { return std::find(name.begin(), name.end(), segment) != name.end(); }))
        common_.push_back(segment);
  }

  [[nodiscard]] std::string of(CandidateResult const& result) const {
    if (result.candidate.source.empty()) return result.candidate.name;
    std::vector<std::string> own;
    for (auto const& segment : segments_of(result.candidate.name))
      if (std::find(common_.begin(), common_.end(), segment) == common_.end()) own.push_back(segment);
    return own.empty() ? result.candidate.name : fmt::format("{}", fmt::join(own, "_"));
  }
  // "every generated candidate here has a, b"; empty: they have nothing in common.
  [[nodiscard]] std::string common_text() const {
    return common_.empty() ? "" : fmt::format("every generated candidate here has {}\n", fmt::join(common_, ", "));
  }

 private:
  static std::vector<std::string> segments_of(std::string const& name) {
    std::vector<std::string> segments(1);
    for (char const c : name) {
      if (c == '_')
        segments.emplace_back();
      else
        segments.back() += c;
    }
    return segments;
  }
  std::vector<std::string> common_;
};

std::string ranking_text(DesignComparison const& all, Labels const& labels) {
  Table table(
      {"candidate", "GPUs", "score", "slower than the best", "price", "price / score", "power", "front", "limits"});
  auto const best = all.candidates.empty() ? 0.0 : all.candidates.front().score;
  for (auto const& result : all.candidates) {
    if (!result.failure.empty()) {
      table.add({result.candidate.name, "", "", "", "", "", "", "", "not evaluated"});
      continue;
    }
    if (!result.is_final) continue;
    std::string limits = result.score > 0 ? "met" : "a job is impossible";
    if (!result.broken_limits.empty()) limits = fmt::format("{}", fmt::join(result.broken_limits, "; "));
    table.add({labels.of(result), std::to_string(result.gpus), fmt::format("{:.3f}", result.score),
               result.score > 0 ? fmt::format("{:.2f} x", best / result.score) : "",
               result.bill.price ? to_string(*result.bill.price) : "unknown", price_of_score(result),
               power_words(result), result.on_front ? "yes" : "no", limits});
  }
  return table.text();
}

std::string job_words(JobFigures const& figures) {
  if (figures.tokens_per_second) return fmt::format("{:.4g} tokens/s", *figures.tokens_per_second);
  if (figures.bus_bandwidth) return rounded_text(*figures.bus_bandwidth);
  return "";
}

std::string range_words(std::optional<TimeRange> const& range) {
  return range ? fmt::format("{} to {}", rounded_text(range->low), rounded_text(range->high)) : "";
}

std::string jobs_text(DesignComparison const& all, Labels const& labels) {
  bool const by_library = all.library != "best";
  std::vector<std::string> header{
      "job", "weight", "candidate", "time", "90 % range", "slower than the best", "bus bandwidth or rate", "busiest"};
  if (by_library) header.insert(header.begin() + 5, "best plan");
  Table table(header);
  table.align_left(header.size() - 1);
  for (std::size_t j = 0; j < all.jobs.size(); ++j)
    for (auto const& result : all.candidates) {
      if (!result.is_final) continue;
      auto const& job = result.jobs[j];
      std::vector<std::string> row{all.jobs[j].name, shortest_text(all.jobs[j].weight), labels.of(result)};
      if (job.figures) {
        row.push_back(rounded_text(job.figures->time));
        row.push_back(range_words(job.figures->range));
        if (by_library) row.push_back(job.best ? rounded_text(*job.best) : "");
        row.insert(row.end(), {fmt::format("{:.2f} x", job.ratio), job_words(*job.figures), job.figures->bottleneck});
      } else {
        row.emplace_back("impossible");
        row.resize(header.size() - 1);
        row.push_back(job.failure);
      }
      table.add(std::move(row));
    }
  return table.text();
}

std::string pairs_text(DesignComparison const& all, Labels const& labels) {
  Table table({"candidate", "slowest pair", "its rate", "between two halves, each way"});
  for (auto const& result : all.candidates)
    if (result.pairs.worst_pair_rate)
      table.add({labels.of(result), result.pairs.worst_pair, rounded_text(*result.pairs.worst_pair_rate),
                 result.pairs.bisection ? rounded_text(*result.pairs.bisection) : "no way"});
  return table.text();
}

std::string ratio_words(std::optional<double> const& ratio) {
  return ratio ? fmt::format("{:.2f} x", *ratio) : "impossible";
}

std::string resilience_text(DesignComparison const& all, Labels const& labels) {
  auto const study = std::find_if(all.candidates.begin(), all.candidates.end(),
                                  [](auto const& one) { return one.faults.has_value(); });
  std::string text = fmt::format("With {} lost or halved at a time:\n\n",
                                 study->faults->scope == FaultScope::Pairs ? "two components" : "one component");
  Table table({"candidate", "failures", "score that is left in the mean", "at worst", "by"});
  for (auto const& result : all.candidates)
    if (result.faults && !result.faults->losses.empty())
      table.add({labels.of(result), std::to_string(result.faults->failures), percent_text(result.faults->resilience),
                 percent_text(result.faults->worst_kept), result.faults->losses.front().fault.what});
  text += table.text();
  for (auto const& result : all.candidates)
    if (result.faults && !result.faults->why_none.empty())
      text += fmt::format("\n{}: {}\n", labels.of(result), result.faults->why_none);
    else if (result.faults)
      text += fmt::format("\n{}:\n{}", labels.of(result), faults_text(*result.faults, all.jobs));
  return text;
}

std::string_view name_of(Parameter parameter) { return parameter_ranges()[static_cast<std::size_t>(parameter)].name; }

std::string sensitivity_text(DesignComparison const& all, Labels const& labels) {
  auto const& found = *all.sensitivity;
  std::string text =
      fmt::format("How sure that is ({} draws of all ranged figures together, seed {}):\n", found.draws, found.seed);
  auto const name = [&](std::size_t i) { return labels.of(all.candidates[i]); };
  for (auto const& duel : found.duels) {
    bool const decided = duel.share >= kDecided;
    text += fmt::format("  {} beats {} in {}{}\n", name(duel.first), name(duel.second), percent_text(duel.share, 0),
                        decided ? "" : ": undecided");
  }
  if (found.swings.empty())
    return text + "  no ranged figure moves the two best against one another by more than 0.1 %\n";
  text += fmt::format("\n{} over {}, each figure at the ends of its 90 % range:\n", name(0), name(1));
  Table table({"figure", "at its lowest", "at its highest", "", "measured by"});
  table.align_left(4);
  for (std::size_t i = 0; i < found.swings.size() && i < kMaxSwings; ++i) {
    auto const& swing = found.swings[i];
    table.add({std::string(name_of(swing.parameter)), fmt::format("{:.3f}", swing.at_low),
               fmt::format("{:.3f}", swing.at_high), swing.decides() ? "decides" : "",
               std::string(measurement_of(swing.parameter))});
  }
  text += table.text();
  auto const deciding =
      std::find_if(found.swings.begin(), found.swings.end(), [](Swing const& swing) { return swing.decides(); });
  if (deciding != found.swings.end() && !found.duels.empty() && found.duels.front().share < kDecided)
    text += fmt::format("decided by {}: measure that first, by {}\n", name_of(deciding->parameter),
                        measurement_of(deciding->parameter));
  return text;
}

// What became of generated candidates, and of those that were only estimated.
std::string others_text(DesignComparison const& all, Labels const& labels) {
  std::string text;
  auto const& generated = all.generated;
  std::size_t beaten = 0;
  std::size_t others = 0;
  CandidateResult const* best = nullptr;
  for (auto const& result : all.candidates) {
    if (result.is_final || !result.failure.empty()) continue;
    if (!result.beaten_by.empty()) {
      ++beaten;
      continue;
    }
    ++others;
    if (best == nullptr || result.score > best->score) best = &result;
  }
  if (others > 0)
    text += fmt::format("{} more candidates were estimated; the best of them is {} with a score of {:.3f}\n", others,
                        labels.of(*best), best->score);
  if (generated.combinations == 0) return text;
  text += fmt::format(
      "generated: {} combinations, of which {} can be built and differ; {} of these take no less of any "
      "part than another and are faster in no job\n",
      generated.combinations, generated.candidates, beaten);
  if (generated.equivalent > 0)
    text += fmt::format("left out: {}, the same machine as another\n", generated.equivalent);
  std::vector<std::pair<std::size_t, std::string>> excluded;
  for (auto const& [why, count] : generated.excluded) excluded.emplace_back(count, why);
  std::sort(excluded.rbegin(), excluded.rend());
  for (std::size_t i = 0; i < excluded.size() && i < kMaxReasons; ++i)
    text += fmt::format("left out: {}, {}\n", excluded[i].first, excluded[i].second);
  if (excluded.size() > kMaxReasons) text += fmt::format("reasons not shown: {}\n", excluded.size() - kMaxReasons);
  return text;
}

}  // namespace

std::string faults_text(FaultReport const& report, std::vector<DesignJob> const& jobs) {
  std::vector<std::string> header{"failure", "score that is left"};
  for (auto const& job : jobs) header.push_back(job.name);
  header.emplace_back("impossible");
  Table table(header);
  std::size_t unchanged = 0;
  std::size_t shown = 0;
  for (auto const& loss : report.losses) {
    if (loss.kept > 0.9995 && loss.kept < 1.0005) {
      unchanged += static_cast<std::size_t>(loss.alike);
      continue;
    }
    if (++shown > kMaxFaults) continue;
    auto what = loss.fault.what;
    if (loss.alike > 1) what += fmt::format(", and {} alike", loss.alike - 1);
    std::vector<std::string> row{std::move(what), percent_text(loss.kept)};
    for (auto const& ratio : loss.ratios) row.push_back(ratio_words(ratio));
    row.push_back(loss.impossible);
    table.add(std::move(row));
  }
  auto text = table.empty() ? std::string() : table.text();
  if (shown > kMaxFaults) text += fmt::format("and {} more that cost less\n", shown - kMaxFaults);
  if (unchanged > 0) text += fmt::format("{} failures cost these jobs nothing\n", unchanged);
  return text;
}

std::string design_text(DesignComparison const& all) {
  auto text = all.title.empty() ? std::string() : all.title + "\n";
  text +=
      fmt::format("ranked by {}, {}; the score is the weighted geometric mean of the fastest time over one's own\n\n",
                  all.library == "best" ? "the best plans" : "what " + all.library + " does",
                  all.simulated ? "simulated" : "estimated");
  Labels const labels(all.candidates);
  text += ranking_text(all, labels) + labels.common_text() + "\n" + jobs_text(all, labels);
  if (auto const pairs = pairs_text(all, labels); pairs.find('\n') + 1 < pairs.size()) text += "\n" + pairs;
  if (auto const others = others_text(all, labels); !others.empty()) text += "\n" + others;
  if (all.sensitivity && all.candidates.size() > 1 && all.candidates[1].score > 0)
    text += "\n" + sensitivity_text(all, labels);
  if (std::any_of(all.candidates.begin(), all.candidates.end(), [](auto const& one) { return one.faults.has_value(); }))
    text += "\n" + resilience_text(all, labels);
  for (auto const& result : all.candidates)
    if (!result.failure.empty())
      text += fmt::format("\nnot evaluated: {}: {}\n", result.candidate.name, result.failure);
  return text;
}

std::string bills_text(DesignComparison const& all) {
  std::string text;
  for (auto const& result : all.candidates) {
    if (!result.is_final) continue;
    auto const& bill = result.bill;
    text += fmt::format("\n{} ({}):\n", result.candidate.name, result.title);
    Table table({"part", "kind", "count", "power of one", "price of one"});
    for (auto const& line : bill.lines)
      table.add({line.part, line.kind, std::to_string(line.count), line.power ? exact_text(*line.power) : "unknown",
                 line.price ? to_string(*line.price) : ""});
    text += table.text();
    for (auto const& cable : bill.cables)
      text += fmt::format("{} cables, {}, {} one way{}\n", cable.count, cable.what, rounded_text(cable.rate),
                          cable.price ? ", " + to_string(*cable.price) + " each" : "");
    for (auto const& lane : bill.lanes)
      text += lane.there ? fmt::format("{}: {} of {} PCIe lanes used, {} free\n", lane.owner, lane.used, *lane.there,
                                       *lane.there - lane.used)
                         : fmt::format("{}: {} PCIe lanes used\n", lane.owner, lane.used);
    text += fmt::format("power of its parts {}", watts_words(bill.power));
    if (!bill.without_power.empty()) text += fmt::format(", without {}", fmt::join(bill.without_power, ", "));
    text += "; fans, memory and losses of power supplies are not counted\n";
    if (!bill.price_source.empty()) text += fmt::format("price: {}\n", bill.price_source);
  }
  return text;
}

}  // namespace lanewise
