#pragma once
// A Host that enumerates devices in any order.

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "detect/record/forwarding_host.h"

namespace axle::testing {

/// Lists every folder, and the devices of every driver's answer, in an order of its own.
class ShufflingHost final : public detect::ForwardingHost {
 public:
  ShufflingHost(detect::Host& next, unsigned seed) : ForwardingHost(next), random_(seed) {}

  std::vector<std::string> list_folder(const std::string& path) override {
    auto names = ForwardingHost::list_folder(path);
    std::ranges::shuffle(names, random_);
    return names;
  }

  std::vector<detect::DriverAnswer> ask_drivers(std::span<const detect::GpuVendor> vendors,
                                                std::chrono::milliseconds time_limit) override {
    auto answers = ForwardingHost::ask_drivers(vendors, time_limit);
    for (detect::DriverAnswer& answer : answers) answer.lines = shuffled(answer.lines);
    return answers;
  }

 private:
  /// Whole lines of devices change places among themselves.
  std::string shuffled(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size() - 1);
      lines.push_back(text.substr(at, end + 1 - at));
      at = end + 1;
    }
    std::vector<std::size_t> places;
    std::vector<std::string> devices;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].find(".device\t") == std::string::npos) continue;
      places.push_back(i);
      devices.push_back(lines[i]);
    }
    std::ranges::shuffle(devices, random_);
    for (std::size_t i = 0; i < places.size(); ++i) lines[places[i]] = devices[i];
    std::string all;
    for (const std::string& line : lines) all += line;
    return all;
  }

  std::mt19937 random_;
};

}  // namespace axle::testing
