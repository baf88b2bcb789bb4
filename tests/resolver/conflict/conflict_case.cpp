#include "tests/resolver/conflict/conflict_case.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <sstream>
#include <stdexcept>

#include "foundation/text/rfc3339.h"
#include "machines/selection.h"
#include "plan/conflict.h"
#include "providers/provider.h"

namespace axle::testing {
namespace {

constexpr std::string_view expected_mark = "| ";

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    const auto first = part.find_first_not_of(' ');
    if (first == std::string::npos) continue;
    parts.push_back(part.substr(first, part.find_last_not_of(' ') - first + 1));
  }
  return parts;
}

/// "1.N" of 7: "1.7".
std::string numbered(std::string text, unsigned number) {
  for (std::size_t at = text.find('N'); at != std::string::npos; at = text.find('N', at))
    text.replace(at, 1, std::to_string(number));
  return text;
}

std::string option_of(const std::map<std::string, std::string>& options, const std::string& name,
                      const std::string& otherwise = {}) {
  const auto found = options.find(name);
  return found == options.end() ? otherwise : found->second;
}

/// The files of both indexes of a case come by one connection.
class BothTransports final : public index::Transport {
 public:
  BothTransports(MemoryIndex& first, MemoryIndex& second) : first_(first), second_(second) {}
  Result<index::HttpResponse> fetch(const index::HttpRequest& request) override {
    return of(request).fetch(request);
  }
  Result<index::HttpResponse> download(const index::HttpRequest& request,
                                       const index::BodySink& sink) override {
    return of(request).download(request, sink);
  }

 private:
  [[nodiscard]] MemoryIndex& of(const index::HttpRequest& request) {
    return request.url.starts_with(first_.description()) ? first_ : second_;
  }
  MemoryIndex& first_;
  MemoryIndex& second_;
};

}  // namespace

ConflictCase::ConflictCase(const std::string& path) : path_(path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.starts_with(expected_mark)) {
      expected_ += line.substr(expected_mark.size()) + "\n";
      continue;
    }
    given_ += line + "\n";
    if (line.empty() || line.starts_with('#')) continue;
    try {
      read_line(line);
    } catch (const std::exception& e) {
      throw std::runtime_error(path + ": line " + std::to_string(number) + ": " + e.what());
    }
  }
  publish_variants();
}

void ConflictCase::expect(const std::string& outcome) const {
  std::ofstream file(path_);
  file << given_;
  std::istringstream lines(outcome);
  for (std::string line; std::getline(lines, line);) file << expected_mark << line << "\n";
}

void ConflictCase::read_line(const std::string& line) {
  const std::size_t colon = line.find(" : ");
  const std::string needs = colon == std::string::npos ? "" : line.substr(colon + 3);
  const Words words = split(line.substr(0, colon), ' ');
  const Words rest(words.begin() + 1, words.end());
  const std::string all = line.substr(line.find(' ') + 1);
  const std::map<std::string, std::function<void()>> handlers = {
      {"machine",
       [&] {
         CollectedReport report;
         const auto selected = machines::select_machines(all, report);
         if (!selected) throw std::runtime_error(selected.error().message);
         world_.machine = selected->at(0).machine;
       }},
      {"wheel", [&] { wheels(rest, needs); }},
      {"build", [&] { build(rest, needs); }},
      {"variant", [&] { variant(rest, needs); }},
      {"sdist",
       [&] {
         world_.index.add_file(rest.at(0), rest.at(0) + "-" + rest.at(1) + ".tar.gz", "source");
       }},
      {"installed", [&] { world_.install(rest.at(0), rest.at(1), split(needs, '|')); }},
      {"constraint", [&] { world_.constraints.push_back(all); }},
      {"override", [&] { overrides_.push_back(all); }},
      {"option", [&] { option(rest); }},
      {"request", [&] { requests_ = split(all, '|'); }},
  };
  const auto handler = handlers.find(words.at(0));
  if (handler == handlers.end()) throw std::runtime_error("no directive " + words[0]);
  handler->second();
}

void ConflictCase::option(const Words& words) {
  if (words.at(0) == "exclude-newer") {
    world_.options.cutoffs.general = {*text::parse_rfc3339(words.at(1) + "T00:00:00Z"),
                                      words.at(1) + " (--exclude-newer)"};
  } else if (words.at(0) == "variant") {
    world_.options.pinned_variants[words.at(1)] = words.at(2);
  } else if (words.at(0) == "torch-backend") {
    world_.options.forced_labels["torch"] = words.at(1);
  } else {
    throw std::runtime_error("no option " + words[0]);
  }
}

void ConflictCase::wheels(const Words& words, const std::string& needs) {
  Wheel wheel;
  wheel.recipe.name = words.at(0);
  wheel.recipe.version = words.at(1);
  std::ranges::replace(wheel.recipe.name, '-', '_');
  wheel.recipe.requires_dist = split(needs, '|');
  for (std::size_t i = 2; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    wheel.options[words[i].substr(0, equals)] =
        equals == std::string::npos ? "" : words[i].substr(equals + 1);
  }
  wheel.recipe.tags = option_of(wheel.options, "tags", wheel.recipe.tags);
  wheel.recipe.extras = split(option_of(wheel.options, "extras"), ',');
  const std::string range = option_of(wheel.options, "N");
  if (range.empty()) return add_wheel(wheel);
  const Words ends = split(range, '.');
  for (auto n = static_cast<unsigned>(std::stoul(ends.at(0))); n <= std::stoul(ends.at(1)); ++n) {
    Wheel one = wheel;
    one.recipe.version = numbered(wheel.recipe.version, n);
    for (std::string& need : one.recipe.requires_dist) need = numbered(need, n);
    add_wheel(one);
  }
}

void ConflictCase::add_wheel(const Wheel& wheel) {
  MemoryIndex& index = wheel.options.contains("first") ? first_ : world_.index;
  index::PublishedFile& file = index.add_wheel(wheel.recipe);
  file.yanked = wheel.options.contains("yanked");
  file.requires_python = option_of(wheel.options, "python");
  if (const std::string day = option_of(wheel.options, "uploaded"); !day.empty())
    file.uploaded = text::parse_rfc3339(day + "T00:00:00Z");
}

void ConflictCase::build(const Words& words, const std::string& needs) {
  if (!world_.use_families) world_.families.add_shipped();
  world_.use_families = true;
  const auto family = world_.families.of_project(words.at(0));
  if (!family || *family == nullptr) throw std::runtime_error("no family has " + words[0]);
  for (std::size_t i = 2; i < words.size(); ++i) {
    WheelRecipe recipe{.name = words[0], .version = words.at(1) + "+" + words[i]};
    recipe.requires_dist = split(needs, '|');
    recipe.tags = "cp311-cp311-manylinux_2_28_x86_64";
    world_.index.add_wheel_at((*family)->url, recipe);
  }
}

void ConflictCase::variant(const Words& words, const std::string& needs) {
  const std::pair key(words.at(0), words.at(1));
  wheel::VariantMetadata& metadata = variants_[key];
  metadata.schema_version = "0.2.0";
  wheel::VariantProperties& properties = metadata.variants[words.at(2)];
  for (std::size_t i = 3; i < words.size(); ++i) {
    const std::size_t colons = words[i].find("::");
    const std::size_t equals = words[i].find('=');
    if (colons == std::string::npos || equals == std::string::npos)
      throw std::runtime_error("expected ns::feature=value, got " + words[i]);
    const std::string ns = words[i].substr(0, colons);
    const std::string feature = words[i].substr(colons + 2, equals - colons - 2);
    for (const std::string& value : split(words[i].substr(equals + 1), ','))
      properties.insert({ns, feature, value});
    if (std::ranges::find(metadata.namespaces, ns) != metadata.namespaces.end()) continue;
    metadata.namespaces.push_back(ns);
    if (ns == "abi_dependency") {
      metadata.providers[ns].requires_ = {"abi-dependency"};
      metadata.providers[ns].optional = true;
    } else if (const providers::Provider* provider = providers::find_provider(ns)) {
      metadata.providers[ns].requires_ = {std::string(provider->package)};
      metadata.providers[ns].plugin_api = provider->plugin_apis.front();
    }
  }
  variant_needs_[key][words.at(2)] = split(needs, '|');
}

void ConflictCase::publish_variants() {
  for (const auto& [key, metadata] : variants_) {
    for (const auto& [label, properties] : metadata.variants) {
      WheelRecipe recipe{.name = key.first, .version = key.second};
      std::ranges::replace(recipe.name, '-', '_');
      recipe.label = label;
      recipe.variants = metadata;
      recipe.requires_dist = variant_needs_[key][label];
      world_.index.add_wheel(recipe);
    }
    std::string name = key.first;
    std::ranges::replace(name, '-', '_');
    world_.index.add_variants(name, key.second, metadata);
  }
}

std::string ConflictCase::outcome() {
  resolver::Requests requests;
  for (const std::string& text : requests_) requests.requirements.push_back({requirement(text)});
  for (const std::string& text : world_.constraints)
    requests.constraints.push_back({requirement(text)});
  for (const std::string& text : overrides_) requests.overrides.push_back({requirement(text)});
  world_.sources.families = world_.use_families ? &world_.families : nullptr;
  BothTransports both(first_, world_.index);
  world_.sources.indexes = {&first_, &world_.index};
  world_.sources.transport = &both;
  world_.report.remarks.clear();
  const auto resolution = resolver::resolve(requests, world_.target, world_.installed,
                                            world_.sources, world_.options, world_.report);
  std::string text;
  if (!resolution) {
    unresolved_ = resolution.error();
    text = std::string("error: ") + unresolved_.message + "\n";
    for (const std::string& line : plan::short_lines(unresolved_.conflict))
      text += "  " + line + "\n";
    if (!unresolved_.hint.empty()) text += "  hint: " + unresolved_.hint + "\n";
    return text;
  }
  for (const Remark& remark : world_.report.remarks) {
    text += (remark.severity == Severity::warning ? "warning: " : "note: ") + remark.message + "\n";
    if (!remark.hint.empty()) text += "  hint: " + remark.hint + "\n";
  }
  return text;
}

}  // namespace axle::testing
