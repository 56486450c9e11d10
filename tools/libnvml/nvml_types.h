/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Types of the NVML programming interface, as far as this library has the functions for them.
 * Names, values and layouts are those that clients of NVML are built with, on 64-bit machines;
 * tests/unit/test_nvml_abi.c has their sizes.
 */
#ifndef VGPU_NVML_TYPES_H
#define VGPU_NVML_TYPES_H

typedef enum nvmlReturn_enum {
	NVML_SUCCESS = 0,
	NVML_ERROR_UNINITIALIZED = 1,
	NVML_ERROR_INVALID_ARGUMENT = 2,
	NVML_ERROR_NOT_SUPPORTED = 3,
	NVML_ERROR_NO_PERMISSION = 4,
	NVML_ERROR_ALREADY_INITIALIZED = 5,
	NVML_ERROR_NOT_FOUND = 6,
	NVML_ERROR_INSUFFICIENT_SIZE = 7,
	NVML_ERROR_INSUFFICIENT_POWER = 8,
	NVML_ERROR_DRIVER_NOT_LOADED = 9,
	NVML_ERROR_TIMEOUT = 10,
	NVML_ERROR_IRQ_ISSUE = 11,
	NVML_ERROR_LIBRARY_NOT_FOUND = 12,
	NVML_ERROR_FUNCTION_NOT_FOUND = 13,
	NVML_ERROR_CORRUPTED_INFOROM = 14,
	NVML_ERROR_GPU_IS_LOST = 15,
	NVML_ERROR_RESET_REQUIRED = 16,
	NVML_ERROR_OPERATING_SYSTEM = 17,
	NVML_ERROR_LIB_RM_VERSION_MISMATCH = 18,
	NVML_ERROR_IN_USE = 19,
	NVML_ERROR_MEMORY = 20,
	NVML_ERROR_NO_DATA = 21,
	NVML_ERROR_VGPU_ECC_NOT_SUPPORTED = 22,
	NVML_ERROR_INSUFFICIENT_RESOURCES = 23,
	NVML_ERROR_FREQ_NOT_SUPPORTED = 24,
	NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 25,
	NVML_ERROR_DEPRECATED = 26,
	NVML_ERROR_NOT_READY = 27,
	NVML_ERROR_GPU_NOT_FOUND = 28,
	NVML_ERROR_INVALID_STATE = 29,
	NVML_ERROR_RESET_TYPE_NOT_SUPPORTED = 30,
	NVML_ERROR_UNKNOWN = 999,
} nvmlReturn_t;

/* The first member of a structure that has versions. */
#define NVML_STRUCT_VERSION(data, ver)	\
	((unsigned int)(sizeof(nvml##data##_v##ver##_t) | ((ver) << 24U)))

typedef struct nvmlDevice_st *nvmlDevice_t;
typedef struct nvmlEventSet_st *nvmlEventSet_t;
typedef unsigned int nvmlVgpuTypeId_t;
typedef unsigned int nvmlVgpuInstance_t;

#define NVML_INIT_FLAG_NO_GPUS		1u
#define NVML_INIT_FLAG_NO_ATTACH	2u
#define NVML_VALUE_NOT_AVAILABLE	0xffffffffffffffffull
#define NVML_NO_INSTANCE		0xffffffffu	/* no MIG instance */
#define NVML_INVALID_VGPU_PLACEMENT_ID	0xffffu

typedef enum nvmlEnableState_enum {
	NVML_FEATURE_DISABLED = 0,
	NVML_FEATURE_ENABLED = 1,
} nvmlEnableState_t;

typedef enum nvmlBrandType_enum {
	NVML_BRAND_UNKNOWN = 0,
} nvmlBrandType_t;

typedef enum nvmlComputeMode_enum {
	NVML_COMPUTEMODE_DEFAULT = 0,
	NVML_COMPUTEMODE_EXCLUSIVE_THREAD = 1,
	NVML_COMPUTEMODE_PROHIBITED = 2,
	NVML_COMPUTEMODE_EXCLUSIVE_PROCESS = 3,
} nvmlComputeMode_t;

typedef struct nvmlPciInfo_st {
	char busIdLegacy[16];
	unsigned int domain;
	unsigned int bus;
	unsigned int device;
	unsigned int pciDeviceId;
	unsigned int pciSubSystemId;
	char busId[32];
} nvmlPciInfo_t;

typedef struct nvmlMemory_st {
	unsigned long long total;
	unsigned long long free;
	unsigned long long used;
} nvmlMemory_t;

typedef struct nvmlMemory_v2_st {
	unsigned int version;
	unsigned long long total;
	unsigned long long reserved;
	unsigned long long free;
	unsigned long long used;
} nvmlMemory_v2_t;

typedef struct nvmlUtilization_st {
	unsigned int gpu;
	unsigned int memory;
} nvmlUtilization_t;

#define NVML_MAX_GPU_UTILIZATIONS	8
#define NVML_GPU_UTILIZATION_DOMAIN_GPU	0
#define NVML_GPU_UTILIZATION_DOMAIN_FB	1
#define NVML_GPU_UTILIZATION_DOMAIN_VID	2
#define NVML_GPU_UTILIZATION_DOMAIN_BUS	3

typedef struct nvmlGpuDynamicPstatesInfo_st {
	unsigned int flags;
	struct {
		unsigned int bIsPresent:1;
		unsigned int percentage;
		unsigned int incThreshold;
		unsigned int decThreshold;
	} utilization[NVML_MAX_GPU_UTILIZATIONS];
} nvmlGpuDynamicPstatesInfo_t;

typedef struct nvmlProcessInfo_v1_st {
	unsigned int pid;
	unsigned long long usedGpuMemory;
} nvmlProcessInfo_v1_t;

typedef struct nvmlProcessInfo_v2_st {
	unsigned int pid;
	unsigned long long usedGpuMemory;
	unsigned int gpuInstanceId;
	unsigned int computeInstanceId;
} nvmlProcessInfo_v2_t;

typedef nvmlProcessInfo_v2_t nvmlProcessInfo_t;

typedef struct nvmlProcessUtilizationSample_st {
	unsigned int pid;
	unsigned long long timeStamp;
	unsigned int smUtil;
	unsigned int memUtil;
	unsigned int encUtil;
	unsigned int decUtil;
} nvmlProcessUtilizationSample_t;

typedef enum nvmlValueType_enum {
	NVML_VALUE_TYPE_DOUBLE = 0,
	NVML_VALUE_TYPE_UNSIGNED_INT = 1,
	NVML_VALUE_TYPE_UNSIGNED_LONG = 2,
	NVML_VALUE_TYPE_UNSIGNED_LONG_LONG = 3,
	NVML_VALUE_TYPE_SIGNED_LONG_LONG = 4,
} nvmlValueType_t;

typedef union nvmlValue_st {
	double dVal;
	unsigned int uiVal;
	unsigned long ulVal;
	unsigned long long ullVal;
	signed long long sllVal;
} nvmlValue_t;

typedef enum nvmlSamplingType_enum {
	NVML_TOTAL_POWER_SAMPLES = 0,
	NVML_GPU_UTILIZATION_SAMPLES = 1,
	NVML_MEMORY_UTILIZATION_SAMPLES = 2,
	NVML_ENC_UTILIZATION_SAMPLES = 3,
	NVML_DEC_UTILIZATION_SAMPLES = 4,
	NVML_PROCESSOR_CLK_SAMPLES = 5,
	NVML_MEMORY_CLK_SAMPLES = 6,
} nvmlSamplingType_t;

typedef struct nvmlSample_st {
	unsigned long long timeStamp;
	nvmlValue_t sampleValue;
} nvmlSample_t;

/* Virtualization */

typedef enum nvmlGpuVirtualizationMode {
	NVML_GPU_VIRTUALIZATION_MODE_NONE = 0,
	NVML_GPU_VIRTUALIZATION_MODE_PASSTHROUGH = 1,
	NVML_GPU_VIRTUALIZATION_MODE_VGPU = 2,
	NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU = 3,
	NVML_GPU_VIRTUALIZATION_MODE_HOST_VSGA = 4,
} nvmlGpuVirtualizationMode_t;

typedef enum nvmlHostVgpuMode_enum {
	NVML_HOST_VGPU_MODE_NON_SRIOV = 0,
	NVML_HOST_VGPU_MODE_SRIOV = 1,
} nvmlHostVgpuMode_t;

typedef enum nvmlVgpuVmIdType {
	NVML_VGPU_VM_ID_DOMAIN_ID = 0,
	NVML_VGPU_VM_ID_UUID = 1,
} nvmlVgpuVmIdType_t;

typedef enum nvmlVgpuGuestInfoState_enum {
	NVML_VGPU_INSTANCE_GUEST_INFO_STATE_UNINITIALIZED = 0,
	NVML_VGPU_INSTANCE_GUEST_INFO_STATE_INITIALIZED = 1,
} nvmlVgpuGuestInfoState_t;

typedef enum nvmlVgpuCapability_enum {
	NVML_VGPU_CAP_NVLINK_P2P = 0,
	NVML_VGPU_CAP_GPUDIRECT = 1,
	NVML_VGPU_CAP_MULTI_VGPU_EXCLUSIVE = 2,
	NVML_VGPU_CAP_EXCLUSIVE_TYPE = 3,
	NVML_VGPU_CAP_EXCLUSIVE_SIZE = 4,
	NVML_VGPU_CAP_COUNT
} nvmlVgpuCapability_t;

typedef enum nvmlVgpuDriverCapability_enum {
	NVML_VGPU_DRIVER_CAP_HETEROGENEOUS_MULTI_VGPU = 0,
	NVML_VGPU_DRIVER_CAP_WARM_UPDATE = 1,
	NVML_VGPU_DRIVER_CAP_COUNT
} nvmlVgpuDriverCapability_t;

typedef enum nvmlDeviceVgpuCapability_enum {
	NVML_DEVICE_VGPU_CAP_FRACTIONAL_MULTI_VGPU = 0,
	NVML_DEVICE_VGPU_CAP_HETEROGENEOUS_TIMESLICE_PROFILES = 1,
	NVML_DEVICE_VGPU_CAP_HETEROGENEOUS_TIMESLICE_SIZES = 2,
	NVML_DEVICE_VGPU_CAP_READ_DEVICE_BUFFER_BW = 3,
	NVML_DEVICE_VGPU_CAP_WRITE_DEVICE_BUFFER_BW = 4,
	NVML_DEVICE_VGPU_CAP_DEVICE_STREAMING = 5,
	NVML_DEVICE_VGPU_CAP_MINI_QUARTER_GPU = 6,
	NVML_DEVICE_VGPU_CAP_COMPUTE_MEDIA_ENGINE_GPU = 7,
	NVML_DEVICE_VGPU_CAP_WARM_UPDATE = 8,
	NVML_DEVICE_VGPU_CAP_HOMOGENEOUS_PLACEMENTS = 9,
	NVML_DEVICE_VGPU_CAP_MIG_TIMESLICING_SUPPORTED = 10,
	NVML_DEVICE_VGPU_CAP_MIG_TIMESLICING_ENABLED = 11,
	NVML_DEVICE_VGPU_CAP_COUNT
} nvmlDeviceVgpuCapability_t;

typedef struct nvmlVgpuTypeBar1Info_v1_st {
	unsigned int version;
	unsigned long long bar1Size;	/* MiB */
} nvmlVgpuTypeBar1Info_v1_t;

typedef nvmlVgpuTypeBar1Info_v1_t nvmlVgpuTypeBar1Info_t;

typedef struct nvmlVgpuHeterogeneousMode_v1_st {
	unsigned int version;
	unsigned int mode;
} nvmlVgpuHeterogeneousMode_v1_t;

typedef nvmlVgpuHeterogeneousMode_v1_t nvmlVgpuHeterogeneousMode_t;

typedef struct nvmlVgpuPlacementId_v1_st {
	unsigned int version;
	unsigned int placementId;
} nvmlVgpuPlacementId_v1_t;

typedef nvmlVgpuPlacementId_v1_t nvmlVgpuPlacementId_t;

#define NVML_VGPU_PGPU_HETEROGENEOUS_MODE	0u
#define NVML_VGPU_PGPU_HOMOGENEOUS_MODE		1u

typedef struct nvmlVgpuPlacementList_v1_st {
	unsigned int version;
	unsigned int placementSize;
	unsigned int count;
	unsigned int *placementIds;
} nvmlVgpuPlacementList_v1_t;

typedef struct nvmlVgpuPlacementList_v2_st {
	unsigned int version;
	unsigned int placementSize;
	unsigned int count;
	unsigned int *placementIds;
	unsigned int mode;
} nvmlVgpuPlacementList_v2_t;

typedef nvmlVgpuPlacementList_v2_t nvmlVgpuPlacementList_t;

/* Utilization */

typedef struct nvmlVgpuInstanceUtilizationSample_st {
	nvmlVgpuInstance_t vgpuInstance;
	unsigned long long timeStamp;
	nvmlValue_t smUtil;
	nvmlValue_t memUtil;
	nvmlValue_t encUtil;
	nvmlValue_t decUtil;
} nvmlVgpuInstanceUtilizationSample_t;

typedef struct nvmlVgpuInstanceUtilizationInfo_v1_st {
	unsigned long long timeStamp;
	nvmlVgpuInstance_t vgpuInstance;
	nvmlValue_t smUtil;
	nvmlValue_t memUtil;
	nvmlValue_t encUtil;
	nvmlValue_t decUtil;
	nvmlValue_t jpgUtil;
	nvmlValue_t ofaUtil;
} nvmlVgpuInstanceUtilizationInfo_v1_t;

typedef struct nvmlVgpuInstancesUtilizationInfo_v1_st {
	unsigned int version;
	nvmlValueType_t sampleValType;
	unsigned int vgpuInstanceCount;
	unsigned long long lastSeenTimeStamp;
	nvmlVgpuInstanceUtilizationInfo_v1_t *vgpuUtilArray;
} nvmlVgpuInstancesUtilizationInfo_v1_t;

typedef nvmlVgpuInstancesUtilizationInfo_v1_t nvmlVgpuInstancesUtilizationInfo_t;

#define NVML_VGPU_NAME_BUFFER_SIZE	64

typedef struct nvmlVgpuProcessUtilizationSample_st {
	nvmlVgpuInstance_t vgpuInstance;
	unsigned int pid;
	char processName[NVML_VGPU_NAME_BUFFER_SIZE];
	unsigned long long timeStamp;
	unsigned int smUtil;
	unsigned int memUtil;
	unsigned int encUtil;
	unsigned int decUtil;
} nvmlVgpuProcessUtilizationSample_t;

typedef struct nvmlVgpuProcessUtilizationInfo_v1_st {
	char processName[NVML_VGPU_NAME_BUFFER_SIZE];
	unsigned long long timeStamp;
	nvmlVgpuInstance_t vgpuInstance;
	unsigned int pid;
	unsigned int smUtil;
	unsigned int memUtil;
	unsigned int encUtil;
	unsigned int decUtil;
	unsigned int jpgUtil;
	unsigned int ofaUtil;
} nvmlVgpuProcessUtilizationInfo_v1_t;

typedef struct nvmlVgpuProcessesUtilizationInfo_v1_st {
	unsigned int version;
	unsigned int vgpuProcessCount;
	unsigned long long lastSeenTimeStamp;
	nvmlVgpuProcessUtilizationInfo_v1_t *vgpuProcUtilArray;
} nvmlVgpuProcessesUtilizationInfo_v1_t;

typedef nvmlVgpuProcessesUtilizationInfo_v1_t nvmlVgpuProcessesUtilizationInfo_t;

/* The scheduler */

#define NVML_VGPU_SCHEDULER_POLICY_UNKNOWN	0u
#define NVML_VGPU_SCHEDULER_POLICY_BEST_EFFORT	1u
#define NVML_VGPU_SCHEDULER_POLICY_EQUAL_SHARE	2u
#define NVML_VGPU_SCHEDULER_POLICY_FIXED_SHARE	3u
#define NVML_SUPPORTED_VGPU_SCHEDULER_POLICY_COUNT	3

#define NVML_VGPU_SCHEDULER_ARR_DEFAULT		0u
#define NVML_VGPU_SCHEDULER_ARR_DISABLE		1u
#define NVML_VGPU_SCHEDULER_ARR_ENABLE		2u

#define NVML_VGPU_SCHEDULER_ENGINE_TYPE_GRAPHICS	1u
#define NVML_VGPU_SCHEDULER_ENGINE_TYPE_NVENC1		2u
#define NVML_VGPU_SCHEDULER_ENGINE_TYPE_NVENC0		3u

#define NVML_SCHEDULER_SW_MAX_LOG_ENTRIES	200

typedef union nvmlVgpuSchedulerParams_st {
	struct {
		unsigned int avgFactor;
		unsigned int timeslice;	/* ns */
	} vgpuSchedDataWithARR;
	struct {
		unsigned int timeslice;	/* ns */
	} vgpuSchedData;
} nvmlVgpuSchedulerParams_t;

typedef union nvmlVgpuSchedulerSetParams_st {
	struct {
		unsigned int avgFactor;
		unsigned int frequency;	/* Hz */
	} vgpuSchedDataWithARR;
	struct {
		unsigned int timeslice;	/* ns */
	} vgpuSchedData;
} nvmlVgpuSchedulerSetParams_t;

typedef struct nvmlVgpuSchedulerGetState_st {
	unsigned int schedulerPolicy;
	unsigned int arrMode;
	nvmlVgpuSchedulerParams_t schedulerParams;
} nvmlVgpuSchedulerGetState_t;

typedef struct nvmlVgpuSchedulerSetState_st {
	unsigned int schedulerPolicy;
	unsigned int enableARRMode;
	nvmlVgpuSchedulerSetParams_t schedulerParams;
} nvmlVgpuSchedulerSetState_t;

typedef struct nvmlVgpuSchedulerStateInfo_v2_st {
	unsigned int engineId;
	unsigned int schedulerPolicy;
	unsigned int avgFactor;
	unsigned int timeslice;		/* ns */
} nvmlVgpuSchedulerStateInfo_v2_t;

typedef struct nvmlVgpuSchedulerState_v2_st {
	unsigned int engineId;
	unsigned int schedulerPolicy;
	unsigned int avgFactor;
	unsigned int frequency;		/* Hz */
} nvmlVgpuSchedulerState_v2_t;

typedef struct nvmlVgpuSchedulerCapabilities_st {
	unsigned int supportedSchedulers[NVML_SUPPORTED_VGPU_SCHEDULER_POLICY_COUNT];
	unsigned int maxTimeslice;	/* ns */
	unsigned int minTimeslice;	/* ns */
	unsigned int isArrModeSupported;
	unsigned int maxFrequencyForARR;
	unsigned int minFrequencyForARR;
	unsigned int maxAvgFactorForARR;
	unsigned int minAvgFactorForARR;
} nvmlVgpuSchedulerCapabilities_t;

typedef struct nvmlVgpuSchedulerLogEntries_st {
	unsigned long long timestamp;
	unsigned long long timeRunTotal;
	unsigned long long timeRun;
	unsigned int swRunlistId;
	unsigned long long targetTimeSlice;
	unsigned long long cumulativePreemptionTime;
} nvmlVgpuSchedulerLogEntry_t;

typedef struct nvmlVgpuSchedulerLogEntry_v2_st {
	unsigned long long timestamp;
	unsigned long long timeRunTotal;
	unsigned long long timeRun;
	unsigned int swRunlistId;
	unsigned long long targetTimeSlice;
	unsigned long long cumulativePreemptionTime;
	unsigned int weight;
} nvmlVgpuSchedulerLogEntry_v2_t;

typedef struct nvmlVgpuSchedulerLog_st {
	unsigned int engineId;
	unsigned int schedulerPolicy;
	unsigned int arrMode;
	nvmlVgpuSchedulerParams_t schedulerParams;
	unsigned int entriesCount;
	nvmlVgpuSchedulerLogEntry_t logEntries[NVML_SCHEDULER_SW_MAX_LOG_ENTRIES];
} nvmlVgpuSchedulerLog_t;

typedef struct nvmlVgpuSchedulerLogInfo_v2_st {
	unsigned int engineId;
	unsigned int schedulerPolicy;
	unsigned int avgFactor;
	unsigned int timeslice;		/* ns */
	unsigned int entriesCount;
	nvmlVgpuSchedulerLogEntry_v2_t logEntries[NVML_SCHEDULER_SW_MAX_LOG_ENTRIES];
} nvmlVgpuSchedulerLogInfo_v2_t;

/* Licences */

#define NVML_GRID_LICENSE_STATE_UNLICENSED_UNRESTRICTED	2u
#define NVML_GRID_LICENSE_EXPIRY_NOT_APPLICABLE		3u
#define NVML_GRID_LICENSE_BUFFER_SIZE			128
#define NVML_GRID_LICENSE_FEATURE_MAX_COUNT		3

typedef struct nvmlLicenseExpiry_st {
	unsigned int year;
	unsigned short month;
	unsigned short day;
	unsigned short hour;
	unsigned short min;
	unsigned short sec;
	unsigned char status;
} nvmlVgpuLicenseExpiry_t;

typedef nvmlVgpuLicenseExpiry_t nvmlGridLicenseExpiry_t;

typedef struct nvmlVgpuLicenseInfo_st {
	unsigned char isLicensed;
	nvmlVgpuLicenseExpiry_t licenseExpiry;
	unsigned int currentState;
} nvmlVgpuLicenseInfo_t;

typedef struct nvmlGridLicensableFeature_st {
	unsigned int featureCode;
	unsigned int featureState;
	char licenseInfo[NVML_GRID_LICENSE_BUFFER_SIZE];
	char productName[NVML_GRID_LICENSE_BUFFER_SIZE];
	unsigned int featureEnabled;
	nvmlGridLicenseExpiry_t licenseExpiry;
} nvmlGridLicensableFeature_t;

typedef struct nvmlGridLicensableFeatures_st {
	int isGridLicenseSupported;
	unsigned int licensableFeaturesCount;
	nvmlGridLicensableFeature_t gridLicensableFeatures[NVML_GRID_LICENSE_FEATURE_MAX_COUNT];
} nvmlGridLicensableFeatures_t;

/* Metadata and compatibility */

#define NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE	80

typedef struct nvmlVgpuVersion_st {
	unsigned int minVersion;
	unsigned int maxVersion;
} nvmlVgpuVersion_t;

typedef struct nvmlVgpuMetadata_st {
	unsigned int version;
	unsigned int revision;
	nvmlVgpuGuestInfoState_t guestInfoState;
	char guestDriverVersion[NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE];
	char hostDriverVersion[NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE];
	unsigned int reserved[6];
	unsigned int vgpuVirtualizationCaps;
	unsigned int guestVgpuVersion;
	unsigned int opaqueDataSize;
	char opaqueData[4];		/* in truth opaqueDataSize bytes */
} nvmlVgpuMetadata_t;

typedef struct nvmlVgpuPgpuMetadata_st {
	unsigned int version;
	unsigned int revision;
	char hostDriverVersion[NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE];
	unsigned int pgpuVirtualizationCaps;
	unsigned int reserved[5];
	nvmlVgpuVersion_t hostSupportedVgpuRange;
	unsigned int opaqueDataSize;
	char opaqueData[4];		/* in truth opaqueDataSize bytes */
} nvmlVgpuPgpuMetadata_t;

typedef enum nvmlVgpuVmCompatibility_enum {
	NVML_VGPU_VM_COMPATIBILITY_NONE = 0,
	NVML_VGPU_VM_COMPATIBILITY_COLD = 1,
	NVML_VGPU_VM_COMPATIBILITY_HIBERNATE = 2,
	NVML_VGPU_VM_COMPATIBILITY_SLEEP = 4,
	NVML_VGPU_VM_COMPATIBILITY_LIVE = 8,
} nvmlVgpuVmCompatibility_t;

typedef enum nvmlVgpuPgpuCompatibilityLimitCode_enum {
	NVML_VGPU_COMPATIBILITY_LIMIT_NONE = 0,
	NVML_VGPU_COMPATIBILITY_LIMIT_HOST_DRIVER = 1,
	NVML_VGPU_COMPATIBILITY_LIMIT_GUEST_DRIVER = 2,
	NVML_VGPU_COMPATIBILITY_LIMIT_GPU = 4,
	NVML_VGPU_COMPATIBILITY_LIMIT_OTHER = 0x80000000u,
} nvmlVgpuPgpuCompatibilityLimitCode_t;

typedef struct nvmlVgpuPgpuCompatibility_st {
	nvmlVgpuVmCompatibility_t vgpuVmCompatibility;
	nvmlVgpuPgpuCompatibilityLimitCode_t compatibilityLimitCode;
} nvmlVgpuPgpuCompatibility_t;

/* Accounting, frame buffer capture, events */

typedef struct nvmlAccountingStats_st {
	unsigned int gpuUtilization;
	unsigned int memoryUtilization;
	unsigned long long maxMemoryUsage;
	unsigned long long time;	/* ms; 0 while it runs */
	unsigned long long startTime;	/* us */
	unsigned int isRunning;
	unsigned int reserved[5];
} nvmlAccountingStats_t;

typedef struct nvmlFBCStats_st {
	unsigned int sessionsCount;
	unsigned int averageFPS;
	unsigned int averageLatency;
} nvmlFBCStats_t;

typedef struct nvmlFBCSessionInfo_st {
	unsigned int sessionId;
	unsigned int pid;
	nvmlVgpuInstance_t vgpuInstance;
	unsigned int displayOrdinal;
	unsigned int sessionType;
	unsigned int sessionFlags;
	unsigned int hMaxResolution;
	unsigned int vMaxResolution;
	unsigned int hResolution;
	unsigned int vResolution;
	unsigned int averageFPS;
	unsigned int averageLatency;
} nvmlFBCSessionInfo_t;

#define nvmlEventTypeNone		0x0ull
#define nvmlEventTypeXidCriticalError	0x8ull

typedef struct nvmlEventData_v1_st {
	nvmlDevice_t device;
	unsigned long long eventType;
	unsigned long long eventData;
} nvmlEventData_v1_t;

typedef struct nvmlEventData_st {
	nvmlDevice_t device;
	unsigned long long eventType;
	unsigned long long eventData;
	unsigned int gpuInstanceId;
	unsigned int computeInstanceId;
} nvmlEventData_t;

#endif /* VGPU_NVML_TYPES_H */
