#include "session/default_index.h"

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "foundation/system/program_run.h"
#include "installer/environment/environment.h"

namespace axle::session {

namespace {

constexpr std::chrono::seconds limit{10};

/// pip stores the address of its default index only in this value.
constexpr const char* question =
    "from pip._internal.models.index import PyPI; print(PyPI.simple_url)";

/// The address that `python`'s pip reports, or "" if it has no pip.
std::string ask(const std::string& python) {
  const auto answer = system::run_program({{python, "-I", "-c", question}}, {.time_limit = limit});
  if (!answer || answer->exit_code != 0) return {};
  std::string url = answer->out;
  while (!url.empty() && (url.back() == '\n' || url.back() == '\r')) url.pop_back();
  const bool plausible = url.starts_with("https://") || url.starts_with("http://");
  return plausible && url.find_first_of(" \n\t") == std::string::npos ? url : std::string();
}

struct DefaultIndex {
  std::string url;
  std::string origin;  ///< "pip of /usr/bin/python3"
};

Result<DefaultIndex> find_default_index(const std::string& python, const std::string& path) {
  std::vector<std::string> interpreters = {python};
  if (auto other = installer::find_program("python3", path); other && *other != python) {
    interpreters.push_back(std::move(*other));
  }
  for (const std::string& interpreter : interpreters) {
    std::string url = ask(interpreter);
    if (!url.empty()) return DefaultIndex{std::move(url), "pip of " + interpreter};
  }
  return fail(
      ErrorKind::not_found,
      fmt::format("no index is configured, and {} has no pip whose configuration could be used",
                  python),
      "set one: --index-url URL, PIP_INDEX_URL, or index-url in pip.conf or uv.toml");
}

class DefaultIndexSource final : public index::Source {
 public:
  DefaultIndexSource(std::string python, std::string path, index::Transport& transport,
                     Report& report)
      : python_(std::move(python)),
        path_(std::move(path)),
        transport_(transport),
        report_(report) {}

  Result<index::ProjectPage> project(std::string_view name) override {
    if (auto done = find(); !done) return std::unexpected(std::move(done).error());
    return source_->project(name);
  }

  Result<index::ListedProject> listing(std::string_view name) override {
    if (auto done = find(); !done) return std::unexpected(std::move(done).error());
    return source_->listing(name);
  }

  void prefetch(std::string_view name) override {
    // What is wrong with it is said where it is asked.
    if (find()) source_->prefetch(name);
  }

  bool has_arrived(std::string_view name) override {
    return source_ != nullptr && source_->has_arrived(name);
  }

  std::string description() const override {
    return source_ == nullptr ? "the index of " + python_ + "'s pip" : source_->description();
  }

 private:
  Result<void> find() {
    if (source_ != nullptr) return {};
    if (!found_) found_ = find_default_index(python_, path_);
    auto& found = *found_;
    if (!found) return std::unexpected(found.error());
    report_.detail(fmt::format("index: {} (from {})", found->url, found->origin));
    source_ = index::make_simple_source(found->url, transport_, report_);
    return {};
  }

  std::string python_;
  std::string path_;
  index::Transport& transport_;
  Report& report_;
  std::optional<Result<DefaultIndex>> found_;
  std::unique_ptr<index::Source> source_;
};

}  // namespace

Result<std::string> default_index_url(const std::string& python, const std::string& path) {
  auto found = find_default_index(python, path);
  if (!found) return std::unexpected(std::move(found).error());
  return std::move(found->url);
}

std::unique_ptr<index::Source> make_default_index(std::string python, std::string path,
                                                  index::Transport& transport, Report& report) {
  return std::make_unique<DefaultIndexSource>(std::move(python), std::move(path), transport,
                                              report);
}

}  // namespace axle::session
