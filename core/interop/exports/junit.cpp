#include "core/interop/exports/junit.hpp"

#include <fmt/format.h>

#include <pugixml.hpp>
#include <set>
#include <sstream>

#include "core/text/percent.hpp"

namespace lanewise {
namespace {

// Microseconds are enough for what took real time.
std::string seconds_text(Seconds time) { return fmt::format("{:.6f}", time.value()); }

// A suite and what is counted of it.
class Suite {
 public:
  Suite(pugi::xml_node root, std::string const& name, SourcePos const& pos)
      : node_(root.append_child("testsuite")), name_(name) {
    node_.append_attribute("name") = name.c_str();
    if (!pos.file.empty()) node_.append_attribute("file") = pos.file.c_str();
  }
  Suite(Suite const&) = delete;
  Suite& operator=(Suite const&) = delete;
  ~Suite() {
    node_.append_attribute("tests") = tests_;
    node_.append_attribute("failures") = failures_;
    node_.append_attribute("errors") = errors_;
    node_.append_attribute("skipped") = skipped_;
    node_.append_attribute("time") = seconds_text(seconds_).c_str();
  }

  pugi::xml_node add(std::string const& name, SourcePos const& pos, Seconds time = Seconds(0)) {
    auto test = node_.append_child("testcase");
    test.append_attribute("classname") = name_.c_str();
    test.append_attribute("name") = name.c_str();
    if (!pos.file.empty()) test.append_attribute("file") = pos.file.c_str();
    if (pos.line > 0) test.append_attribute("line") = pos.line;
    test.append_attribute("time") = seconds_text(time).c_str();
    ++tests_;
    seconds_ += time;
    return test;
  }
  void skip(pugi::xml_node test, std::string const& why) {
    test.append_child("skipped").append_attribute("message") = why.c_str();
    ++skipped_;
  }
  void fail(pugi::xml_node test, std::string const& type, std::string const& message) {
    put(test.append_child("failure"), type, message);
    ++failures_;
  }
  void error(pugi::xml_node test, std::string const& message) {
    put(test.append_child("error"), "input", message);
    ++errors_;
  }
  [[nodiscard]] pugi::xml_node node() const { return node_; }

 private:
  static void put(pugi::xml_node node, std::string const& type, std::string const& message) {
    node.append_attribute("message") = message.substr(0, message.find('\n')).c_str();
    node.append_attribute("type") = type.c_str();
    node.text() = message.c_str();
  }

  pugi::xml_node node_;
  std::string name_;
  unsigned tests_ = 0, failures_ = 0, errors_ = 0, skipped_ = 0;
  Seconds seconds_{0};
};

// Says which nodes were started for the runs, if any.
void add_nodes(pugi::xml_node suite, std::vector<VariantRun> const& runs) {
  std::set<std::string> nodes;
  for (auto const& run : runs)
    if (auto const where = run.started_nodes(); !where.empty()) nodes.insert(run.machine + ": " + where);
  if (nodes.empty()) return;
  auto properties = suite.append_child("properties");  // before the cases: the schema requires it
  for (auto const& text : nodes) {
    auto property = properties.append_child("property");
    property.append_attribute("name") = kNodesEnvironmentKey;
    property.append_attribute("value") = text.c_str();
  }
}

std::string where(std::string const& machine, std::string const& variant) {
  return variant.empty() ? machine : machine + ", " + variant;
}

std::string type_of(std::vector<std::string> const& rules, std::string const& key) {
  return rules.empty() ? key : rules.front();
}

// A file may have several; each case has a name of its own.
void add_error(Suite& suite, CheckError const& error) {
  auto name = error.machine.empty() ? std::string("can be checked") : "can be checked on " + error.machine;
  if (error.pos.line > 0) name += fmt::format(" ({}:{}:{})", error.pos.file, error.pos.line, error.pos.column);
  suite.error(suite.add(name, error.pos), error.message);
}

void add_run(Suite& suite, ScenarioVerdict const& verdict, VariantRun const& run) {
  auto test = suite.add("runs on " + where(run.machine, run.variant), verdict.pos, run.real_time);
  if (!run.skipped.empty()) return suite.skip(test, run.skipped);
  // A failure that an expectation asks for is none, and the expectation says so.
  if (!run.failure.empty() && !run.failure_expected)
    suite.fail(test, type_of(run.refusing_rules(), "plan"), run.failure);
  if (!run.ran()) return;
  auto said = "makespan " + rounded_text(run.trace.makespan);
  if (run.bound)
    said += fmt::format(", at least {} ({} above)", rounded_text(run.bound->makespan),
                        percent_text(run.bound->gap(run.trace.makespan)));
  test.append_child("system-out").text() = said.c_str();
}

void add_result(Suite& suite, ExpectationResult const& result) {
  auto test = suite.add(
      result.what + (result.machine.empty() ? std::string() : " (" + where(result.machine, result.variant) + ")"),
      result.pos);
  if (!result.judged())
    suite.skip(test, "not judged, " + result.timing_exclusion + "; found " + result.found);
  else if (!result.passed)
    suite.fail(test, type_of(result.rules, result.key), result.explanation());
}

void add_comparison(pugi::xml_node root, BaselineComparison const& comparison) {
  Suite suite(root, "compared with " + comparison.file, {comparison.file, 0, 0});
  suite.add(fmt::format("{} of {} runs are as before", comparison.unchanged, comparison.compared),
            {comparison.file, 0, 0});
  for (auto const& change : comparison.changes) {
    auto const& run = change.run;
    auto test = suite.add(
        fmt::format("{}: {} on {}", to_string(change.kind), run.scenario, where(run.machine, run.variant)), run.pos);
    if (change.regression) suite.fail(test, std::string(to_string(change.kind)), change.detail);
    if (!change.regression) test.append_child("system-out").text() = change.detail.c_str();
  }
}

}  // namespace

std::string junit_xml(std::vector<ScenarioVerdict> const& verdicts, BaselineComparison const* comparison) {
  pugi::xml_document document;
  auto root = document.append_child("testsuites");
  root.append_attribute("name") = "lanewise";
  for (auto const& verdict : verdicts) {
    Suite suite(root, verdict.scenario + " (" + verdict.mode + ")", verdict.pos);  // may be checked in two modes
    add_nodes(suite.node(), verdict.runs);
    for (auto const& error : verdict.errors) add_error(suite, error);
    for (auto const& run : verdict.runs) add_run(suite, verdict, run);
    for (auto const& result : verdict.results) add_result(suite, result);
  }
  if (comparison != nullptr) add_comparison(root, *comparison);
  std::ostringstream out;
  document.save(out, "  ");
  return out.str();
}

std::string junit_xml(ClusterHealth const& health) {
  pugi::xml_document document;
  auto root = document.append_child("testsuites");
  root.append_attribute("name") = "lanewise";
  {
    Suite suite(root, "health of " + health.cluster, {});
    for (auto const& node : health.nodes) {
      auto test = suite.add(node.host.empty() ? node.node : fmt::format("{} ({})", node.node, node.host), {});
      std::string failures;
      std::string warnings;
      for (auto const& finding : node.findings)
        (finding.grade == Grade::Fail ? failures : warnings) += fmt::format("{}: {}\n", finding.subject, finding.text);
      if (!failures.empty()) suite.fail(test, "health", failures);
      if (failures.empty() && !health.not_measured.empty())
        warnings += fmt::format("times were not judged: {}\n", health.not_measured);
      if (!warnings.empty()) test.append_child("system-out").text() = warnings.c_str();
    }
  }
  std::ostringstream out;
  document.save(out, "  ");
  return out.str();
}

}  // namespace lanewise
