#include "index/browse/list_pages.h"

#include <algorithm>
#include <map>
#include <ranges>

#include <fmt/format.h>

#include "index/browse/html_text.h"
#include "index/browse/project_page.h"

namespace axle::index {
namespace {

constexpr std::size_t longest_beginning = 12;

std::string list_path(const NameGroup& group) {
  // A normalised name has no dot, so that no other file of the folder has this name.
  return group.beginning.empty() ? std::string(first_page)
                                 : fmt::format("page/list-{}.html", group.beginning);
}

std::string counted_projects(std::size_t count) {
  return fmt::format("{} project{}", count, count == 1 ? "" : "s");
}

void divide_names(std::span<const std::string> names, std::size_t begin, std::size_t end,
                  std::size_t length, std::vector<NameGroup>& groups) {
  while (begin < end) {
    const std::string beginning = names[begin].substr(0, length);
    std::size_t next = begin + 1;
    while (next < end && std::string_view(names[next]).substr(0, length) == beginning) ++next;
    const bool longer = beginning.size() == length && length < longest_beginning;
    if (next - begin > most_listed_projects && longer) {
      divide_names(names, begin, next, length + 1, groups);
    } else {
      groups.push_back({beginning, begin, next});
    }
    begin = next;
  }
}

std::string find_field(std::string_view what) {
  return fmt::format(
      "<form id=find hidden><label for=name>{}</label>\n<input id=name type=search "
      "autocomplete=off spellcheck=false><p id=found class=note role=status></p></form>\n",
      what);
}

std::string links_to(std::span<const std::string> names, std::string_view to_root) {
  std::string text = "<ul class=projects>\n";
  for (const std::string& name : names) {
    const std::string shown = html_text(name);
    text += fmt::format("<li><a href=\"{}simple/{}/{}\">{}</a></li>\n", to_root, shown,
                        project_page_name, shown);
  }
  return text + "</ul>\n";
}

SharedFile rendered_group(const NameGroup& group, std::span<const std::string> all) {
  const auto names = all.subspan(group.begin, group.end - group.begin);
  const bool first = group.beginning.empty();
  const std::string_view to_root = first ? "" : "../";
  std::string body = first ? std::string("<h1>Package index</h1>\n")
                           : fmt::format("<h1>Projects: {}</h1>\n", html_text(group.beginning));
  body += fmt::format("<p class=lead>{}</p>\n", counted_projects(names.size()));
  body += find_field("Find a project") + links_to(names, to_root);
  std::string title = first ? std::string("Package index")
                            : fmt::format("Projects {}: package index", group.beginning);
  return {list_path(group),
          page_frame({.title = std::move(title), .to_root = to_root, .body = std::move(body)})};
}

/// Of a divided index.
SharedFile rendered_contents(const std::vector<NameGroup>& groups,
                             std::span<const std::string> all) {
  std::string body =
      fmt::format("<h1>Package index</h1>\n<p class=lead>{}</p>\n", counted_projects(all.size()));
  body += find_field("Name of a project") + "<ul class=\"projects groups\">\n";
  for (const NameGroup& group : groups) {
    const std::string& last = all[group.end - 1];
    std::string text = html_text(all[group.begin]);
    if (group.end - group.begin > 1) text += " to " + html_text(last);
    body += fmt::format(
        "<li data-beginning=\"{}\"><a href=\"{}\">{}</a> <span class=note>{}</span></li>\n",
        html_text(group.beginning), list_path(group), text,
        counted_projects(group.end - group.begin));
  }
  body += "</ul>\n";
  return {std::string(first_page),
          page_frame({.title = "Package index", .to_root = "", .body = std::move(body)})};
}

bool is_divided(const std::vector<NameGroup>& groups) {
  return groups.size() != 1 || !groups.front().beginning.empty();
}

bool same_names(const NameGroup& left, std::span<const std::string> left_names,
                const NameGroup& right, std::span<const std::string> right_names) {
  return std::ranges::equal(left_names.subspan(left.begin, left.end - left.begin),
                            right_names.subspan(right.begin, right.end - right.begin));
}

}  // namespace

std::vector<NameGroup> group_names(std::span<const std::string> sorted) {
  if (sorted.size() <= most_listed_projects) return {{"", 0, sorted.size()}};
  std::vector<NameGroup> groups;
  divide_names(sorted, 0, sorted.size(), 1, groups);
  return groups;
}

std::vector<SharedFile> render_list_pages(std::span<const std::string> projects) {
  const std::vector<NameGroup> groups = group_names(projects);
  std::vector<SharedFile> pages;
  if (is_divided(groups)) pages.push_back(rendered_contents(groups, projects));
  for (const NameGroup& group : groups) pages.push_back(rendered_group(group, projects));
  return pages;
}

ListChange change_list_pages(std::span<const std::string> before,
                             std::span<const std::string> after) {
  std::map<std::string, NameGroup> old;
  for (NameGroup& group : group_names(before)) old.emplace(list_path(group), group);
  const std::vector<NameGroup> groups = group_names(after);
  ListChange change;
  if (is_divided(groups)) {
    // It tells how many names each page has.
    change.written.push_back(rendered_contents(groups, after));
    old.erase(std::string(first_page));
  }
  for (const NameGroup& group : groups) {
    const auto there = old.find(list_path(group));
    const bool same = there != old.end() && same_names(there->second, before, group, after);
    if (there != old.end()) old.erase(there);
    if (!same) change.written.push_back(rendered_group(group, after));
  }
  for (const auto& [path, group] : old) {
    if (path != first_page) change.gone.push_back(path);
  }
  return change;
}

}  // namespace axle::index
