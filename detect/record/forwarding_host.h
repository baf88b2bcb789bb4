#pragma once
// A Host that forwards every query to another: the base class of those that change or record some
// answers.

#include "detect/host.h"

namespace axle::detect {

class ForwardingHost : public Host {
 public:
  /// `next` must outlive this.
  explicit ForwardingHost(Host& next) : next_(next) {}

  void turn_to(std::string_view topic) override { next_.turn_to(topic); }
  Arch arch() override { return next_.arch(); }
  std::optional<CpuidLeaf> cpuid(std::uint32_t leaf, std::uint32_t subleaf) override {
    return next_.cpuid(leaf, subleaf);
  }
  std::uint64_t xcr0() override { return next_.xcr0(); }
  std::optional<std::uint64_t> xcomp(XcompQuery query) override { return next_.xcomp(query); }
  bool on_cpu(unsigned cpu, const std::function<void()>& work) override {
    return next_.on_cpu(cpu, work);
  }
  std::optional<std::uint64_t> auxiliary(unsigned long type) override {
    return next_.auxiliary(type);
  }
  std::optional<unsigned> sve_vector_bytes() override { return next_.sve_vector_bytes(); }
  std::optional<unsigned> sme_vector_bytes() override { return next_.sme_vector_bytes(); }
  std::optional<std::uint64_t> riscv_hwprobe(std::int64_t key) override {
    return next_.riscv_hwprobe(key);
  }
  std::optional<std::uint64_t> riscv_vtype() override { return next_.riscv_vtype(); }
  std::optional<std::string> sysctl(const std::string& name) override { return next_.sysctl(name); }
  SystemName system_name() override { return next_.system_name(); }
  unsigned online_cpus() override { return next_.online_cpus(); }
  std::string glibc_version() override { return next_.glibc_version(); }
  ProgramAnswer run_program(const std::string& command,
                            std::chrono::milliseconds time_limit) override {
    return next_.run_program(command, time_limit);
  }
  using Host::read_file;
  std::optional<std::string> read_file(const std::string& path, std::size_t limit) override {
    return next_.read_file(path, limit);
  }
  std::vector<std::string> list_folder(const std::string& path) override {
    return next_.list_folder(path);
  }
  std::optional<std::string> read_link(const std::string& path) override {
    return next_.read_link(path);
  }
  std::optional<std::string> file_stamp(const std::string& path) override {
    return next_.file_stamp(path);
  }
  bool accessible(const std::string& path, Access access) override {
    return next_.accessible(path, access);
  }
  std::optional<std::string> environment(const std::string& name) override {
    return next_.environment(name);
  }
  std::vector<DriverAnswer> ask_drivers(std::span<const GpuVendor> vendors,
                                        std::chrono::milliseconds time_limit) override {
    return next_.ask_drivers(vendors, time_limit);
  }

 private:
  Host& next_;
};

}  // namespace axle::detect
