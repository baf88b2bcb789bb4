#include "builder/ci/ci_plan.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "builder/ci/quoting.h"
#include "builder/compilation.h"
#include "foundation/text/nearest.h"
#include "foundation/text/quote.h"
#include "index/http/url.h"
#include "index/storage/storage_address.h"
#include "wheel/hash/sha256.h"
#include "wheel/requirement.h"
#include "wheel/wheel_name.h"

namespace axle::builder {

namespace {

constexpr std::string_view plain_job = "plain";

std::string job_label(const MatrixRow& row) {
  return row.label.empty() ? std::string(plain_job) : row.label;
}

/// Fields of any text, so that no two lists of fields are one text.
class Fields {
 public:
  void add(std::string_view field) { text_ += fmt::format("{}:{}\n", field.size(), field); }
  void add(const std::vector<std::string>& fields) {
    add(std::to_string(fields.size()));
    for (const std::string& one : fields) add(one);
  }
  void add(const std::optional<std::vector<std::string>>& fields) {
    add(fields ? "stated" : "unset");
    if (fields) add(*fields);
  }
  void add(const Definitions& definitions) {
    add(std::to_string(definitions.size()));
    for (const auto& [name, value] : definitions) {
      add(name);
      add(value);
    }
  }
  [[nodiscard]] std::string hash() const {
    return wheel::render_hex(wheel::sha256(text_)).substr(0, 16);
  }

 private:
  std::string text_;
};

/// Of what the table says about that row, apart from files.
std::string row_hash(const Project& project, const std::string& folder, const MatrixRow& row,
                     const std::string& architecture) {
  Fields fields;
  // Two projects of one repository may have the same table.
  fields.add(project.metadata.name);
  fields.add(folder);
  fields.add(row.label);
  fields.add(architecture);
  for (const wheel::Property& one : project.properties_of(row)) {
    fields.add(one.ns);
    fields.add(one.feature);
    fields.add(one.value);
  }
  const RowSettings& settings = row.settings;
  const Compilation compilation = compilation_of(project.properties_of(row), settings);
  fields.add(compilation.host_flags());
  for (const auto* targets : {&compilation.cuda, &compilation.hip, &compilation.sycl})
    fields.add(join_targets(*targets, ';'));
  fields.add(settings.define);
  fields.add(settings.environment);
  fields.add(settings.config_settings);
  fields.add(settings.wheel);
  fields.add(project.packages);
  fields.add(project.back_end);
  if (project.cmake) {
    fields.add(project.cmake->source);
    fields.add(project.cmake->build_type);
    fields.add(project.cmake->define);
  }
  if (const auto stated = project.toolchains.find(architecture);
      stated != project.toolchains.end()) {
    fields.add(stated->second.c);
    fields.add(stated->second.cxx);
  }
  return fields.hash();
}

/// Programs that a job asks for their version.
std::string tools_of(const Project& project, const MatrixRow& row, const std::string& architecture,
                     bool cross) {
  const bool compiles = project.cmake || project.is_of_back_end();
  if (!compiles || !row.settings.wheel.empty()) return {};
  std::vector<std::string> tools = {"cmake"};
  if (const auto stated = project.toolchains.find(architecture);
      stated != project.toolchains.end()) {
    tools.push_back(stated->second.c);
    tools.push_back(stated->second.cxx);
  } else if (cross) {
    tools.push_back(architecture + "-linux-gnu-gcc");
    tools.push_back(architecture + "-linux-gnu-g++");
  } else {
    tools.insert(tools.end(), {"cc", "c++"});
  }
  const Compilation compilation = compilation_of(project.properties_of(row), row.settings);
  if (!compilation.cuda.empty()) tools.emplace_back("nvcc");
  if (!compilation.hip.empty()) tools.emplace_back("hipcc");
  if (!compilation.sycl.empty()) tools.emplace_back("icpx");
  // What the shell would split or expand is no name of a program: its row is hashed anyway.
  std::erase_if(tools, [](const std::string& one) {
    return !is_plain_line(one) || one.starts_with('-') ||
           one.find_first_of(" *?[") != std::string::npos;
  });
  return fmt::format("{}", fmt::join(tools, " "));
}

/// Facts of a machine that has the properties: "aarch64:asimddp,i8mm".
std::string machine_with(const wheel::VariantProperties& properties,
                         const std::string& architecture) {
  std::string facts;
  for (const wheel::Property& one : properties) {
    // What no provider of an architecture has is in our own namespace, by the same names.
    if (one.ns != architecture && !(one.ns == "axle" && one.value == "on")) continue;
    const bool level = one.feature == "level" || one.feature == "version";
    facts += (facts.empty() ? ":" : ",") + (level ? one.value : one.feature);
  }
  return architecture + facts;
}

bool applies(const JobRule& rule, const CiJob& job) {
  return (rule.architecture.empty() || rule.architecture == job.architecture) &&
         (rule.labels.empty() || std::ranges::find(rule.labels, job.label) != rule.labels.end());
}

class Planner {
 public:
  Planner(const Project& project, const CiPlaces& places) : project_(project), places_(places) {}

  Result<std::vector<CiJob>> jobs() {
    if (auto checked = check_rules(); !checked) return std::unexpected(checked.error());
    std::vector<CiJob> all;
    std::set<std::string> names;
    for (const MatrixRow& row : project_.matrix) {
      auto job = job_of(row);
      if (!job) return std::unexpected(job.error());
      if (!names.insert(job->name).second) {
        return fail(ErrorKind::malformed,
                    fmt::format("{}: variant {} is duplicated in the matrix: a row without "
                                "architectures is of the runner's",
                                row.place, job->name));
      }
      all.push_back(std::move(*job));
    }
    return all;
  }

 private:
  /// A rule that no job follows was meant for another one.
  [[nodiscard]] Result<void> check_rules() const {
    std::vector<std::string> known;
    for (const MatrixRow& row : project_.matrix) known.push_back(job_label(row));
    for (const JobRule& rule : project_.ci.rules) {
      for (const std::string& label : rule.labels) {
        if (std::ranges::find(known, label) != known.end()) continue;
        return fail(ErrorKind::malformed,
                    fmt::format("{}: the project has no variant \"{}\"", rule.place, label),
                    text::suggest(label, known, fmt::format("it has {}", fmt::join(known, ", "))));
      }
    }
    return {};
  }

  [[nodiscard]] JobSettings settled(const CiJob& job) const {
    JobSettings settings = project_.ci.of_all;
    for (const JobRule& rule : project_.ci.rules) {
      if (applies(rule, job)) settings = overlaid(std::move(settings), rule.settings);
    }
    if (settings.host.empty()) settings.host = "x86_64";
    return settings;
  }

  Result<CiJob> job_of(const MatrixRow& row) const {
    CiJob job{{}, job_label(row), row.architecture, {}, {}, {}};
    if (!wheel::is_valid_label(job.label)) {
      return fail(ErrorKind::malformed, fmt::format("{}: {} is not a valid variant label",
                                                    row.place, text::quote(job.label)));
    }
    if (job.label == "." || job.label == "..") {
      return fail(ErrorKind::malformed,
                  fmt::format("{}: the variant \"{}\" would have another folder than its own",
                              row.place, job.label),
                  "choose another label");
    }
    job.settings = settled(job);
    JobSettings& settings = job.settings;
    if (job.architecture.empty()) {
      job.architecture = settings.host;
      job.settings = settled(job);  // rules of its architecture
      job.architecture = settings.host;
    }
    const bool cross = job.architecture != settings.host;
    job.name = job.label + (job.architecture == "x86_64" ? "" : "-" + job.architecture);
    job.row = row_hash(project_, places_.project, row, job.architecture);
    job.tools = tools_of(project_, row, job.architecture, cross);
    if (settings.runs_on.empty())
      settings.runs_on = {settings.host == "aarch64" ? "ubuntu-24.04-arm" : "ubuntu-24.04"};
    if (settings.image.empty()) settings.image = "python:3.12-bookworm";
    if (!settings.setup) {
      settings.setup = places_.setup;
      if (cross)
        settings.setup->insert(settings.setup->end(), places_.cross_setup.begin(),
                               places_.cross_setup.end());
    }
    if (settings.smoke.empty()) settings.smoke = cross ? "emulated" : "native";
    if (cross && (settings.smoke == "native" || settings.smoke == "required")) {
      return fail(ErrorKind::unsupported,
                  fmt::format("{}: variant {} is built on {}: its smoke test cannot be \"{}\"",
                              row.place, job.name, settings.host, settings.smoke),
                  "use \"emulated\", or set host to the architecture of its runner");
    }
    if (settings.machine.empty())
      settings.machine = machine_with(project_.properties_of(row), job.architecture);
    if (settings.root.empty())
      settings.root = cross ? "/usr/" + job.architecture + "-linux-gnu" : "/";
    return job;
  }

  const Project& project_;
  const CiPlaces& places_;
};

/// Packages and modules, by their own names.
std::vector<std::string> default_imports(const Project& project) {
  std::vector<std::string> names;
  for (const std::string& package : project.packages) {
    const std::filesystem::path path = std::filesystem::path(package).lexically_normal();
    std::string name = (path.has_filename() ? path : path.parent_path()).stem().string();
    const bool plain_name = !name.empty() && (name.front() < '0' || name.front() > '9') &&
                            std::ranges::all_of(name, [](char c) {
                              return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                     (c >= '0' && c <= '9') || c == '_';
                            });
    if (plain_name) names.push_back(std::move(name));
  }
  return names;
}

std::vector<CiGroup> grouped(std::vector<CiJob> jobs, std::size_t largest) {
  const auto kind = [](const CiJob& job) {
    const JobSettings& one = job.settings;
    return std::tie(job.architecture, one.host, one.runs_on, one.tags, one.image, one.setup,
                    one.slurm);
  };
  std::vector<CiGroup> groups;
  std::map<std::string, unsigned> numbers;
  for (CiJob& job : jobs) {
    const auto found = std::ranges::find_if(groups, [&](const CiGroup& group) {
      return group.jobs.size() < largest && kind(group.jobs.front()) == kind(job);
    });
    if (found != groups.end()) {
      found->jobs.push_back(std::move(job));
      continue;
    }
    const bool cross = job.architecture != job.settings.host;
    std::string name = fmt::format("{}-{}", cross ? "cross" : "build", job.architecture);
    if (const unsigned number = ++numbers[name]; number > 1) name += fmt::format("-{}", number);
    CiGroup group{std::move(name), cross, {}};
    group.jobs.push_back(std::move(job));
    groups.push_back(std::move(group));
  }
  return groups;
}

CiTarget target_of(const CiSettings& ci) {
  if (!ci.repository_url.empty()) return CiTarget::uploads;
  if (ci.index.empty()) return CiTarget::nothing;
  if (index::is_storage_address(ci.index)) return CiTarget::storage;
  return index::is_http_url(ci.index) ? CiTarget::server : CiTarget::folder;
}

std::string joined_path(const std::string& folder, const std::string& file) {
  return (std::filesystem::path(folder) / file).lexically_normal().generic_string();
}

}  // namespace

Result<CiPlan> plan_ci(const Project& project, const CiPlaces& places) {
  auto jobs = Planner(project, places).jobs();
  if (!jobs) return std::unexpected(jobs.error());
  CiPlan plan;
  plan.title = project.metadata.name;
  plan.name = plan.title.empty() ? "project" : wheel::normalize_name(plan.title);
  plan.project = places.project;
  plan.file = places.file;
  plan.imports = project.ci.imports.value_or(default_imports(project));
  for (const std::string& file : project.ci.lock_files)
    plan.lock_files.push_back(joined_path(places.project, file));
  plan.target = target_of(project.ci);
  plan.index = project.ci.index;
  plan.repository_url = project.ci.repository_url;
  plan.setup = project.ci.of_all.setup.value_or(places.setup);
  plan.slurm = project.ci.of_all.slurm;
  plan.count = jobs->size();
  plan.groups = grouped(std::move(*jobs), places.largest_group);
  return plan;
}

}  // namespace axle::builder
