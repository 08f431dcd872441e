// Package ort runs graphs and models with ONNX Runtime, through its C API and
// without cgo. The library is not part of this module: whoever uses it brings it,
// in version 1.18 or newer (1.31.1 is what the tests run). PyPI's wheels have had it since 1.20.
//
// Importing the package registers a device for each execution provider:
// "ort:cpu", "ort:cuda", … (see [Providers]). Their options, after the name as in
// "ort:cuda,form=host,device_id=1":
//
//	lib=PATH         the library, or a folder that it lies in; see below
//	ep_library=PATH  the provider's own library, for those that come apart
//	form=tail        what of a graph runs there: the float part after the last
//	                 resize, crop and decode (the default); host: nothing, only the
//	                 model
//	claim=CLASS      the class that the provider's steps are said to have; see Classes
//	fallback=RULE    what ORT may leave to its CPU provider, where another was asked for:
//	                 none: no node; model: some nodes of the model, but not all (the
//	                 default); all: everything
//	threads=N        threads for one operator, in each session; if not given, one for the
//	                 graph's part, and for the model as many as ORT likes
//
// No value has a comma in it. An option with a dot in its name is an entry of ORT's session configuration
// ("session.intra_op.allow_spinning=0"); every other is the provider's own.
//
// # The library
//
// It is looked for, in this order: at lib=PATH; at the environment variable
// INFER_PREP_ORT; beside the program, and in lib and ../lib beside it; in the
// Python package onnxruntime of the environment in VIRTUAL_ENV; in the usual
// folders of the system (/usr/local/lib, /usr/lib, /opt/homebrew/lib; not on Windows,
// whose own onnxruntime.dll is an old one); and by the loader's own search. It is
// loaded once and stays loaded.
//
// Linux, Windows and macOS on amd64 and arm64 are supported. Elsewhere, on Android,
// and in programs built with the tag noort, the devices are there and refuse by
// [device.ErrUnavailable]. On Linux a program that links this package needs the C library's
// loader, also without cgo; the tag noort makes it a static one again.
//
// # Classes
//
// Steps on the host are exact. Those of the CPU provider are claimed to be exact too:
// single IEEE operations on float32, which tests compare. No other provider has been
// measured, so theirs are approximate until [device.Verify] has compared them on
// the machine at hand and claim=exact or claim=within1 says so; form=host needs none
// of that.
//
// # Fallback
//
// A provider that is not in the library is an error. A session of a provider
// other than cpu forbids ORT to give nodes to its CPU provider, as fallback says, and where
// the library can tell (1.24 and newer) is asked which provider got which node; see
// [Session.Assigned]. What contradicts is [device.ErrFellBack]. With an older library
// fallback=model is as none, since it could not be seen that all fell back.
//
// # Models
//
// The model's inputs are fed with the graph's outputs of their names; a model with
// one input takes the only output of a graph whatever their names. An input with
// one more axis than the output gets a batch axis of 1. Graph and model are two
// sessions; tensors between them stay in ORT's memory, on the device where the
// provider has memory of its own.
//
// A device may be used by several goroutines, a session by one at a time.
package ort

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/device"
)

// Provider is an execution provider of ONNX Runtime.
type Provider struct {
	// Name is that of the device, after "ort:".
	Name string
	// EP is ORT's name of it, as onnxruntime.get_available_providers gives it.
	EP string
	// add is the name for SessionOptionsAppendExecutionProvider, or how else it is added.
	add string
	// memory is the name of its own memory, which tensors between the graph and
	// the model lie in; "" is the host's.
	memory string
	doc    string
}

// How providers are added that SessionOptionsAppendExecutionProvider does not know.
const (
	addCPU      = "" // always there
	addCUDA     = "CUDA_V2"
	addTensorRT = "TensorRT_V2"
	addLibrary  = "library" // by ep_library alone
)

// providers are those that have a device. Names and ways: ONNX Runtime 1.31,
// onnxruntime_c_api.h (SessionOptionsAppendExecutionProvider and the _V2 functions).
var providers = []Provider{
	{"cpu", "CPUExecutionProvider", addCPU, "", "ONNX Runtime's CPU provider"},
	{"azure", "AzureExecutionProvider", "AZURE", "", "remote operators"},
	{"coreml", "CoreMLExecutionProvider", "CoreML", "", "Apple's Core ML"},
	{"cuda", "CUDAExecutionProvider", addCUDA, "Cuda", "NVIDIA GPUs"},
	{"dml", "DmlExecutionProvider", "DML", "", "DirectML"},
	{"migraphx", "MIGraphXExecutionProvider", "MIGraphX", "", "AMD GPUs"},
	{"nnapi", "NnapiExecutionProvider", "NNAPI", "", "Android's NNAPI"},
	{"openvino", "OpenVINOExecutionProvider", "OpenVINO", "", "Intel CPUs, GPUs and NPUs"},
	{"plugin", "", addLibrary, "", "any provider library: ep_library=PATH, and ep=NAME where it has several"},
	{"qnn", "QNNExecutionProvider", "QNN", "", "Qualcomm's NPU"},
	{"tensorrt", "TensorrtExecutionProvider", addTensorRT, "Cuda", "NVIDIA TensorRT"},
	{"webgpu", "WebGpuExecutionProvider", "WebGPU", "", "GPUs by WebGPU"},
	{"xnnpack", "XnnpackExecutionProvider", "XNNPACK", "", "XNNPACK on the CPU"},
}

// Providers lists the providers that have a device, by name.
func Providers() []Provider { return slices.Clone(providers) }

// prefix is what the names of devices start with.
const prefix = "ort:"

func init() {
	for _, p := range providers {
		doc := "models and the float part of graphs by ONNX Runtime: " + p.doc
		if p.Name != "cpu" {
			doc += " (untested)"
		}
		device.Register(device.Driver{Name: prefix + p.Name, Doc: doc, Open: func(options map[string]string) (device.Device, error) {
			d, err := open(p, options)
			if err != nil {
				return nil, fmt.Errorf("%s%s: %w", prefix, p.Name, err)
			}
			return d, nil
		}})
	}
}

// Error is an error that ONNX Runtime gave.
type Error struct {
	Call    string // the function of the C API
	Code    int    // OrtErrorCode
	Message string // ORT's own
}

// codes are the names of OrtErrorCode, onnxruntime_c_api.h.
var codes = []string{
	"OK", "FAIL", "INVALID_ARGUMENT", "NO_SUCHFILE", "NO_MODEL", "ENGINE_ERROR", "RUNTIME_EXCEPTION", "INVALID_PROTOBUF",
	"MODEL_LOADED", "NOT_IMPLEMENTED", "INVALID_GRAPH", "EP_FAIL", "MODEL_LOAD_CANCELED", "MODEL_REQUIRES_COMPILATION", "NOT_FOUND",
}

func (e *Error) Error() string {
	code := fmt.Sprint(e.Code)
	if e.Code >= 0 && e.Code < len(codes) {
		code = codes[e.Code]
	}
	return fmt.Sprintf("ONNX Runtime: %s: %s: %s", e.Call, code, e.Message)
}

// config is a device's options.
type config struct {
	lib, epLibrary, ep string
	form               string
	claim              device.Class
	fallback           string
	threads            int
	session            map[string]string // of ORT's session configuration
	provider           map[string]string // the provider's own
}

// The values of fallback.
const (
	fallbackNone  = "none"
	fallbackModel = "model"
	fallbackAll   = "all"
)

// configure reads a device's options.
func configure(p Provider, options map[string]string) (config, error) {
	c := config{form: formTail, claim: device.Approximate, fallback: fallbackModel, ep: p.EP, session: map[string]string{}, provider: map[string]string{}}
	if p.Name == "cpu" {
		c.claim = device.Exact
	}
	oneOf := func(k, v string, want ...string) error {
		if !slices.Contains(want, v) {
			return fmt.Errorf("option %s=%q, want one of %s", k, v, strings.Join(want, ", "))
		}
		return nil
	}
	for _, k := range slices.Sorted(maps.Keys(options)) {
		v := options[k]
		var err error
		switch {
		case v == "":
			err = fmt.Errorf("option %s has no value", k)
		case strings.ContainsRune(k+v, 0):
			err = fmt.Errorf("option %s=%q has a zero byte", k, v)
		case k == "lib":
			c.lib = v
		case k == "ep_library":
			c.epLibrary = v
		case k == "ep" && p.add == addLibrary:
			c.ep = v
		case k == "form":
			c.form, err = v, oneOf(k, v, forms...)
		case k == "claim":
			if err = oneOf(k, v, "approximate", "within1", "exact"); err == nil {
				err = c.claim.UnmarshalText([]byte(v))
			}
		case k == "fallback":
			c.fallback, err = v, oneOf(k, v, fallbackNone, fallbackModel, fallbackAll)
		case k == "threads":
			if _, e := fmt.Sscanf(v, "%d", &c.threads); e != nil || c.threads < 1 || c.threads > 1<<16 || fmt.Sprint(c.threads) != v {
				err = fmt.Errorf("option threads=%q, want a number of 1 or more", v)
			}
		case strings.Contains(k, "."):
			c.session[k] = v
		case p.add == addCPU:
			err = fmt.Errorf("option %q is unknown, want one of lib, form, claim, threads, or an entry of ORT's session configuration", k)
		default:
			c.provider[k] = v
		}
		if err != nil {
			return c, err
		}
	}
	if p.add == addCPU && (c.epLibrary != "" || c.fallback != fallbackModel) {
		return c, fmt.Errorf("options ep_library and fallback are for other providers")
	}
	if p.add == addLibrary && c.epLibrary == "" {
		return c, fmt.Errorf("no provider library, want ep_library=PATH")
	}
	return c, nil
}
