package ort

// slot is an index into ORT's function table, OrtApi of onnxruntime_c_api.h.
// The table only grows, so an index never changes. testdata/api.txt lists the
// header's indices, and a test compares them.
type slot int

const (
	slotGetErrorCode                slot = 1
	slotGetErrorMessage             slot = 2
	slotCreateEnv                   slot = 3
	slotCreateSessionFromArray      slot = 8
	slotCreateSessionOptions        slot = 10
	slotSetIntraOpNumThreads        slot = 24
	slotSessionGetInputCount        slot = 30
	slotSessionGetOutputCount       slot = 31
	slotSessionGetInputTypeInfo     slot = 33
	slotSessionGetOutputTypeInfo    slot = 34
	slotSessionGetInputName         slot = 36
	slotSessionGetOutputName        slot = 37
	slotCreateRunOptions            slot = 39
	slotRunOptionsSetTerminate      slot = 46
	slotCreateTensorWithData        slot = 49
	slotGetTensorMutableData        slot = 51
	slotCastTypeInfoToTensorInfo    slot = 55
	slotGetOnnxTypeFromTypeInfo     slot = 56
	slotGetTensorElementType        slot = 60
	slotGetDimensionsCount          slot = 61
	slotGetDimensions               slot = 62
	slotGetTensorTypeAndShape       slot = 65
	slotCreateMemoryInfo            slot = 68
	slotAllocatorFree               slot = 76
	slotGetAllocatorWithDefault     slot = 78
	slotReleaseEnv                  slot = 92
	slotReleaseStatus               slot = 93
	slotReleaseMemoryInfo           slot = 94
	slotReleaseSession              slot = 95
	slotReleaseValue                slot = 96
	slotReleaseRunOptions           slot = 97
	slotReleaseTypeInfo             slot = 98
	slotReleaseTensorTypeAndShape   slot = 99
	slotReleaseSessionOptions       slot = 100
	slotGetAvailableProviders       slot = 125
	slotReleaseAvailableProviders   slot = 126
	slotAddSessionConfigEntry       slot = 130
	slotRunWithBinding              slot = 133
	slotCreateIoBinding             slot = 134
	slotReleaseIoBinding            slot = 135
	slotBindInput                   slot = 136
	slotBindOutputToDevice          slot = 138
	slotGetBoundOutputValues        slot = 140
	slotClearBoundInputs            slot = 141
	slotClearBoundOutputs           slot = 142
	slotAppendTensorRT              slot = 170
	slotCreateTensorRTOptions       slot = 171
	slotUpdateTensorRTOptions       slot = 172
	slotReleaseTensorRTOptions      slot = 174
	slotAppendCUDA                  slot = 204
	slotCreateCUDAOptions           slot = 205
	slotUpdateCUDAOptions           slot = 206
	slotReleaseCUDAOptions          slot = 208
	slotAppendProvider              slot = 216
	slotRegisterProviderLibrary     slot = 301
	slotUnregisterProviderLibrary   slot = 302
	slotGetEpDevices                slot = 303
	slotAppendProviderV2            slot = 304
	slotEpDeviceEpName              slot = 312
	slotSessionGetAssignment        slot = 407
	slotAssignedSubgraphGetEpName   slot = 408
	slotAssignedSubgraphGetNodes    slot = 409
	slotAssignedNodeGetOperatorType slot = 412
)

// These are API versions. An ORT release 1.N implements API version N and all
// older ones.
const (
	apiBase       = 18 // the version requested; it has every slot up to slotAppendProvider
	apiLibraries  = 22 // provider libraries: slots 301 to 312
	apiAssignment = 24 // the provider of each node: slots 407 to 412
)

// since returns the first API version that has the slot.
func (s slot) since() int {
	switch {
	case s >= slotSessionGetAssignment:
		return apiAssignment
	case s >= slotRegisterProviderLibrary:
		return apiLibraries
	}
	return apiBase
}

// slotNames maps slots to ORT's names.
var slotNames = map[slot]string{
	slotGetErrorCode:                "GetErrorCode",
	slotGetErrorMessage:             "GetErrorMessage",
	slotCreateEnv:                   "CreateEnv",
	slotCreateSessionFromArray:      "CreateSessionFromArray",
	slotCreateSessionOptions:        "CreateSessionOptions",
	slotSetIntraOpNumThreads:        "SetIntraOpNumThreads",
	slotSessionGetInputCount:        "SessionGetInputCount",
	slotSessionGetOutputCount:       "SessionGetOutputCount",
	slotSessionGetInputTypeInfo:     "SessionGetInputTypeInfo",
	slotSessionGetOutputTypeInfo:    "SessionGetOutputTypeInfo",
	slotSessionGetInputName:         "SessionGetInputName",
	slotSessionGetOutputName:        "SessionGetOutputName",
	slotCreateRunOptions:            "CreateRunOptions",
	slotRunOptionsSetTerminate:      "RunOptionsSetTerminate",
	slotCreateTensorWithData:        "CreateTensorWithDataAsOrtValue",
	slotGetTensorMutableData:        "GetTensorMutableData",
	slotCastTypeInfoToTensorInfo:    "CastTypeInfoToTensorInfo",
	slotGetOnnxTypeFromTypeInfo:     "GetOnnxTypeFromTypeInfo",
	slotGetTensorElementType:        "GetTensorElementType",
	slotGetDimensionsCount:          "GetDimensionsCount",
	slotGetDimensions:               "GetDimensions",
	slotGetTensorTypeAndShape:       "GetTensorTypeAndShape",
	slotCreateMemoryInfo:            "CreateMemoryInfo",
	slotAllocatorFree:               "AllocatorFree",
	slotGetAllocatorWithDefault:     "GetAllocatorWithDefaultOptions",
	slotReleaseEnv:                  "ReleaseEnv",
	slotReleaseStatus:               "ReleaseStatus",
	slotReleaseMemoryInfo:           "ReleaseMemoryInfo",
	slotReleaseSession:              "ReleaseSession",
	slotReleaseValue:                "ReleaseValue",
	slotReleaseRunOptions:           "ReleaseRunOptions",
	slotReleaseTypeInfo:             "ReleaseTypeInfo",
	slotReleaseTensorTypeAndShape:   "ReleaseTensorTypeAndShapeInfo",
	slotReleaseSessionOptions:       "ReleaseSessionOptions",
	slotGetAvailableProviders:       "GetAvailableProviders",
	slotReleaseAvailableProviders:   "ReleaseAvailableProviders",
	slotAddSessionConfigEntry:       "AddSessionConfigEntry",
	slotRunWithBinding:              "RunWithBinding",
	slotCreateIoBinding:             "CreateIoBinding",
	slotReleaseIoBinding:            "ReleaseIoBinding",
	slotBindInput:                   "BindInput",
	slotBindOutputToDevice:          "BindOutputToDevice",
	slotGetBoundOutputValues:        "GetBoundOutputValues",
	slotClearBoundInputs:            "ClearBoundInputs",
	slotClearBoundOutputs:           "ClearBoundOutputs",
	slotAppendTensorRT:              "SessionOptionsAppendExecutionProvider_TensorRT_V2",
	slotCreateTensorRTOptions:       "CreateTensorRTProviderOptions",
	slotUpdateTensorRTOptions:       "UpdateTensorRTProviderOptions",
	slotReleaseTensorRTOptions:      "ReleaseTensorRTProviderOptions",
	slotAppendCUDA:                  "SessionOptionsAppendExecutionProvider_CUDA_V2",
	slotCreateCUDAOptions:           "CreateCUDAProviderOptions",
	slotUpdateCUDAOptions:           "UpdateCUDAProviderOptions",
	slotReleaseCUDAOptions:          "ReleaseCUDAProviderOptions",
	slotAppendProvider:              "SessionOptionsAppendExecutionProvider",
	slotRegisterProviderLibrary:     "RegisterExecutionProviderLibrary",
	slotUnregisterProviderLibrary:   "UnregisterExecutionProviderLibrary",
	slotGetEpDevices:                "GetEpDevices",
	slotAppendProviderV2:            "SessionOptionsAppendExecutionProvider_V2",
	slotEpDeviceEpName:              "EpDevice_EpName",
	slotSessionGetAssignment:        "Session_GetEpGraphAssignmentInfo",
	slotAssignedSubgraphGetEpName:   "EpAssignedSubgraph_GetEpName",
	slotAssignedSubgraphGetNodes:    "EpAssignedSubgraph_GetNodes",
	slotAssignedNodeGetOperatorType: "EpAssignedNode_GetOperatorType",
}

func (s slot) String() string { return slotNames[s] }
