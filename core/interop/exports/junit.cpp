#include "core/interop/exports/junit.hpp"

#include <pugixml.hpp>
#include <set>
#include <sstream>

namespace lanewise {
namespace {

// Adds a test case that was skipped.
void add_skipped(pugi::xml_node suite, std::string const& scenario, std::string const& name, std::string const& why) {
  auto test = suite.append_child("testcase");
  test.append_attribute("classname") = scenario.c_str();
  test.append_attribute("name") = name.c_str();
  test.append_child("skipped").append_attribute("message") = why.c_str();
}

void add_case(pugi::xml_node suite, std::string const& scenario, std::string const& name, double seconds,
              std::string const& failure) {
  auto test = suite.append_child("testcase");
  test.append_attribute("classname") = scenario.c_str();
  test.append_attribute("name") = name.c_str();
  test.append_attribute("time") = seconds;
  if (failure.empty()) return;
  auto node = test.append_child("failure");
  node.append_attribute("message") = failure.c_str();
  node.text() = failure.c_str();
}

// Says which nodes were started for the runs, if any.
void add_nodes(pugi::xml_node suite, std::vector<VariantRun> const& runs) {
  std::set<std::string> nodes;
  for (auto const& run : runs)
    if (auto const found = run.trace.environment.find(kNodesEnvironmentKey); found != run.trace.environment.end())
      nodes.insert(run.machine + ": " + found->second);
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

}  // namespace

std::string junit_xml(std::vector<ScenarioVerdict> const& verdicts) {
  pugi::xml_document document;
  auto root = document.append_child("testsuites");
  root.append_attribute("name") = "lanewise";
  for (auto const& verdict : verdicts) {
    auto suite = root.append_child("testsuite");
    auto const name = verdict.scenario + " (" + verdict.mode + ")";  // a scenario may be checked in two modes
    suite.append_attribute("name") = name.c_str();
    add_nodes(suite, verdict.runs);
    unsigned tests = 0;
    unsigned failures = 0;
    unsigned skipped = 0;
    for (auto const& run : verdict.runs) {
      if (!run.skipped.empty()) {
        add_skipped(suite, name, "runs on " + where(run.machine, run.variant), run.skipped);
        ++tests;
        ++skipped;
        continue;
      }
      add_case(suite, name, "runs on " + where(run.machine, run.variant), run.trace.makespan.value(), run.failure);
      ++tests;
      failures += run.failure.empty() ? 0 : 1;
    }
    for (auto const& result : verdict.results) {
      if (!result.judged()) {
        add_skipped(suite, name, result.what + " (" + where(result.machine, result.variant) + ")",
                    "not judged, " + result.timing_exclusion + "; found " + result.found);
        ++tests;
        ++skipped;
        continue;
      }
      auto const failure = result.passed ? std::string() : "expected " + result.what + "; found " + result.found;
      add_case(suite, name, result.what + " (" + where(result.machine, result.variant) + ")", 0, failure);
      ++tests;
      failures += result.passed ? 0 : 1;
    }
    suite.append_attribute("tests") = tests;
    suite.append_attribute("failures") = failures;
    suite.append_attribute("skipped") = skipped;
  }
  std::ostringstream out;
  document.save(out, "  ");
  return out.str();
}

}  // namespace lanewise
