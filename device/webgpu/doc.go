// Package webgpu runs the image steps of inference data graphs on GPUs, through
// WebGPU in pure Go (gogpu/wgpu v0.31.5: Vulkan, Metal, Direct3D 12). It is a
// module of its own, so that nobody else links a GPU library. Importing it
// registers the device "webgpu":
//
//	d, err := device.Open("webgpu")                       // the first GPU
//	d, err := device.Open("webgpu,adapter=1")             // by number, as Adapters lists them
//	d, err := device.Open("webgpu,adapter=geforce")       // or by a part of its name
//	d, err := device.Open("webgpu,software=true")         // a software renderer is accepted too
//	d, err := device.Open("webgpu,strict=true")           // an image that is too large is an error, see below
//
// A software renderer (lavapipe, SwiftShader, WARP, the library's own) computes
// on the CPU, slower than package transforms. Open refuses one unless the
// options accept it. On js the package registers nothing, so it does not work
// in browsers.
//
// # What runs where
//
// Images are uploaded as decoded, uint8. These steps run on the device, with
// the bits of the CPU (class Exact):
//
//	resize, resized_crop, letterbox   Pillow's filters and nearest, on uint8 HWC of any number of channels but 2 and 4 (with alpha);
//	                                  backend torch_uint8 of 1 to 4 channels
//	crop, center_crop, flips, pads    on elements of 1, 2 or 4 bytes, both layouts
//	to_tensor, rescale, normalize, to_type, quantize, invert, adjust_brightness, hwc2chw, chw2hwc
//	                                  on values that depend on a uint8 image alone: as tables, results of 1, 2 or 4 bytes
//
// Scaling is fixed-point arithmetic with weights of up to 22 bits. The host
// computes the weights with the same code as the CPU device. Two passes sum
// 32-bit integers; each sum is rounded and clamped to 8 bits. Crops, flips,
// pads and nearest use a table of source indices from the host. Pointwise steps
// use a table of 256 entries a channel. The host makes it by running the steps
// themselves. So the device computes nothing in floating point, and neither its
// rounding nor its contraction of products can show.
//
// Everything else runs on the host, by package datagraph. Place depends on the
// graph alone. An image may still be too large for the adapter's buffers or for
// the plan's limits. A scaling from host memory is then done band by band.
// Where bands do not suffice, that step and the following ones run on the host.
// Session.Placement reports this, with the reason, until the next run. With
// strict=true the run fails instead (device.ErrFellBack). Limits.Bytes of the
// plan bounds all buffers of a session together.
//
// Open proves the kernels against the CPU on a few pixels. The package has been
// tested on lavapipe (Mesa 22.3) and on an H100 (driver 580.159). Neither Metal
// nor Direct3D was available.
package webgpu
