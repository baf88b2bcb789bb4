#include "resolver/solver.h"

#include <set>
#include <utility>

#include <fmt/format.h>

#include "resolver/worklist.h"

namespace axle::resolver {
namespace {

/// Passes each remark on once: releases of one package tend to have the same thing wrong with them.
class OnceReport final : public Report {
 public:
  explicit OnceReport(Report& inner) : inner_(inner) {}
  void add(Remark remark) override {
    if (said_.insert(remark.message).second) inner_.add(std::move(remark));
  }
  void progress(std::string_view what, std::uint64_t done, std::uint64_t total) override {
    inner_.progress(what, done, total);
  }

 private:
  Report& inner_;
  std::set<std::string> said_;
};

}  // namespace

Result<Resolution> resolve(const Requests& requests, const Target& target,
                           const std::vector<InstalledPackage>& installed, const Sources& sources,
                           const Options& options, Report& report) {
  OnceReport once(report);
  return Worklist(target, installed, sources, options, once).run(requests);
}

Result<Explanation> explain(const wheel::Requirement& requirement, const Target& target,
                            const Sources& sources, const Options& options, Report& report) {
  OnceReport once(report);
  const std::vector<InstalledPackage> nothing_installed;
  PackageChooser chooser(target, nothing_installed, sources, options, once);
  const Want want{requirement, {}, {}, false};
  const std::map<wheel::Version, std::string> nothing_excluded;
  // `abi_dependency` asks for what would be chosen for the other package on its own.
  const VersionOf newest = [&](const std::string& package) {
    wheel::Requirement any;
    any.name = package;
    const Want anything{any, {}, {}, true};
    return chooser.newest({package, {&anything}, &nothing_excluded, {}});
  };
  auto explanation = chooser.explain(
      {wheel::normalize_name(requirement.name), {&want}, &nothing_excluded, newest});
  if (!explanation) return std::unexpected(std::move(explanation).error().error);
  return std::move(*explanation);
}

}  // namespace axle::resolver
