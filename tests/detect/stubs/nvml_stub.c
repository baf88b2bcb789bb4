#include "behaviour.h"

struct pci {
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
  char bus_id[32];
};

static int index_of(void* device) { return (int)((char*)device - (char*)0) - 1; }

struct memory {
  unsigned long long total, free, used;
};

#ifndef STUB_WITHOUT_INIT
int nvmlInit_v2(void) {
  const int code = stub_initialise();
  // Codes above 800 are CUDA's: NVML is content then.
  return code >= 800 ? 0 : code;
}
#endif

int nvmlSystemGetDriverVersion(char* version, unsigned size) {
  snprintf(version, size, "570.124.06");
  return 0;
}

int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 12080;
  return 0;
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = (unsigned)stub_devices();
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = (char*)0 + index + 1;
  return 0;
}

int nvmlDeviceGetName(void* device, char* name, unsigned size) {
  (void)device;
  snprintf(name, size, "Stub H100");
  return 0;
}

int nvmlDeviceGetUUID(void* device, char* uuid, unsigned size) {
  (void)device;
  snprintf(uuid, size, "GPU-01234567-89ab-cdef-0123-456789abcdef");
  return 0;
}

int nvmlDeviceGetPciInfo_v3(void* device, struct pci* pci) {
  memset(pci, 0, sizeof(*pci));
  pci->id = 0x233010DE;
  snprintf(pci->bus_id, sizeof(pci->bus_id), "00000000:%02X:00.0", 0x65 - index_of(device));
  return 0;
}

int nvmlDeviceGetMemoryInfo(void* device, struct memory* memory) {
  (void)device;
  memory->total = 80ULL << 30;
  memory->free = memory->total;
  memory->used = 0;
  return 0;
}

int nvmlDeviceGetCudaComputeCapability(void* device, int* major, int* minor) {
  *major = 9 - 2 * index_of(device);
  *minor = 5 * index_of(device);
  return 0;
}

int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending) {
  (void)device;
  *current = *pending = strncmp(stub_mode(), "mig", 3) == 0;
  return 0;
}

int nvmlDeviceGetMaxMigDeviceCount(void* device, unsigned* count) {
  (void)device;
  *count = 7;
  return 0;
}

// Instances lie in slots of their own, with free ones between: 6 is NOT_FOUND.
int nvmlDeviceGetMigDeviceHandleByIndex(void* device, unsigned index, void** instance) {
  *instance = device;
  return strcmp(stub_mode(), "mig") == 0 && index == 3 ? 0 : 6;
}

// What a GPU behind NVSwitch says before the fabric manager has come: state 2, in progress.
int nvmlDeviceGetGpuFabricInfo(void* device, unsigned char* info) {
  (void)device;
  if (getenv("AXLE_STUB_FABRIC") == NULL) return 3;
  memset(info, 0, 32);
  info[24] = 2;
  return 0;
}
