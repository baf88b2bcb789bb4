#pragma once
// Where releases come from: simple indexes, find-links pages and folders, in the user's order.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "index/page.h"
#include "index/transport.h"
#include "report/error.h"
#include "report/report.h"

namespace axle::index {

/// One place that publishes. A release's variants file and its wheels come from one source, never
/// merged across (PEP 825).
class Source {
 public:
  virtual ~Source() = default;
  /// The project's files; an empty list when this source does not have it. `name` is normalised.
  [[nodiscard]] virtual Result<ProjectPage> project(std::string_view name) = 0;
  /// For messages: URL without credentials or folder.
  [[nodiscard]] virtual std::string description() const = 0;
};

struct CacheOptions {
  std::string folder;    ///< empty: nothing is kept
  bool offline = false;  ///< answer from the cache alone
};

/// Conditional requests and a cache on disk; index pages and variants files are always revalidated
/// (unless Cache-Control says fresh), files named by hash never.
[[nodiscard]] std::unique_ptr<Transport> make_caching_transport(std::unique_ptr<Transport> inner,
                                                                CacheOptions options);

/// `url`: base of a simple index (http, https, file, or an absolute folder path laid out as one).
[[nodiscard]] std::unique_ptr<Source> make_simple_source(std::string url, Transport& transport,
                                                         Report& report);
/// `location`: a folder of files, or a page with links (pip --find-links).
[[nodiscard]] std::unique_ptr<Source> make_find_links_source(std::string location,
                                                             Transport& transport, Report& report);

}  // namespace axle::index
