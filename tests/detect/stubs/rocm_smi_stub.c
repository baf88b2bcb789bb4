#include <rocm_smi/rocm_smi.h>
#include <stdbool.h>

#include "behaviour.h"

// Two ROCm SMIs in one process tear it down: each that is loaded leaves a line.
__attribute__((constructor)) static void note_load(void) { stub_note_start(); }

rsmi_status_t rsmi_init(uint64_t flags) {
  (void)flags;
  return (rsmi_status_t)stub_initialise();
}

rsmi_status_t rsmi_num_monitor_devices(uint32_t* count) {
  *count = (uint32_t)stub_devices();
  return RSMI_STATUS_SUCCESS;
}

rsmi_status_t rsmi_version_str_get(rsmi_sw_component_t component, char* version, uint32_t size) {
  (void)component;
  snprintf(version, size, "6.8.5");
  return RSMI_STATUS_SUCCESS;
}

rsmi_status_t rsmi_dev_pci_id_get(uint32_t device, uint64_t* id) {
  (void)device;
  *id = 0xC100;
  return RSMI_STATUS_SUCCESS;
}

rsmi_status_t rsmi_dev_name_get(uint32_t device, char* name, size_t size) {
  (void)device;
  snprintf(name, size, "Stub MI300X");
  return RSMI_STATUS_SUCCESS;
}

rsmi_status_t rsmi_dev_memory_total_get(uint32_t device, rsmi_memory_type_t type, uint64_t* bytes) {
  (void)device;
  (void)type;
  *bytes = 192ULL << 30;
  return RSMI_STATUS_SUCCESS;
}
