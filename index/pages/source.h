#pragma once
// The sources of releases: simple indexes, find-links pages and folders, in the user's order.

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/http/transport.h"
#include "index/pages/listed_project.h"
#include "index/pages/page.h"

namespace axle::index {

/// One place that publishes releases. A release's variants file and its wheels come from one
/// source, never merged across sources (PEP 825).
class Source {
 public:
  virtual ~Source() = default;
  /// The project's files; `absent` if this source does not have it. `name` is normalised.
  [[nodiscard]] virtual Result<ProjectPage> project(std::string_view name) = 0;
  /// A hint: `project` will probably be asked for `name`. See Transport::prefetch.
  virtual void prefetch([[maybe_unused]] std::string_view name) {}
  /// What was sent for ahead has come: `listing` gives it without waiting, and there is nothing to
  /// say of it.
  [[nodiscard]] virtual bool has_arrived([[maybe_unused]] std::string_view name) { return false; }
  /// The same by release, without reading more of it than that.
  [[nodiscard]] virtual Result<ListedProject> listing(std::string_view name);
  /// The projects that it lists without a request: of a folder, or of a page that was read. Empty
  /// if they are unknown.
  [[nodiscard]] virtual std::set<std::string> names_at_hand() { return {}; }
  /// For messages: URL without credentials or folder.
  [[nodiscard]] virtual std::string description() const = 0;
};

struct CacheOptions {
  std::string folder;    ///< empty: nothing is cached
  bool offline = false;  ///< answer from the cache only
  bool refresh = false;  ///< request again what the server marked as fresh
};

/// Conditional requests and a cache on disk; index pages and variants files are always revalidated
/// (unless Cache-Control marks them as fresh, for 10 minutes at most), files with a hash never.
[[nodiscard]] std::unique_ptr<Transport> make_caching_transport(std::unique_ptr<Transport> inner,
                                                                CacheOptions options);

/// `url`: base of a simple index (http, https, file, or an absolute folder path with the same
/// layout). `absent_codes`: HTTP statuses that, like 404, mean that it does not have the project
/// (uv's `ignore-error-codes`).
[[nodiscard]] std::unique_ptr<Source> make_simple_source(std::string url, Transport& transport,
                                                         Report& report,
                                                         std::set<int> absent_codes = {});
/// `location`: a folder of files, or a page with links (pip --find-links).
[[nodiscard]] std::unique_ptr<Source> make_find_links_source(std::string location,
                                                             Transport& transport, Report& report);

}  // namespace axle::index
