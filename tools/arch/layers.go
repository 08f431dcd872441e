// Package arch states which packages a package may import, and checks it.
package arch

//go:generate go run ./gen ../../docs/packages.md

// Layer is a group of packages. A package may only import packages of earlier
// layers and packages listed before it in its own layer.
type Layer struct {
	Name     string
	Packages []Package
}

// Package states the rules for one package.
type Package struct {
	// Path is the folder below the module's root.
	Path string
	// May lists the allowed direct imports besides the standard library,
	// without those of tests: folders of this module, and modules of others.
	May []string
	// Why is the reason that a package of the top-level internal folder imports
	// public ones. It is empty for all others.
	Why string
}

// Modules of others.
const (
	arrow       = "github.com/apache/arrow-go/v18"
	avo         = "github.com/mmcloughlin/avo"
	azure       = "github.com/Azure/azure-sdk-for-go"
	beam        = "github.com/apache/beam/sdks/v2"
	brotli      = "github.com/andybalholm/brotli"
	flatbuffers = "github.com/google/flatbuffers"
	ximage      = "golang.org/x/image"
	cobra       = "github.com/spf13/cobra"
	gift        = "github.com/disintegration/gift"
	gomlx       = "github.com/gomlx/gomlx"
	google      = "google.golang.org/api"
	hdfs        = "github.com/colinmarc/hdfs/v2"
	kerberos    = "github.com/jcmturner/gokrb5/v8"
	compress    = "github.com/klauspost/compress"
	jpegli      = "github.com/gen2brain/jpegli"
	lz4         = "github.com/pierrec/lz4/v4"
	msgp        = "github.com/tinylib/msgp"
	parquet     = "github.com/parquet-go/parquet-go"
	pflag       = "github.com/spf13/pflag"
	prometheus  = "github.com/prometheus/client_golang"
	protobuf    = "google.golang.org/protobuf"
	purego      = "github.com/ebitengine/purego"
	sqlite      = "modernc.org/sqlite"
	sync        = "golang.org/x/sync"
	sys         = "golang.org/x/sys"
	term        = "golang.org/x/term"
	testify     = "github.com/stretchr/testify"
	xmobile     = "golang.org/x/mobile"
	xz          = "github.com/ulikunitz/xz"
	webgpu      = "github.com/gogpu/wgpu"
	webgpuType  = "github.com/gogpu/gputypes"
	minio       = "github.com/minio/minio-go/v7"
)

// Brings lists the modules that a module of others depends on. A package that
// may import the latter links the former too.
var Brings = map[string][]string{
	cobra:   {pflag},
	jpegli:  {"github.com/tetratelabs/wazero", sys},
	msgp:    {"github.com/philhofer/fwd"},
	sqlite:  {"modernc.org/libc", "modernc.org/mathutil", "modernc.org/memory", "github.com/dustin/go-humanize", "github.com/google/uuid", "github.com/mattn/go-isatty", "github.com/ncruces/go-strftime", "github.com/remyoudompheng/bigfft", sys},
	term:    {sys},
	testify: {"github.com/davecgh/go-spew", "github.com/pmezard/go-difflib", "go.yaml.in/yaml/v3"},
}

// formats lists the packages of codec/all. Nothing below codec/all and eager
// may link them, so that a program links only the formats it needs.
var formats = []string{"codec/bmp", "codec/dicom", "codec/gif", "codec/jpeg", "codec/png", "codec/pnm", "codec/qoi", "codec/tga", "codec/tiff", "codec/webp"}

// source lists what a package of a dataset source may import.
func source(more ...string) []string {
	return append([]string{"dataset", "dataset/internal/files", "store", "tensor", "internal/registry"}, more...)
}

// imports lists what an importer may import.
func imports(more ...string) []string {
	return append([]string{"codec", "datagraph", "importer", "internal/lazyregexp", "internal/registry", "tensor", "transforms"}, more...)
}

// Layers lists every package of this repository, from the bottom to the top.
var Layers = []Layer{
	{"foundations", []Package{
		{Path: "internal/clib", May: []string{purego, sys}},
		{Path: "internal/clib/clibtest", May: []string{"internal/clib", testify}},
		{Path: "internal/coverage"},
		{Path: "internal/cpu", May: []string{sys}},
		{Path: "internal/engine"},
		{Path: "internal/bom"},
		{Path: "internal/errfmt"},
		{Path: "internal/filelock", May: []string{sys}},
		{Path: "internal/hdf5", May: []string{compress}},
		{Path: "internal/hexdoc", May: []string{testify}},
		{Path: "internal/exactmath"},
		{Path: "internal/kernel", May: []string{"internal/cpu", "internal/exactmath"}},
		{Path: "internal/dsp", May: []string{"internal/cpu", "internal/exactmath", "internal/kernel"}},
		{Path: "internal/lazyregexp"},
		{Path: "internal/lmdb"},
		{Path: "internal/mapfile", May: []string{sys}},
		{Path: "internal/msgpack", May: []string{"internal/errfmt"}},
		{Path: "docs"},
		{Path: "internal/opdoc", May: []string{"docs", "internal/lazyregexp"}, Why: "docs holds the pages that it reads"},
		{Path: "internal/ordered"},
		{Path: "internal/protowire"},
		{Path: "internal/registry", May: []string{"internal/errfmt"}},
		{Path: "internal/enum", May: []string{"internal/errfmt", "internal/registry"}},
		{Path: "internal/tilegrid", May: []string{"internal/enum"}},
		{Path: "internal/pass", May: []string{"internal/errfmt", "internal/registry"}},
		{Path: "internal/short"},
		{Path: "internal/tiffdir"},
		{Path: "internal/version"},
		{Path: "internal/sorts"},
		{Path: "internal/spec", May: []string{"internal/registry"}},
	}},
	{"values", []Package{
		{Path: "rng", May: []string{"internal/exactmath"}},
		{Path: "internal/lazy"},
		{Path: "tensor", May: []string{"internal/enum", "internal/errfmt"}},
		{Path: "tensor/npz", May: []string{"internal/errfmt", "tensor"}},
		{Path: "internal/golden", May: []string{"tensor", testify}, Why: "it compares tensors in tests"},
		{Path: "store", May: []string{"internal/mapfile", "internal/sorts"}},
		{Path: "store/remote", May: []string{"internal/filelock", "internal/sorts", "store"}},
		{Path: "store/httpstore", May: []string{"store", "store/remote"}},
		{Path: "store/storetest", May: []string{"store", testify}},
		{Path: "store/internal/objects", May: []string{"store", "store/remote"}},
		{Path: "store/azure", May: []string{"store", "store/internal/objects", "store/remote", azure}},
		{Path: "store/gcs", May: []string{"store", "store/internal/objects", "store/remote", google}},
		{Path: "store/hdfs", May: []string{"store", "store/remote", hdfs, kerberos}},
		{Path: "store/s3", May: []string{"store", "store/internal/objects", "store/remote", minio, "github.com/minio/crc64nvme"}},
		{Path: "store/s3/s3test", May: []string{minio, testify}},
		{Path: "store/hdfs/hdfstest", May: []string{testify}},
	}},
	{"images", []Package{
		{Path: "codec", May: []string{"internal/enum", "internal/errfmt", "internal/kernel", "internal/registry", "tensor"}},
		{Path: "codec/internal/codectest", May: []string{"codec", testify}},
		{Path: "codec/internal/exif"},
		{Path: "codec/internal/prefix"},
		{Path: "codec/internal/inflate", May: []string{"codec/internal/prefix", "internal/cpu", "internal/kernel"}},
		{Path: "codec/internal/lzw", May: []string{"internal/kernel"}},
		{Path: "codec/internal/vp8", May: []string{"internal/cpu", "internal/kernel", ximage}},
		{Path: "codec/internal/vp8l", May: []string{"codec/internal/prefix", "internal/kernel", ximage}},
		{Path: "codec/internal/yuv", May: []string{"internal/clib"}},
		{Path: "codec/avif", May: []string{"codec", "codec/internal/exif", "codec/internal/yuv", "internal/clib"}},
		{Path: "codec/heif", May: []string{"codec", "codec/internal/yuv", "internal/clib"}},
		{Path: "codec/jp2", May: []string{"codec", "internal/clib", "tensor", "internal/kernel"}},
		{Path: "codec/jxl", May: []string{"codec", "codec/internal/exif", "internal/clib"}},
		{Path: "codec/bmp", May: []string{"codec", "internal/kernel"}},
		{Path: "codec/pnm", May: []string{"codec"}},
		{Path: "codec/qoi", May: []string{"codec"}},
		{Path: "codec/tga", May: []string{"codec", "internal/kernel"}},
		{Path: "codec/gif", May: []string{"codec/internal/lzw", "codec"}},
		{Path: "codec/jpeg", May: []string{"codec", "codec/internal/exif", "internal/enum", "internal/errfmt", "internal/kernel", "tensor"}},
		{Path: "codec/dicom", May: []string{"codec", "codec/jpeg", "tensor"}},
		{Path: "codec/memory", May: []string{"codec"}},
		{Path: "codec/pixels", May: []string{"codec", "internal/kernel"}},
		{Path: "codec/png", May: []string{"codec/internal/exif", "codec/internal/inflate", "codec", "internal/kernel", "tensor"}},
		{Path: "codec/tiff", May: []string{"codec/internal/exif", "codec/internal/inflate", "codec/internal/lzw", "codec", "internal/kernel", "internal/tiffdir", "tensor", compress, xz}},
		{Path: "codec/webp", May: []string{"codec/internal/exif", "codec/internal/vp8", "codec/internal/vp8l", "codec", "internal/kernel"}},
		{Path: "codec/animation", May: []string{"codec", "codec/gif", "codec/png", "codec/webp"}},
		{Path: "codec/all", May: formats},
		{Path: "codec/jpegli", May: []string{"codec", "tensor", jpegli}},
	}},
	{"sounds", []Package{
		{Path: "sound", May: []string{"codec", "internal/enum", "internal/errfmt", "internal/registry", "tensor"}},
		{Path: "sound/internal/soundtest", May: []string{"codec", "sound", testify}},
		{Path: "sound/aiff", May: []string{"codec", "sound"}},
		{Path: "sound/au", May: []string{"codec", "sound"}},
		{Path: "sound/flac", May: []string{"codec", "sound"}},
		{Path: "sound/mp3", May: []string{"codec", "internal/exactmath", "sound"}},
		{Path: "sound/wav", May: []string{"codec", "sound", "tensor"}},
		{Path: "sound/all", May: []string{"sound/aiff", "sound/au", "sound/flac", "sound/mp3", "sound/wav"}},
	}},
	{"graphs", []Package{
		{Path: "transforms", May: []string{"codec", "internal/dsp", "internal/enum", "internal/errfmt", "internal/exactmath", "internal/kernel", "internal/lazy", "internal/msgpack", "internal/registry", "internal/spec", "rng", "sound", "tensor"}},
		{Path: "transforms/all", May: []string{"transforms"}},
		{Path: "transforms/classification", May: []string{"transforms"}},
		{Path: "transforms/plugin", May: []string{"internal/clib", "internal/msgpack", "internal/registry", "tensor", "transforms"}},
		{Path: "transforms/frames", May: []string{"codec", "codec/animation", "internal/enum", "internal/msgpack", "tensor", "transforms"}},
		{Path: "transforms/radiology", May: []string{"codec", "codec/dicom", "internal/enum", "internal/exactmath", "internal/msgpack", "tensor", "transforms"}},
		{Path: "transforms/subwords", May: []string{"internal/msgpack", "internal/protowire", "tensor", "transforms"}},
		{Path: "datagraph", May: []string{"codec", "internal/bom", "internal/enum", "internal/errfmt", "internal/kernel", "internal/msgpack", "internal/pass", "internal/spec", "rng", "sound", "tensor", "transforms", sync}},
		{Path: "datagraph/diff", May: []string{"codec", "datagraph", "tensor", "transforms", "internal/sorts"}},
		{Path: "importer/preset", May: []string{"codec", "datagraph", "internal/registry", "transforms"}},
		{Path: "eager", May: []string{"codec", "datagraph", "rng", "tensor", "transforms"}},
	}},
	{"models", []Package{
		{Path: "modelbundle", May: []string{"codec", "datagraph", "internal/msgpack", "store", "tensor", msgp, "internal/sorts"}},
		{Path: "onnx", May: []string{"codec", "datagraph", "internal/enum", "internal/kernel", "internal/spec", "modelbundle", "tensor", "transforms", "internal/protowire"}},
		{Path: "importer", May: []string{"datagraph", "internal/registry", "internal/lazyregexp"}},
		{Path: "importer/internal/golden", May: []string{"codec", "datagraph", "internal/golden", "tensor", testify, "transforms", "transforms/all"}},
		{Path: "importer/internal/sounds", May: []string{"datagraph", "importer", "tensor", "transforms"}},
		{Path: "importer/timm", May: imports()},
		{Path: "importer/hf", May: imports("importer/timm", "internal/exactmath")},
		{Path: "importer/hf/gen"},
		{Path: "importer/hf/video", May: []string{"codec", "datagraph", "importer", "importer/hf", "internal/registry", "tensor", "transforms"}},
		{Path: "importer/hf/tokens", May: []string{"importer", "importer/hf/video", "internal/registry", "tensor", "transforms"}},
		{Path: "importer/hf/video/clip", May: []string{"codec", "codec/animation", "codec/pixels", "importer/hf/video", "tensor"}},
		{Path: "importer/keras", May: imports()},
		{Path: "importer/librosa", May: imports("importer/internal/sounds", "internal/dsp")},
		{Path: "importer/torchaudio", May: imports("importer/internal/sounds")},
		{Path: "importer/mindir", May: imports("internal/protowire")},
		{Path: "importer/onnx", May: imports("onnx")},
		{Path: "importer/kaldi", May: imports()},
		{Path: "importer/opencv", May: imports()},
		{Path: "importer/tflite", May: imports()},
		{Path: "importer/torchvision", May: imports()},
		{Path: "importer/triton", May: imports()},
		{Path: "importer/ultralytics", May: imports("go.yaml.in/yaml/v3")},
		{Path: "importer/all", May: []string{"importer/hf", "importer/kaldi", "importer/keras", "importer/librosa", "importer/mindir", "importer/onnx", "importer/opencv", "importer/tflite", "importer/timm", "importer/torchvision", "importer/torchaudio", "importer/ultralytics"}},
		{Path: Root, May: []string{"codec", "codec/all", "codec/pixels", "datagraph", "importer", "importer/all", "modelbundle", "importer/preset", "store", "tensor", "transforms", "transforms/all"}},
		{Path: "internal/gpu", May: []string{"codec", "datagraph", "internal/kernel", "tensor", "transforms"}, Why: "it runs graphs for the GPUs of device/webgpu and of browsers"},
		{Path: "device", May: []string{"datagraph", "internal/enum", "internal/registry", "modelbundle", "tensor", "transforms"}},
		{Path: "device/cpu", May: []string{"datagraph", "device", "tensor", "transforms"}},
		{Path: "device/ort", May: []string{"datagraph", "device", "internal/clib", "internal/registry", "onnx", "tensor", "transforms"}},
		{Path: "device/webgpu", May: []string{"codec", "datagraph", "device", "internal/gpu", "internal/kernel", "internal/registry", "tensor", "transforms", webgpu, webgpuType}},
	}},
	{"records", []Package{
		{Path: "records", May: []string{"internal/lazyregexp", "internal/registry", "store", "tensor"}},
		{Path: "recordio", May: []string{"internal/kernel", "records", "rng", "store"}},
		{Path: "recordio/imagerecord", May: []string{"internal/bom"}},
		{Path: "records/kaldi", May: []string{"internal/bom", "records", "store", "tensor", "internal/sorts"}},
		{Path: "records/mds", May: []string{"internal/sorts", "records", "store", "tensor", compress}},
		{Path: "records/mindrecord", May: []string{"internal/msgpack", "records", "store", "tensor", msgp}},
		{Path: "records/mindrecord/sqlitetest", May: []string{"records/mindrecord", "tensor", sqlite}},
		{Path: "records/mxnet", May: []string{"recordio", "recordio/imagerecord", "records", "store", "tensor"}},
		{Path: "records/tfrecord", May: []string{"records", "store"}},
		{Path: "records/tfexample", May: []string{"internal/protowire", "internal/sorts", "records", "records/tfrecord", "store", "tensor"}},
		{Path: "records/webdataset", May: []string{"records", "rng", "store", "tensor", compress}},
		{Path: "records/all", May: []string{"records/kaldi", "records/mds", "records/mindrecord", "records/mxnet", "records/tfexample", "records/tfrecord", "records/webdataset"}},
		{Path: "pack", May: []string{"codec", "codec/jpeg", "datagraph", "internal/bom", "internal/enum", "internal/filelock", "internal/ordered", "recordio", "recordio/imagerecord", "records", "records/kaldi", "records/webdataset", "rng", "sound", "store", "tensor", "transforms", compress, "internal/sorts"}},
	}},
	{"datasets", []Package{
		{Path: "dataset/internal/filecache", May: []string{"internal/filelock", "internal/mapfile", "tensor"}},
		{Path: "dataset", May: []string{"codec", "datagraph", "dataset/internal/filecache", "device", "internal/engine", "internal/msgpack", "internal/pass", "internal/registry", "internal/spec", "rng", "store", "tensor", "transforms", msgp, "internal/sorts"}},
		{Path: "pullpipe", May: []string{"dataset", "internal/engine", "store"}},
		{Path: "pipeline", May: []string{"dataset", "internal/engine", "internal/registry", "store", sys}},
		{Path: "pipeline/expvars", May: []string{"pipeline"}},
		{Path: "pipeline/prometheus", May: []string{"pipeline", prometheus}},
		{Path: "dataset/internal/files", May: []string{"codec", "dataset", "internal/bom", "store"}},
		{Path: "dataset/internal/arrays", May: source()},
		{Path: "dataset/sets/internal/cifar", May: source()},
		{Path: "dataset/internal/golden", May: source("internal/spec", "pullpipe", testify)},
		{Path: "dataset/internal/jsonstream", May: []string{"dataset", "dataset/internal/files", "store"}},
		{Path: "dataset/sets/internal/imagelist", May: source("dataset/internal/jsonstream")},
		{Path: "dataset/internal/lines", May: []string{"dataset", "dataset/internal/files", "internal/bom", "store"}},
		{Path: "dataset/sets/internal/matfile", May: []string{"dataset", "dataset/internal/files", "store"}},
		{Path: "dataset/internal/noise", May: []string{"rng", "tensor"}},
		{Path: "dataset/sets/internal/pixels", May: source("dataset/sets/internal/imagelist")},
		{Path: "dataset/sourcetest", May: source("dataset/internal/golden", "internal/spec", testify)},
		{Path: "dataset/sets/internal/settest", May: []string{"dataset", "dataset/sourcetest", "internal/short", "store", testify}},
		{Path: "dataset/sets/caltech101", May: source("dataset/sets/internal/imagelist", "dataset/sets/internal/matfile")},
		{Path: "dataset/sets/caltech256", May: source("dataset/sets/internal/imagelist")},
		{Path: "dataset/sets/celeba", May: source()},
		{Path: "dataset/sets/cifar10", May: source("dataset/sets/internal/cifar", "dataset/internal/files")},
		{Path: "dataset/sets/cifar100", May: source("dataset/sets/internal/cifar", "dataset/internal/files")},
		{Path: "dataset/sets/cityscapes", May: source("dataset/sets/internal/imagelist")},
		{Path: "dataset/sets/clevr", May: source("dataset/sets/internal/imagelist", "dataset/internal/jsonstream")},
		{Path: "dataset/sets/coco", May: source("dataset/internal/jsonstream")},
		{Path: "dataset/csv", May: source("dataset/internal/lines")},
		{Path: "dataset/columnar/internal/table", May: []string{"dataset/internal/files", "records", "dataset", "dataset/internal/lines", "store"}},
		{Path: "dataset/columnar/arrow", May: source("dataset/columnar/internal/table", "records", arrow, flatbuffers)},
		{Path: "dataset/columnar/parquet", May: source("dataset/columnar/internal/table", "records", brotli, compress, lz4, parquet)},
		{Path: "dataset/sets/div2k", May: source("dataset/sets/internal/imagelist")},
		{Path: "dataset/sets/dtd", May: source("dataset/sets/internal/imagelist")},
		{Path: "dataset/fakeimage", May: source("dataset/internal/noise", "rng")},
		{Path: "dataset/sets/fgvcaircraft", May: source("dataset/sets/internal/imagelist")},
		{Path: "dataset/sets/flickr", May: source("dataset/sets/internal/imagelist")},
		{Path: "dataset/sets/flowers102", May: source("dataset/sets/internal/imagelist", "dataset/sets/internal/matfile")},
		{Path: "dataset/sets/food101", May: source("dataset/sets/internal/imagelist", "dataset/internal/jsonstream")},
		{Path: "dataset/generator", May: source()},
		{Path: "dataset/imagefolder", May: source()},
		{Path: "dataset/sets/gtsrb", May: source("dataset/imagefolder", "dataset/sets/internal/imagelist")},
		{Path: "dataset/sets/eurosat", May: source("dataset/imagefolder")},
		{Path: "dataset/sets/country211", May: source("dataset/imagefolder")},
		{Path: "dataset/sets/fer2013", May: source("dataset/sets/internal/imagelist", "dataset/sets/internal/pixels")},
		{Path: "dataset/sets/imagenet", May: source("dataset/imagefolder", "dataset/sets/internal/imagelist", "dataset/sets/internal/matfile")},
		{Path: "dataset/sets/imagenette", May: source("dataset/imagefolder", "dataset/sets/internal/imagelist")},
		{Path: "dataset/imagerecord", May: source("recordio", "recordio/imagerecord")},
		{Path: "dataset/sets/inaturalist", May: source("dataset/sets/internal/imagelist")},
		{Path: "dataset/inmemory", May: source("dataset/internal/arrays", "dataset/internal/files")},
		{Path: "dataset/kaldi", May: source("dataset/internal/lines", "records/kaldi")},
		{Path: "dataset/sets/kitti", May: source("dataset/sets/internal/imagelist")},
		{Path: "dataset/sets/lfw", May: source("dataset/sets/internal/imagelist")},
		{Path: "dataset/sets/lsun", May: source("internal/lmdb")},
		{Path: "dataset/manifest", May: source("dataset/internal/jsonstream")},
		{Path: "dataset/mds", May: source("records", "records/mds")},
		{Path: "dataset/mindrecord", May: source("records/mindrecord")},
		{Path: "dataset/sets/mnist", May: source("dataset/sets/internal/pixels")},
		{Path: "dataset/sets/movingmnist", May: source("internal/lazyregexp")},
		{Path: "dataset/numpyslices", May: source("dataset/internal/arrays", "dataset/internal/files", "tensor/npz")},
		{Path: "dataset/sets/omniglot", May: source("dataset/sets/internal/imagelist")},
		{Path: "dataset/sets/oxfordpet", May: source("dataset/sets/internal/imagelist")},
		{Path: "dataset/sets/pcam", May: source("dataset/sets/internal/imagelist", "dataset/sets/internal/pixels", "internal/hdf5")},
		{Path: "dataset/sets/phototour", May: source("dataset/sets/internal/imagelist")},
		{Path: "dataset/sets/places365", May: source("dataset/sets/internal/imagelist")},
		{Path: "dataset/random", May: source("dataset/internal/noise", "rng")},
		{Path: "dataset/sets/renderedsst2", May: source("dataset/sets/internal/imagelist")},
		{Path: "dataset/sets/sbu", May: source("dataset/sets/internal/imagelist")},
		{Path: "dataset/sets/widerface", May: source("dataset/sets/internal/imagelist")},
		{Path: "dataset/save", May: []string{"dataset", "records", "store", "tensor"}},
		{Path: "dataset/sets/sbdataset", May: source("dataset/sets/internal/imagelist", "dataset/sets/internal/matfile")},
		{Path: "dataset/sets/semeion", May: source("dataset/sets/internal/pixels")},
		{Path: "dataset/sets/stanfordcars", May: source("dataset/sets/internal/imagelist", "dataset/sets/internal/matfile")},
		{Path: "dataset/sets/stl10", May: source("dataset/sets/internal/imagelist", "dataset/sets/internal/pixels")},
		{Path: "dataset/sets/sun397", May: source("dataset/sets/internal/imagelist")},
		{Path: "dataset/sets/svhn", May: source("dataset/sets/internal/matfile", "dataset/sets/internal/pixels")},
		{Path: "dataset/textfile", May: source("dataset/internal/lines")},
		{Path: "dataset/animationframes", May: source("codec", "codec/animation")},
		{Path: "dataset/tiles", May: source("codec", "codec/tiff", "internal/tilegrid")},
		{Path: "dataset/columnar/lerobot", May: source("dataset/columnar/internal/table", "dataset/columnar/parquet", "dataset/textfile")},
		{Path: "dataset/metadatafolder", May: source("dataset/csv", "dataset/textfile")},
		{Path: "dataset/tfrecord", May: source("records/tfrecord")},
		{Path: "dataset/tfds", May: source("dataset/tfrecord", "records/tfexample")},
		{Path: "dataset/sets/usps", May: source("dataset/sets/internal/pixels")},
		{Path: "dataset/sets/voc", May: source()},
		{Path: "dataset/webdataset", May: source("records/webdataset", "tensor/npz")},
		{Path: "dataset/all", May: []string{"dataset/animationframes", "dataset/tiles", "dataset/mds", "dataset/metadatafolder", "dataset/mindrecord", "dataset/sets/caltech101", "dataset/sets/caltech256", "dataset/sets/celeba", "dataset/sets/cifar10", "dataset/sets/cifar100", "dataset/sets/cityscapes", "dataset/sets/clevr", "dataset/sets/coco", "dataset/sets/country211", "dataset/csv", "dataset/sets/div2k", "dataset/sets/dtd", "dataset/sets/eurosat", "dataset/fakeimage", "dataset/sets/fer2013", "dataset/sets/fgvcaircraft", "dataset/sets/flickr", "dataset/sets/flowers102", "dataset/sets/food101", "dataset/generator", "dataset/sets/gtsrb", "dataset/imagefolder", "dataset/sets/imagenet", "dataset/sets/imagenette", "dataset/imagerecord", "dataset/sets/inaturalist", "dataset/kaldi", "dataset/sets/kitti", "dataset/sets/lfw", "dataset/sets/lsun", "dataset/manifest", "dataset/sets/mnist", "dataset/sets/movingmnist", "dataset/numpyslices", "dataset/sets/omniglot", "dataset/sets/oxfordpet", "dataset/sets/pcam", "dataset/sets/phototour", "dataset/sets/places365", "dataset/random", "dataset/sets/renderedsst2", "dataset/save", "dataset/sets/sbdataset", "dataset/sets/sbu", "dataset/sets/semeion", "dataset/sets/stanfordcars", "dataset/sets/stl10", "dataset/sets/sun397", "dataset/sets/svhn", "dataset/textfile", "dataset/tfds", "dataset/tfrecord", "dataset/sets/usps", "dataset/sets/voc", "dataset/webdataset", "dataset/sets/widerface"}},
		{Path: "device/internal/devicetest", May: []string{"datagraph", "dataset", "device", "pipeline", "pullpipe", "store", "tensor", "transforms", testify}, Why: "the tests of the devices run it on pipelines"},
		{Path: "compat/mxnet", May: []string{"codec", "codec/jpeg", "codec/png", "datagraph", "dataset", "dataset/imagerecord", "internal/exactmath", "internal/kernel", "internal/registry", "pipeline", "pullpipe", "recordio", "recordio/imagerecord", "store", "tensor", "transforms"}},
		{Path: "compat/paddle", May: []string{"dataset", "dataset/csv", "dataset/imagerecord", "dataset/tfrecord", "dataset/webdataset", "internal/registry", "pipeline", "store", "tensor"}},
		{Path: "internal/kserve", May: []string{"tensor"}, Why: "package job and the server write tensors alike"},
		{Path: "internal/paths", May: []string{"codec", "store"}, Why: "package job and the command line name files alike"},
		{Path: "internal/newfile", May: []string{"internal/paths", "store"}, Why: "package job and the command line write files alike"},
		{Path: "internal/pipe", May: []string{"codec", "internal/paths", "records"}, Why: "package job and the command line read pipes alike"},
		{Path: "job", May: []string{"codec", "datagraph", Root, "internal/bom", "internal/exactmath", "internal/filelock", "internal/kserve", "internal/newfile", "internal/ordered", "internal/paths", "internal/pipe", "internal/registry", "records", "records/all", "records/tfexample", "records/webdataset", "sound", "store", "tensor", "tensor/npz", "transforms", "internal/sorts"}},
	}},
	{"programs", []Package{
		{Path: "pipeline/gomlx", May: []string{"dataset", "pipeline", "tensor", "transforms", gomlx}},
		{Path: "cmd/internal/outline", May: []string{"datagraph", "importer/hf/tokens", "internal/kserve", "tensor"}},
		{Path: "cmd/internal/serve", May: []string{"cmd/internal/outline", "codec", "datagraph", "device", "importer/hf/tokens", "importer/hf/video", "importer/hf/video/clip", "internal/kserve", "internal/registry", "tensor", "transforms", sync}},
		{Path: "cmd/internal/tileindex", May: []string{"codec/tiff"}},
		{Path: "cmd/internal/cog", May: []string{"codec/tiff", "internal/tiffdir", "tensor", compress, sync}},
		{Path: "cmd/internal/cli/command", May: []string{"codec", "datagraph/diff", "internal/lazyregexp", "internal/paths", "internal/registry", "job", "records", "store", "store/remote", cobra, pflag, term, "internal/version"}},
		{Path: "cmd/internal/cli/help", May: []string{"datagraph", "dataset", "records", "store", cobra}},
		{Path: "cmd/internal/cli/records", May: []string{"cmd/internal/cli/command", "internal/newfile", "internal/paths", "internal/pipe", "records", "records/all", "store", "tensor", cobra}},
		{Path: "cmd/internal/cli/source", May: []string{"cmd/internal/cli/command", "codec", "datagraph", "datagraph/diff", "dataset", "dataset/all", "device", "device/cpu", "importer", "importer/all", "importer/hf/tokens", "importer/hf/video", "importer/preset", "importer/triton", Root, "internal/bom", "internal/paths", "internal/pipe", "internal/registry", "job", "modelbundle", "store", "tensor", "transforms", cobra}},
		{Path: "cmd/internal/cli/bench", May: []string{"cmd/internal/cli/command", "cmd/internal/cli/source", "codec", "datagraph", "dataset", "dataset/imagefolder", "device", "device/cpu", "importer", "internal/newfile", "internal/ordered", "internal/paths", "internal/registry", "internal/sorts", "job", "pipeline", "pullpipe", "store", "tensor", "transforms", cobra, term}},
		{Path: "cmd/internal/cli/bundle", May: []string{"cmd/internal/cli/command", "cmd/internal/cli/source", "codec", "datagraph", "datagraph/diff", "device", "device/cpu", "internal/bom", "internal/newfile", "internal/paths", "internal/registry", "job", "modelbundle", "onnx", "store", "tensor", "transforms", cobra}},
		{Path: "cmd/internal/cli/graph", May: []string{"cmd/internal/cli/command", "cmd/internal/cli/source", "codec", "datagraph", "dataset", "importer", "importer/hf", "importer/hf/tokens", "importer/hf/video", "importer/mindir", "internal/coverage", "internal/newfile", "internal/opdoc", "internal/paths", "internal/registry", "job", "onnx", "store", "tensor", "transforms", cobra, gift, ximage, "tensor/npz", "internal/sorts"}},
		{Path: "cmd/internal/cli/diff", May: []string{"cmd/internal/cli/command", "cmd/internal/cli/graph", "cmd/internal/cli/source", "codec", "datagraph", "datagraph/diff", "importer", "internal/newfile", "internal/paths", "internal/pipe", "job", "store", "tensor", cobra, "tensor/npz"}},
		{Path: "cmd/internal/cli/pack", May: []string{"cmd/internal/cli/command", "cmd/internal/cli/source", "codec", "codec/jpeg", "datagraph", "importer", "internal/newfile", "internal/paths", "pack", "recordio/imagerecord", "store", cobra}},
		{Path: "cmd/internal/cli/run", May: []string{"cmd/internal/cli/command", "cmd/internal/cli/source", "codec", "datagraph", "device", "device/cpu", Root, "internal/bom", "internal/paths", "internal/pipe", "job", "store", "tensor", "transforms", cobra, term, "importer", "importer/hf/video", "importer/hf/video/clip", "internal/newfile", "cmd/internal/tileindex", "codec/tiff", "internal/tilegrid"}},
		{Path: "cmd/internal/cli/stitch", May: []string{"cmd/internal/cli/command", "cmd/internal/cog", "cmd/internal/tileindex", "codec", "internal/newfile", "internal/paths", "store", "tensor", "tensor/npz", cobra}},
		{Path: "cmd/internal/cli/sizes", May: []string{"cmd/internal/cli/command", "cmd/internal/cli/source", "cmd/internal/outline", "datagraph", "importer/preset", "internal/paths", "job", "store", "tensor", cobra}},
		{Path: "cmd/internal/cli/serve", May: []string{"cmd/internal/cli/command", "cmd/internal/cli/source", "cmd/internal/serve", "device/cpu", "importer/hf/video", "job", "store", cobra}},
		{Path: "cmd/internal/cli", May: []string{"cmd/internal/cli/bench", "cmd/internal/cli/bundle", "cmd/internal/cli/command", "cmd/internal/cli/diff", "cmd/internal/cli/graph", "cmd/internal/cli/help", "cmd/internal/cli/pack", "cmd/internal/cli/records", "cmd/internal/cli/run", "cmd/internal/cli/serve", "cmd/internal/cli/sizes", "cmd/internal/cli/stitch", "codec/all", "internal/pipe", "internal/registry", "sound/all", "store/httpstore", cobra, pflag, "transforms/all", "transforms/frames", "transforms/radiology", "transforms/subwords", "internal/lazyregexp"}},
		{Path: "mobile/internal/direct"},
		{Path: "mobile", May: []string{"codec", "codec/all", "codec/pixels", "datagraph", "dataset", "internal/version", "mobile/internal/direct", "modelbundle", "pullpipe", "sound", "sound/all", "store", "tensor", "transforms"}},
		{Path: "mobile/bind", May: []string{"mobile", xmobile}},
		{Path: "python/internal/binding", May: []string{"codec", "codec/all", "codec/avif", "codec/heif", "codec/jp2", "codec/jxl", "codec/memory", "codec/pixels", "datagraph", "dataset", "dataset/all", "device", "device/ort", "importer", "importer/all", "importer/hf/video", Root, "internal/registry", "job", "mobile", "modelbundle", "pipeline", "importer/preset", "sound/all", "store", "store/httpstore", "tensor", "transforms", "transforms/all", "transforms/frames", "transforms/radiology", "transforms/subwords"}},
		{Path: "python/lib", May: []string{"importer/hf/video", "python/internal/binding", "tensor"}},
		{Path: "capi/lib", May: []string{Root, "codec", "codec/all", "codec/memory", "datagraph", "importer", "importer/hf/tokens", "importer/hf/video", "importer/preset", "sound/all", "store", "tensor", "transforms", "transforms/all"}},
		{Path: "wasm", May: []string{"codec", "codec/all", "codec/jpeg", "codec/pixels", "codec/png", "datagraph", "importer", "importer/hf", "internal/errfmt", "internal/gpu", "sound", "sound/all", "tensor", "transforms", "transforms/all", "transforms/classification"}},
		{Path: "wasm/test/strip"},
		{Path: "cmd/infer-prep", May: []string{"cmd/internal/cli", "codec/avif", "codec/heif", "codec/jp2", "codec/jxl", "device/ort", "transforms/plugin"}},
		{Path: "cmd/infer-prep-full", May: []string{"cmd/internal/cli", "cmd/internal/cli/command", "codec/avif", "codec/heif", "codec/jp2", "codec/jxl", "codec/jpegli", "dataset/columnar/arrow", "dataset/columnar/lerobot", "dataset/columnar/parquet", "device/ort", "transforms/plugin", "store/azure", "store/gcs", "store/hdfs", "store/s3"}},
		{Path: "cmd/infer-prep-webgpu", May: []string{"cmd/internal/cli", "device/webgpu"}},
		{Path: "pack/distributed/internal/isolated", May: []string{sys}},
		{Path: "pack/distributed/internal/cluster"},
		{Path: "pack/distributed", May: []string{"pack", "store", beam}},
		{Path: "pack/distributed/cmd/infer-prep-beam", May: []string{"codec/all", "codec/jpegli", "pack/distributed", "pack", "store/hdfs", "store/httpstore", "store/s3", beam, "transforms/all"}},
		{Path: "conformance/engines/goimage", May: []string{ximage}},
		{Path: "conformance/engines/sampling", May: []string{"importer/hf/video"}},
		{Path: "examples/chat", May: []string{Root, "codec", "importer/hf/tokens", "tensor", "transforms"}},
		{Path: "examples/classifier"},
		{Path: "examples/cpp"},
		{Path: "examples/eager", May: []string{"eager", "tensor", "transforms", "codec/all"}},
		{Path: "examples"},
		{Path: "examples/bundle", May: []string{Root, "modelbundle"}},
		{Path: "examples/folder", May: []string{Root, "job"}},
		{Path: "examples/image", May: []string{Root, "tensor"}},
		{Path: "examples/pack", May: []string{"pack", "store"}},
		{Path: "examples/server", May: []string{Root, "tensor"}},
		{Path: "examples/video", May: []string{"codec", "codec/png", "importer/hf/video", "tensor"}},
		{Path: "examples/vlm", May: []string{Root, "codec", "importer/hf/tokens", "tensor"}},
		{Path: "examples/train", May: []string{"codec/all", "datagraph", "dataset", "dataset/imagefolder", "pipeline", "transforms"}},
		{Path: "examples/training", May: []string{"pipeline/gomlx", "codec", "codec/png", "datagraph", "dataset", "dataset/sets/cifar10", "dataset/imagefolder", "modelbundle", "onnx", "pipeline", "pullpipe", "rng", "store", "tensor", "transforms", gomlx, protobuf, ximage}},
	}},
	{"tools of this repository", []Package{
		{Path: "tools/arch"},
		{Path: "tools/arch/gen", May: []string{"tools/arch"}},
		{Path: "tools/digest"},
		{Path: "tools/kernelasm", May: []string{avo}},
		{Path: "tools/kernelasm/arm64"},
		{Path: "tools/msgpgen"},
		{Path: "tools/oplist"},
		{Path: "tools/opsource"},
		{Path: "tools/opdoc", May: []string{"dataset", "dataset/all", "internal/coverage", "internal/opdoc", "tools/opsource", "transforms", "transforms/frames", "transforms/plugin", "transforms/radiology", "transforms/all", "transforms/subwords", "docs"}},
		{Path: "tools/readme", May: []string{"internal/version"}},
		{Path: "tools/sbom"},
		{Path: "tools/planscale", May: []string{"codec/all", "pack", "store", "transforms/all"}},
		{Path: "tools/mixing", May: []string{"dataset", "pullpipe", "store", "tensor"}},
		{Path: "tools/bigfolder"},
		{Path: "tools/soak", May: []string{"codec/all", "datagraph", "dataset", "dataset/imagefolder", "dataset/imagerecord", "dataset/webdataset", "pipeline", "pullpipe", "store", "tensor", "transforms", "transforms/all"}},
		{Path: "tools/shake"},
		{Path: "tools/tsops", May: []string{"codec", "importer/preset", "tools/opsource", "transforms", "transforms/all"}},
		{Path: "tools/tspeer", May: []string{"datagraph", "importer", "importer/all", "importer/hf", "importer/torchvision", "modelbundle", "importer/preset", "tensor", "transforms", "transforms/all"}},
		{Path: "tools/goldencases", May: []string{"codec", "codec/all", "codec/jpeg", "datagraph", "importer", "importer/all", "importer/hf", "importer/torchvision", "internal/golden", "importer/preset", "tensor", "transforms", "tensor/npz", "transforms/all"}},
		{Path: "tools/dicomframes", May: []string{"codec", "codec/dicom", "codec/jp2", "tensor", "transforms", "transforms/radiology"}},
		{Path: "tools/tiffwindows", May: []string{"codec", "codec/jpeg", "codec/tiff", "codec/webp"}},
		{Path: "tools/jpegencode", May: []string{"codec", "codec/jpeg", "tensor"}},
		{Path: "tools/picture"},
		{Path: "tools/procedural", May: []string{"codec/jpeg", "tensor", ximage}},
		{Path: "tools/typecheck"},
		{Path: "tools/wasmstrip"},
		{Path: "tools/weight"},
		{Path: "tools/weight/eager", May: []string{"codec/jpeg", "eager", "transforms"}},
		{Path: "tools/weight/datagraph", May: []string{"codec/jpeg", "datagraph", "tensor", "transforms"}},
		{Path: "tools/width"},
		{Path: "tools/new"},
		{Path: "bench/internal/peer"},
		{Path: "bench/gopeers", May: []string{"bench/internal/peer", jpegli}},
		{Path: "bench/ours", May: []string{"bench/internal/peer", "codec", "codec/all", "codec/jpeg", "datagraph", "importer/hf", "importer/torchvision", "importer/preset", "tensor", "transforms", "transforms/all"}},
		{Path: "bench/pipelines/ours", May: []string{"bench/internal/peer", "codec/jpeg", "datagraph", "dataset", "dataset/imagefolder", "pipeline", "tensor", "transforms"}},
		{Path: "bench/tables", May: []string{"bench/internal/peer", "dataset", "dataset/columnar/arrow", "dataset/columnar/parquet", "store"}},
		{Path: "bench/records/ours", May: []string{"bench/internal/peer", "compat/mxnet", "recordio", "recordio/imagerecord", "records", "records/mds", "records/mindrecord", "records/webdataset", "store", "tensor"}},
		{Path: "bench/store", May: []string{"bench/internal/peer", "codec/jpeg", "datagraph", "dataset", "dataset/imagefolder", "dataset/webdataset", "pipeline", "records/webdataset", "store", "store/s3", "transforms", minio, "github.com/minio/crc64nvme"}},
		{Path: "bench/tiles", May: []string{"codec", "codec/tiff"}},
		{Path: "bench/sound", May: []string{"codec", "datagraph", "sound/all", "tensor", "transforms/all"}},
		{Path: "bench/scale", May: []string{"datagraph", "dataset", "pipeline", "pullpipe", "store", "tensor", "transforms"}},
		{Path: "bench/load", May: []string{"bench/internal/peer"}},
		{Path: "bench/spawn"},
		{Path: "parity/interop/iterate", May: []string{"codec/all", "compat/mxnet", "tensor"}},
		{Path: "parity/interop/parts", May: []string{"recordio", "recordio/imagerecord", "store"}},
	}},
}
