#include "resolver/classes/kept_sources.h"

#include "foundation/report/error.h"

namespace axle::resolver {
namespace {

class KeptSource final : public index::Source {
 public:
  explicit KeptSource(index::Source& inner) : inner_(inner) {}

  Result<index::ProjectPage> project(std::string_view name) override {
    return once(projects_, name, [&] { return inner_.project(name); });
  }
  Result<index::ListedProject> listing(std::string_view name) override {
    return once(listings_, name, [&] { return inner_.listing(name); });
  }
  void prefetch(std::string_view name) override {
    if (!is_known(name)) inner_.prefetch(name);
  }
  bool has_arrived(std::string_view name) override {
    return is_known(name) || inner_.has_arrived(name);
  }
  std::set<std::string> names_at_hand() override { return inner_.names_at_hand(); }
  std::string description() const override { return inner_.description(); }

 private:
  template <class Page>
  using Pages = std::map<std::string, Page, std::less<>>;

  /// What could not be read is asked for again.
  template <class Page>
  Result<Page> once(Pages<Page>& pages, std::string_view name, const auto& read) {
    if (const auto known = pages.find(name); known != pages.end()) return known->second;
    Result<Page> page = read();
    if (page) pages.emplace(name, *page);
    return page;
  }
  [[nodiscard]] bool is_known(std::string_view name) const {
    return projects_.contains(name) || listings_.contains(name);
  }

  index::Source& inner_;
  Pages<index::ProjectPage> projects_;
  Pages<index::ListedProject> listings_;
};

}  // namespace

KeptSources::KeptSources(const Sources& sources) : sources_(sources) {
  for (index::Source*& source : sources_.indexes) source = keep(source);
  for (index::Source*& source : sources_.find_links) source = keep(source);
  for (auto& [name, rows] : sources_.assigned) {
    for (AssignedSource& row : rows) row.index = keep(row.index);
  }
}

index::Source* KeptSources::keep(index::Source* source) {
  if (source == nullptr) return nullptr;
  std::unique_ptr<index::Source>& kept = kept_[source];
  if (kept == nullptr) kept = std::make_unique<KeptSource>(*source);
  return kept.get();
}

}  // namespace axle::resolver
