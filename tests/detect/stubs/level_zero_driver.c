// The stand-in of level_zero_stub.c as a driver: it answers the real loader through the tables of
// functions that every driver exports. The loader takes no driver that lacks one of them, so that
// those without content are there too.
#include <level_zero/ze_ddi.h>
#include <level_zero/zes_ddi.h>
#include <level_zero/zet_ddi.h>

#define zeInit fake_init
#define zeDriverGet fake_driver_get
#define zeDriverGetApiVersion fake_driver_get_api_version
#define zeDriverGetProperties fake_driver_get_properties
#define zeDeviceGet fake_device_get
#define zeDeviceGetProperties fake_device_get_properties
#define zeDeviceGetMemoryProperties fake_device_get_memory_properties
#define zeDevicePciGetPropertiesExt fake_device_pci_get_properties
#include "level_zero_stub.c"

ze_result_t zeGetGlobalProcAddrTable(ze_api_version_t version, ze_global_dditable_t* table) {
  (void)version;
  table->pfnInit = zeInit;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeGetDriverProcAddrTable(ze_api_version_t version, ze_driver_dditable_t* table) {
  (void)version;
  table->pfnGet = zeDriverGet;
  table->pfnGetApiVersion = zeDriverGetApiVersion;
  table->pfnGetProperties = zeDriverGetProperties;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeGetDeviceProcAddrTable(ze_api_version_t version, ze_device_dditable_t* table) {
  (void)version;
  table->pfnGet = zeDeviceGet;
  table->pfnGetProperties = zeDeviceGetProperties;
  table->pfnGetMemoryProperties = zeDeviceGetMemoryProperties;
  table->pfnPciGetPropertiesExt = zeDevicePciGetPropertiesExt;
  return ZE_RESULT_SUCCESS;
}

#define EMPTY(function, type)                                   \
  ze_result_t function(ze_api_version_t version, type* table) { \
    (void)version;                                              \
    (void)table;                                                \
    return ZE_RESULT_SUCCESS;                                   \
  }

// clang-format off
EMPTY(zeGetDeviceExpProcAddrTable, ze_device_exp_dditable_t)
EMPTY(zeGetContextProcAddrTable, ze_context_dditable_t)
EMPTY(zeGetCommandQueueProcAddrTable, ze_command_queue_dditable_t)
EMPTY(zeGetCommandListProcAddrTable, ze_command_list_dditable_t)
EMPTY(zeGetImageProcAddrTable, ze_image_dditable_t)
EMPTY(zeGetImageExpProcAddrTable, ze_image_exp_dditable_t)
EMPTY(zeGetFenceProcAddrTable, ze_fence_dditable_t)
EMPTY(zeGetEventPoolProcAddrTable, ze_event_pool_dditable_t)
EMPTY(zeGetEventProcAddrTable, ze_event_dditable_t)
EMPTY(zeGetEventExpProcAddrTable, ze_event_exp_dditable_t)
EMPTY(zeGetModuleProcAddrTable, ze_module_dditable_t)
EMPTY(zeGetModuleBuildLogProcAddrTable, ze_module_build_log_dditable_t)
EMPTY(zeGetKernelProcAddrTable, ze_kernel_dditable_t)
EMPTY(zeGetKernelExpProcAddrTable, ze_kernel_exp_dditable_t)
EMPTY(zeGetSamplerProcAddrTable, ze_sampler_dditable_t)
EMPTY(zeGetPhysicalMemProcAddrTable, ze_physical_mem_dditable_t)
EMPTY(zeGetMemProcAddrTable, ze_mem_dditable_t)
EMPTY(zeGetVirtualMemProcAddrTable, ze_virtual_mem_dditable_t)
EMPTY(zeGetFabricVertexExpProcAddrTable, ze_fabric_vertex_exp_dditable_t)
EMPTY(zeGetFabricEdgeExpProcAddrTable, ze_fabric_edge_exp_dditable_t)
EMPTY(zesGetDriverProcAddrTable, zes_driver_dditable_t)
EMPTY(zesGetDeviceProcAddrTable, zes_device_dditable_t)
EMPTY(zesGetSchedulerProcAddrTable, zes_scheduler_dditable_t)
EMPTY(zesGetPerformanceFactorProcAddrTable, zes_performance_factor_dditable_t)
EMPTY(zesGetPowerProcAddrTable, zes_power_dditable_t)
EMPTY(zesGetFrequencyProcAddrTable, zes_frequency_dditable_t)
EMPTY(zesGetEngineProcAddrTable, zes_engine_dditable_t)
EMPTY(zesGetStandbyProcAddrTable, zes_standby_dditable_t)
EMPTY(zesGetFirmwareProcAddrTable, zes_firmware_dditable_t)
EMPTY(zesGetMemoryProcAddrTable, zes_memory_dditable_t)
EMPTY(zesGetFabricPortProcAddrTable, zes_fabric_port_dditable_t)
EMPTY(zesGetTemperatureProcAddrTable, zes_temperature_dditable_t)
EMPTY(zesGetPsuProcAddrTable, zes_psu_dditable_t)
EMPTY(zesGetFanProcAddrTable, zes_fan_dditable_t)
EMPTY(zesGetLedProcAddrTable, zes_led_dditable_t)
EMPTY(zesGetRasProcAddrTable, zes_ras_dditable_t)
EMPTY(zesGetDiagnosticsProcAddrTable, zes_diagnostics_dditable_t)
EMPTY(zetGetDeviceProcAddrTable, zet_device_dditable_t)
EMPTY(zetGetContextProcAddrTable, zet_context_dditable_t)
EMPTY(zetGetCommandListProcAddrTable, zet_command_list_dditable_t)
EMPTY(zetGetModuleProcAddrTable, zet_module_dditable_t)
EMPTY(zetGetKernelProcAddrTable, zet_kernel_dditable_t)
EMPTY(zetGetMetricGroupProcAddrTable, zet_metric_group_dditable_t)
EMPTY(zetGetMetricGroupExpProcAddrTable, zet_metric_group_exp_dditable_t)
EMPTY(zetGetMetricProcAddrTable, zet_metric_dditable_t)
EMPTY(zetGetMetricStreamerProcAddrTable, zet_metric_streamer_dditable_t)
EMPTY(zetGetMetricQueryPoolProcAddrTable, zet_metric_query_pool_dditable_t)
EMPTY(zetGetMetricQueryProcAddrTable, zet_metric_query_dditable_t)
EMPTY(zetGetTracerExpProcAddrTable, zet_tracer_exp_dditable_t)
EMPTY(zetGetDebugProcAddrTable, zet_debug_dditable_t)
