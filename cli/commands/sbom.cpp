// sbom: the packages of an environment as a CycloneDX document.
#include <chrono>
#include <string>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/views/bom_view.h"
#include "foundation/system/newer_calls.h"
#include "installer/environment/ownership.h"
#include "session/inventory.h"
#include "session/output_file.h"
#include "session/session.h"
#include "session/variables.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

std::string random_uuid() {
  std::string bytes(16, '\0');
  // So few bytes are never cut short.
  (void)::getrandom(bytes.data(), bytes.size(), 0);
  return render_uuid(std::move(bytes), 4);
}

void read_files(BillOfMaterials& bill, Output& output) {
  for (const installer::InstalledDistribution& one : bill.inventory.distributions) {
    auto record = installer::read_record(one);
    if (record) {
      bill.files[one.name] = std::move(*record);
    } else {
      output.warn(fmt::format("the files of {} are unknown: {}", one.name, record.error().message));
    }
  }
}

}  // namespace

int run_sbom(session::Session& session, Output& output) {
  const session::Arguments& arguments = session.arguments();
  const auto epoch = session::source_date_epoch();
  if (!epoch) return output.failure(epoch.error());
  if (*epoch && !render_utc(**epoch)) {
    return output.failure(
        session::misused(fmt::format("SOURCE_DATE_EPOCH is {}, after the year 9999", **epoch))
            .error());
  }
  auto inventory = session::take_inventory(session, session::MetadataDepth::whole);
  if (!inventory) return output.failure(inventory.error());
  BillOfMaterials bill{.inventory = *inventory};
  if (*epoch) {
    bill.time = **epoch;
  } else {
    bill.serial = random_uuid();
    bill.time = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(
                                               std::chrono::system_clock::now().time_since_epoch())
                                               .count());
  }
  if (arguments.has(session::Opt::files)) read_files(bill, output);
  const std::string text = render_json(render_bom(bill));
  const std::string place = arguments.value(session::Opt::output_file);
  // The document is the same with --json: CycloneDX takes no key beside its own.
  if (place.empty() || place == "-") return output.answer_text(text);
  if (auto written = session::write_output(place, text, "bill of materials"); !written)
    return output.failure(written.error());
  const std::size_t count = inventory->distributions.size();
  return output.answer(
      {.text =
           [&] {
             return output.options().quiet
                        ? std::string()
                        : fmt::format("{}: {} package{}\n", place, count, count == 1 ? "" : "s");
           },
       .json = [&]() -> ordered_json { return {{"file", place}, {"components", count}}; }});
}

}  // namespace axle::cli
