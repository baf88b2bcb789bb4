#include "index/browse/project_page.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "foundation/text/byte_size.h"
#include "foundation/text/rfc3339.h"
#include "index/browse/html_text.h"
#include "index/browse/page_frame.h"
#include "index/browse/release_data.h"
#include "index/http/url.h"
#include "wheel/version.h"
#include "wheel/wheel_name.h"

namespace axle::index {
namespace {

struct PageWheel {
  const ListedFile* file;
  wheel::WheelName name;
};

struct PageRelease {
  std::vector<PageWheel> wheels;  ///< as listed
  const ListedFile* variants_file = nullptr;
  std::optional<wheel::VariantMetadata> document = {};
};

using PageReleases = std::map<wheel::Version, PageRelease>;

/// Files of no release (a variants file of another spelling) are left to the other pages.
PageReleases releases_of(const std::vector<ListedFile>& files) {
  PageReleases releases;
  std::map<std::string, wheel::Version, std::less<>> by_variants_file;
  for (const ListedFile& file : files) {
    auto name = wheel::parse_wheel_name(file.filename);
    if (!name) continue;
    PageRelease& release = releases[name->version];
    if (release.wheels.empty()) {
      by_variants_file.emplace(wheel::variants_file_name(name->distribution, name->version),
                               name->version);
    }
    release.wheels.push_back({&file, std::move(*name)});
  }
  for (const ListedFile& file : files) {
    const auto of = by_variants_file.find(file.filename);
    if (of != by_variants_file.end()) releases[of->second].variants_file = &file;
  }
  return releases;
}

void read_documents(PageReleases& releases, const ReadVariants& read) {
  std::vector<const ListedFile*> files;
  std::vector<PageRelease*> described;
  for (auto release = releases.rbegin(); release != releases.rend(); ++release) {
    if (release->second.variants_file == nullptr) continue;
    if (described.size() == most_described_releases) break;
    files.push_back(release->second.variants_file);
    described.push_back(&release->second);
  }
  auto documents = read(files);
  for (std::size_t i = 0; i < described.size(); ++i)
    described[i]->document = std::move(documents[i]);
}

std::string counted_of(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string link_to(const ListedFile& file) {
  const std::string text = html_text(file.filename);
  if (file.url.empty())
    return fmt::format("<a href=\"{}\">{}</a>", percent_encode(file.filename, false), text);
  if (!is_followed(file.url)) return text;
  return fmt::format("<a href=\"{}\">{}</a>", html_text(file.url), text);
}

std::string rendered_wheel(const ListedFile& file) {
  std::string row = file.yanked ? "<tr data-yanked>" : "<tr>";
  row += fmt::format("<th scope=row>{}", link_to(file));
  if (file.yanked) {
    row += "<p class=yanked><strong>Yanked</strong>";
    if (!file.yanked->empty()) row += fmt::format(": <bdi>{}</bdi>", html_text(*file.yanked));
    row += "</p>";
  }
  row += fmt::format("<p class=hash>sha256 <code>{}</code></p></th>", html_text(file.sha256));
  row += fmt::format("<td>{}</td><td class=size data-bytes={}>{}</td></tr>\n",
                     html_text(file.requires_python), file.size, text::render_bytes(file.size));
  return row;
}

/// "nvidia :: sm_arch :: 100_real or 90_real" of each feature: one of its values has to fit.
std::string rendered_needs(const wheel::VariantProperties& properties) {
  if (properties.empty()) return "<p>Needs nothing: it fits every machine.</p>";
  std::string text = "<ul class=needs>";
  for (auto property = properties.begin(); property != properties.end();) {
    text += fmt::format("<li><code>{} :: {} :: {}</code>", html_text(property->ns),
                        html_text(property->feature), html_text(property->value));
    auto next = std::next(property);
    for (;
         next != properties.end() && next->ns == property->ns && next->feature == property->feature;
         ++next) {
      text += fmt::format(" or <code>{}</code>", html_text(next->value));
    }
    text += "</li>";
    property = next;
  }
  return text + "</ul>";
}

std::string heading_of(const std::string& label, const PageRelease& release) {
  if (label.empty()) {
    return release.variants_file == nullptr
               ? std::string("Wheels")
               : std::string(
                     "Without a variant<p>For machines that no variant fits, and for "
                     "installers that know no variants.</p>");
  }
  std::string text = fmt::format("Variant <code>{}</code>", html_text(label));
  if (!release.document) return text;
  const auto properties = release.document->variants.find(label);
  if (properties == release.document->variants.end())
    return text + "<p>The variants file does not name it: installers pass it over.</p>";
  return text + rendered_needs(properties->second);
}

/// The wheels of a label, or those without, are a group of rows.
std::string rendered_table(const std::string& version, const PageRelease& release) {
  std::map<std::string, std::string> groups;
  for (const PageWheel& wheel : release.wheels)
    groups[wheel.name.label] += rendered_wheel(*wheel.file);
  std::string text = fmt::format(
      "<table><caption>Wheels of {}</caption>\n<thead><tr><th scope=col>Wheel</th><th "
      "scope=col>Python</th><th scope=col>Size</th></tr></thead>\n",
      html_text(version));
  // Plain wheels last: they are the last choice.
  std::vector<std::string> labels;
  for (const auto& [label, rows] : groups) {
    if (!label.empty()) labels.push_back(label);
  }
  if (groups.contains("")) labels.emplace_back();
  for (const std::string& label : labels) {
    text += fmt::format(
        "<tbody data-label=\"{}\">\n<tr><th colspan=3 scope=rowgroup>{}</th></tr>\n{}</tbody>\n",
        html_text(label), heading_of(label, release), groups[label]);
  }
  return text + "</table>\n";
}

std::string release_summary(const PageRelease& release) {
  std::set<std::string_view> labels;
  std::uint64_t smallest = release.wheels.front().file->size;
  std::uint64_t largest = 0;
  std::optional<std::int64_t> uploaded;
  std::size_t yanked = 0;
  for (const PageWheel& wheel : release.wheels) {
    if (wheel.name.is_variant()) labels.insert(wheel.name.label);
    smallest = std::min(smallest, wheel.file->size);
    largest = std::max(largest, wheel.file->size);
    uploaded = std::max(uploaded, wheel.file->uploaded);
    if (wheel.file->yanked) ++yanked;
  }
  std::string text = counted_of(release.wheels.size(), "wheel");
  if (!labels.empty()) text += ", " + counted_of(labels.size(), "variant");
  text += ", " + text::render_bytes(smallest);
  if (const std::string most = text::render_bytes(largest); most != text::render_bytes(smallest))
    text += " to " + most;
  if (uploaded) text += ", " + text::render_rfc3339(*uploaded).substr(0, 10);
  if (yanked == release.wheels.size())
    text += ", yanked";
  else if (yanked > 0)
    text += fmt::format(", {} yanked", yanked);
  return text;
}

std::string about_variants_file(const PageRelease& release) {
  if (release.variants_file == nullptr) return {};
  if (release.document) {
    return fmt::format("<p>What its variants need is also in {}.</p>\n",
                       link_to(*release.variants_file));
  }
  return fmt::format(
      "<p class=undescribed>What its variants need is not on this page: it is in {}.</p>\n",
      link_to(*release.variants_file));
}

std::string rendered_command(std::string_view start, std::string_view what) {
  return fmt::format(
      "<p class=command><code>{} {} --index-url <span class=index>INDEX</span></code></p>\n", start,
      html_word(what));
}

std::string rendered_release(std::string_view project, const wheel::Version& version,
                             const PageRelease& release, bool open) {
  const std::string text = wheel::render_version(version);
  const bool final_release = !version.is_prerelease();
  return fmt::format(
      "<details class=release data-version=\"{0}\"{1}{2}>\n<summary><h3>{0}</h3> "
      "<span>{3}</span></summary>\n{4}{5}{6}</details>\n",
      html_text(text), final_release ? "" : " data-prerelease", open ? " open" : "",
      release_summary(release),
      rendered_command("variant install", fmt::format("{}=={}", project, text)),
      rendered_table(text, release), about_variants_file(release));
}

std::string rendered_commands(std::string_view project, const PageRelease& newest) {
  const auto is_variant = [](const PageWheel& wheel) { return wheel.name.is_variant(); };
  const bool variants = std::ranges::any_of(newest.wheels, is_variant);
  const bool plain = !std::ranges::all_of(newest.wheels, is_variant);
  std::string text = "<section aria-labelledby=install-title>\n<h2 id=install-title>Install</h2>\n";
  text += rendered_command("variant install", project);
  text += "<details><summary>With uv or pip</summary>\n";
  text += rendered_command(
      variants ? "uv pip install --preview-features wheel-variants" : "uv pip install", project);
  if (plain) text += rendered_command("pip install", project);
  if (variants) {
    text += plain ? "<p class=note>pip takes the wheel without a variant.</p>\n"
                  : "<p class=note>pip knows no variants, and the newest release has no wheel "
                    "without one.</p>\n";
  }
  return text +
         "</details>\n<p class=note id=index-note>INDEX stands for the address of <a "
         "href=\"../index.html\">the simple pages of this index</a>, up to "
         "“simple/”.</p>\n</section>\n";
}

/// What a script fills with a choice. Without one it is not there.
constexpr std::string_view chooser = R"html(<section id=choose aria-labelledby=choose-title hidden>
<h2 id=choose-title>Which wheel for which machine</h2>
<form id=chooser>
<div class=fields>
<div class=field><label for=machine>Machine</label>
<select id=machine><option value="">Choose a machine</option></select></div>
<div class="field short"><label for=python>Python</label><select id=python></select></div>
</div>
<details id=paste><summary>Or paste what a machine says of itself</summary>
<label for=facts>Output of <code>variant detect --properties --json</code> on that machine</label>
<textarea id=facts rows=7 spellcheck=false autocomplete=off aria-describedby="facts-help facts-error"></textarea>
<p id=facts-help class=note>It stays on this page: nothing is sent anywhere.</p>
<p id=facts-error class=error role=alert></p>
<button type=submit>Use this machine</button>
</details>
</form>
<div id=answer aria-live=polite></div>
</section>
<noscript><p class=note>With JavaScript, this page also says which wheel a machine gets, and why.</p></noscript>
)html";

std::string rendered_data(const PageReleases& releases, const PageMachines& machines) {
  std::string data;
  for (const auto& [version, release] : releases) {
    if (!release.document) continue;
    data += fmt::format("{}{}:{}", data.empty() ? "\n" : ",\n",
                        json_text(wheel::render_version(version)),
                        release_data(*release.document, machines));
  }
  return fmt::format("<script type=\"application/json\" id=variants>{{{}}}</script>\n",
                     html_data(data));
}

}  // namespace

std::string render_project_page(std::string_view project, const std::vector<ListedFile>& files,
                                const ReadVariants& read, const PageMachines& machines) {
  PageReleases releases = releases_of(files);
  read_documents(releases, read);
  // Opened is the one that people are after.
  const auto final_release = [](const auto& entry) { return !entry.first.is_prerelease(); };
  auto newest = std::find_if(releases.rbegin(), releases.rend(), final_release);
  if (newest == releases.rend()) newest = releases.rbegin();
  std::string body = fmt::format("<h1><bdi>{}</bdi></h1>\n<p class=lead>{}", html_text(project),
                                 counted_of(releases.size(), "release"));
  if (newest != releases.rend()) {
    body += fmt::format(", the newest is <strong>{}</strong></p>\n",
                        html_text(wheel::render_version(newest->first)));
  } else {
    body += "</p>\n";
  }
  if (newest != releases.rend()) body += rendered_commands(project, newest->second);
  body += chooser;
  body += "<section aria-labelledby=releases-title>\n<h2 id=releases-title>Releases</h2>\n";
  for (auto release = releases.rbegin(); release != releases.rend(); ++release)
    body += rendered_release(project, release->first, release->second, release == newest);
  body += "</section>\n";
  body += rendered_data(releases, machines);
  return page_frame({.title = fmt::format("{}: package index", project),
                     .to_root = "../../",
                     .body = std::move(body),
                     .has_machines = true,
                     .project = std::string(project)});
}

}  // namespace axle::index
