// Package ort registers devices that run graphs and models with ONNX Runtime
// (ORT). It calls ORT's C API without cgo. The module does not contain the
// library: users install version 1.18 or newer. The tests run 1.31.1. PyPI's
// wheels contain the library since 1.20.
//
// Importing the package registers a device for each execution provider, such as
// "ort:cpu" and "ort:cuda"; see [Providers]. Options follow the name, as in
// "ort:cuda,form=host,device_id=1":
//
//	lib=PATH         the library, or its folder; see below
//	ep_library=PATH  the provider's own library, if it is separate
//	form=FORM        the part of the graph that ORT runs. tail (default): the
//	                 float part after the last resize, crop and decode.
//	                 host: none, only the model
//	claim=CLASS      the class that the provider's steps claim; see Classes
//	fallback=RULE    the nodes that ORT may run on its CPU provider instead of
//	                 the requested one. none: no node. model (default): some
//	                 nodes of the model, but not all. all: every node
//	threads=N        threads for one operator, in each session. Default: 1 for
//	                 the graph's part, ORT's own choice for the model
//
// A value must not contain a comma. An option with a dot in its name is an
// entry of ORT's session configuration, such as
// session.intra_op.allow_spinning=0. Any other option belongs to the provider.
//
// # The library
//
// The package searches for the library in this order:
//
//  1. lib=PATH
//  2. the environment variable INFER_PREP_ORT
//  3. the program's folder, and lib and ../lib beside it
//  4. the Python package onnxruntime in VIRTUAL_ENV, in CONDA_PREFIX, and
//     beside the python3 in PATH; lib in CONDA_PREFIX
//  5. /usr/local/lib, /usr/lib and /opt/homebrew/lib, except on Windows, whose
//     own onnxruntime.dll is an old version
//  6. the search path of the system's loader
//
// It loads the library once and never unloads it.
//
// Linux, Windows and macOS on amd64 and arm64 are supported. On other
// platforms, on Android, and with the build tag noclib, opening a device fails
// with [device.ErrUnavailable]. Android's provider, NNAPI, therefore has no
// device: an app passes tensors to the ONNX Runtime of its own. On Linux, a
// program that links this package needs the C library's loader, even without
// cgo. The tag noclib makes the program static.
//
// # Classes
//
// Steps on the host are exact. The CPU provider claims to be exact too: its
// steps are single IEEE operations on float32, which tests compare. All other
// providers are unmeasured, so their steps are approximate by default. After
// [device.Verify] has measured a provider on a machine, claim=exact or
// claim=within1 states the result. form=host needs no claim.
//
// # Fallback
//
// A provider that the library lacks is an error. For providers other than cpu,
// the option fallback limits which nodes ORT may assign to its CPU provider.
// With ORT 1.24 and newer, the session checks which provider got each node and
// fails with [device.ErrFellBack] if the assignment breaks the rule; see
// [Session.Assigned]. Older versions do not report the assignment, so
// fallback=model then means none.
//
// # Models
//
// Each input of the model takes the graph's output of the same name. If the
// model has one input and the graph one output, the names may differ. An input
// with one more axis than the output gets a batch axis of 1. Graph and model
// are two ORT sessions. Tensors between them stay in ORT's memory, on the
// device if the provider has its own memory.
//
// A device is safe for concurrent use; a session is not.
package ort

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/internal/registry"
)

// Provider is an execution provider of ONNX Runtime.
type Provider struct {
	// Name is the device's name after "ort:".
	Name string
	// EP is ORT's name, as in onnxruntime.get_available_providers.
	EP string
	// add is the name for SessionOptionsAppendExecutionProvider, or one of the
	// constants below.
	add string
	// memory is the name of the memory for tensors between graph and model; ""
	// is host memory.
	memory string
	doc    string
}

// Ways to add providers that SessionOptionsAppendExecutionProvider does not
// know.
const (
	addCPU      = "" // always present
	addCUDA     = "CUDA_V2"
	addTensorRT = "TensorRT_V2"
	addLibrary  = "library" // only with ep_library
)

// providers lists the providers with a device. The names are those of ONNX
// Runtime 1.31, onnxruntime_c_api.h (SessionOptionsAppendExecutionProvider and
// the _V2 functions).
var providers = []Provider{
	{"cpu", "CPUExecutionProvider", addCPU, "", "ONNX Runtime's CPU provider"},
	{"azure", "AzureExecutionProvider", "AZURE", "", "remote operators"},
	{"coreml", "CoreMLExecutionProvider", "CoreML", "", "Apple's Core ML"},
	{"cuda", "CUDAExecutionProvider", addCUDA, "Cuda", "NVIDIA GPUs"},
	{"dml", "DmlExecutionProvider", "DML", "", "DirectML"},
	{"migraphx", "MIGraphXExecutionProvider", "MIGraphX", "", "AMD GPUs"},
	{"openvino", "OpenVINOExecutionProvider", "OpenVINO", "", "Intel CPUs, GPUs and NPUs"},
	{"plugin", "", addLibrary, "", "any provider library: ep_library=PATH, and ep=NAME if it has several"},
	{"qnn", "QNNExecutionProvider", "QNN", "", "Qualcomm's NPU"},
	{"tensorrt", "TensorrtExecutionProvider", addTensorRT, "Cuda", "NVIDIA TensorRT"},
	{"webgpu", "WebGpuExecutionProvider", "WebGPU", "", "GPUs by WebGPU"},
	{"xnnpack", "XnnpackExecutionProvider", "XNNPACK", "", "XNNPACK on the CPU"},
}

// Providers returns the providers that have a device.
func Providers() []Provider { return slices.Clone(providers) }

// prefix starts the name of every device.
const prefix = "ort:"

func init() {
	for _, p := range providers {
		doc := "models and the float part of graphs with ONNX Runtime: " + p.doc
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

// Error is an error returned by ONNX Runtime.
type Error struct {
	Call    string // the function of the C API
	Code    int    // OrtErrorCode
	Message string // ORT's message
}

// codes names the values of OrtErrorCode in onnxruntime_c_api.h.
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

// config holds a device's options.
type config struct {
	lib, epLibrary, ep string
	form               string
	claim              device.Class
	fallback           string
	threads            int
	session            map[string]string // entries of ORT's session configuration
	provider           map[string]string // the provider's own options
}

// cpuOptions lists the options of the CPU provider.
var cpuOptions = []string{"claim", "form", "lib", "threads"}

// The values of fallback.
const (
	fallbackNone  = "none"
	fallbackModel = "model"
	fallbackAll   = "all"
)

// configure parses a device's options.
func configure(p Provider, options map[string]string) (config, error) {
	c := config{form: formTail, claim: device.Approximate, fallback: fallbackModel, ep: p.EP, session: map[string]string{}, provider: map[string]string{}}
	if p.Name == "cpu" {
		c.claim = device.Exact
	}
	oneOf := func(k, v string, want ...string) error {
		if !slices.Contains(want, v) {
			return fmt.Errorf("option %s=%q: want one of %s", k, v, strings.Join(want, ", "))
		}
		return nil
	}
	for _, k := range slices.Sorted(maps.Keys(options)) {
		v := options[k]
		var err error
		switch {
		case v == "":
			err = fmt.Errorf("option %s: want a value", k)
		case strings.ContainsRune(k+v, 0):
			err = fmt.Errorf("option %s=%q: want no zero byte", k, v)
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
				err = fmt.Errorf("option threads=%q: want a number of 1 to 65536", v)
			}
		case strings.Contains(k, "."):
			c.session[k] = v
		case p.add == addCPU:
			err = fmt.Errorf("unknown option %q%s; or an entry of ORT's session configuration", k, registry.Hint(k, cpuOptions))
		default:
			c.provider[k] = v
		}
		if err != nil {
			return c, err
		}
	}
	if p.add == addCPU && (c.epLibrary != "" || c.fallback != fallbackModel) {
		return c, fmt.Errorf("options ep_library and fallback: want neither for this provider")
	}
	if p.add == addLibrary && c.epLibrary == "" {
		return c, fmt.Errorf("option ep_library: missing: want a path")
	}
	return c, nil
}
