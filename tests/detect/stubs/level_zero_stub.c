#include <level_zero/ze_api.h>

#include "behaviour.h"

#ifdef STUB_WITH_INIT_DRIVERS
ze_result_t zeInitDrivers(uint32_t* count, ze_driver_handle_t* drivers, void* type) {
  (void)type;
  const int code = stub_initialise();
  if (code != 0) return (ze_result_t)code;
  *count = 1;
  if (drivers != NULL) drivers[0] = (ze_driver_handle_t)1;
  return ZE_RESULT_SUCCESS;
}
#elif !defined(STUB_WITHOUT_INIT)
ze_result_t zeInit(ze_init_flags_t flags) {
  (void)flags;
  return (ze_result_t)stub_initialise();
}

ze_result_t zeDriverGet(uint32_t* count, ze_driver_handle_t* drivers) {
  *count = 1;
  if (drivers != NULL) drivers[0] = (ze_driver_handle_t)1;
  return ZE_RESULT_SUCCESS;
}
#endif

ze_result_t zeDriverGetApiVersion(ze_driver_handle_t driver, ze_api_version_t* version) {
  (void)driver;
  *version = (ze_api_version_t)0x00010003;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeDriverGetProperties(ze_driver_handle_t driver, ze_driver_properties_t* properties) {
  (void)driver;
  properties->driverVersion = 0x0106832A;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGet(ze_driver_handle_t driver, uint32_t* count, ze_device_handle_t* devices) {
  (void)driver;
  *count = (uint32_t)stub_devices();
  if (devices != NULL && *count > 0) devices[0] = (ze_device_handle_t)1;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetProperties(ze_device_handle_t device, ze_device_properties_t* properties) {
  (void)device;
  properties->type = ZE_DEVICE_TYPE_GPU;
  properties->vendorId = 0x8086;
  properties->deviceId = 0xE20B;
  strcpy(properties->name, "Stub Arc B580");
  // The extension structure for the IP version is newer than the header.
  struct ip_version {
    uint32_t stype;
    void* next;
    uint32_t ip;
  }* extension = properties->pNext;
  if (extension != NULL && extension->stype == 0x1000F) extension->ip = (20U << 22) | (1U << 14);
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetMemoryProperties(ze_device_handle_t device, uint32_t* count,
                                        ze_device_memory_properties_t* memories) {
  (void)device;
  *count = 1;
  if (memories != NULL) memories[0].totalSize = 12ULL << 30;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeDevicePciGetPropertiesExt(ze_device_handle_t device, ze_pci_ext_properties_t* pci) {
  (void)device;
  pci->address.domain = 0;
  pci->address.bus = 3;
  pci->address.device = 0;
  pci->address.function = 0;
  return ZE_RESULT_SUCCESS;
}
