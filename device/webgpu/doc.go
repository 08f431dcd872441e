// Package webgpu runs the image steps of inference data graphs on GPUs, through
// WebGPU in pure Go (gogpu/wgpu v0.31.5: Vulkan, Metal, Direct3D 12). It is a
// module of its own, so that nobody else links a GPU library. Importing it
// registers the device "webgpu":
//
//	d, err := device.Open("webgpu")                       // the first GPU
//	d, err := device.Open("webgpu,adapter=1")             // by number, as Adapters lists them
//	d, err := device.Open("webgpu,adapter=geforce")       // or by a part of its name
//	d, err := device.Open("webgpu,software=true")         // a software renderer will do, too
//	d, err := device.Open("webgpu,strict=true")           // what is too large is refused, see below
//
// A software renderer (lavapipe, SwiftShader, WARP, the library's own) computes
// on the CPU, slower than package transforms does, so it is refused unless
// asked for. There is no browser build: for js the package registers nothing.
//
// # What runs where
//
// Images are uploaded as decoded, uint8. These steps run on the device, with
// the bits of the CPU (class Exact):
//
//	resize, resized_crop, letterbox   Pillow's filters and nearest, on uint8 HWC of any number of channels but 2 and 4 (with alpha)
//	crop, center_crop, flips, pads    on elements of 1, 2 or 4 bytes, both layouts
//	to_tensor, rescale, normalize, to_type, quantize, invert, adjust_brightness, hwc2chw, chw2hwc
//	                                  on what follows from a uint8 image: as tables, results of 1, 2 or 4 bytes
//
// Scaling is Pillow's fixed-point arithmetic: 22-bit weights, which the host
// computes with the same code as the CPU device, in two passes of 32-bit
// integer sums, each rounded and clamped to 8 bits. Where pixels come from
// (crops, flips, pads, nearest) is a table of indices from the host. Pointwise
// steps are a table of 256 entries a channel, made by running the steps
// themselves. So the device computes nothing in floating point, and neither its
// rounding nor its contraction of products can show.
//
// Everything else runs on the host, by package datagraph. What Place says
// depends on the graph alone. An image may still be too large for the adapter's
// buffers or for the plan's limits: a scaling from the host's memory is then
// done band by band; where that is not possible either, that step and the ones
// after it run on the host for this run, and Session.Placement says so, with
// the reason, until the next run; with strict=true the run is refused instead
// (device.ErrFellBack). Limits.Bytes of the plan bounds all buffers of a
// session together.
//
// Open proves the kernels against the CPU on a few pixels. Tested on lavapipe
// (Mesa 22.3); no GPU, and neither Metal nor Direct3D, was there to test.
package webgpu
