# Every target works from a fresh clone and installs what it needs. make help lists them.
GO ?= go
PYTHON ?= $(shell command -v python3.11 || echo python3)
# Libraries, and the copies of the module that tests make, are built with -trimpath: with it
# everywhere, no package is compiled twice.
export GOFLAGS := -trimpath $(filter-out -trimpath,$(GOFLAGS))
.DEFAULT_GOAL := test
.PHONY: help test race lint generate new-op new-source new-importer new-format cross fuzz test-device test-openvino edge-test test-phone test-nested serve-test python-test python-transformers-test python-engines-test wasm-test capi-test capi-c-test rust-test rust-examples-test capi-windows-test mobile-test train-test store-test plan-test cluster-test interop gpu-test parity parity-extremes parity-encode parity-configs parity-phone parity-tiff parity-dicom parity-onnx conformance conformance-pack bench bench-ops bench-pipeline bench-python bench-serve bench-records bench-store bench-tiles bench-sound bench-device bench-plan bench-scale wasm-bench mobile-bench gpu-bench microbench soak python-soak bigfolder tiles-epoch wheel npm capi jar aar wheels release-dry-run

##@ Every change

help: ## this list
	@awk '/^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z -]+:.*## / {split($$0, a, ":"); sub(/^[^#]*## /, ""); printf "  %-18s %s\n", a[1], $$0}' Makefile

# The compiler takes a quarter less time without its garbage collector. What go
# test would vet is a part of what was vetted.
test: ## vet and all tests
	GOGC=off GOMEMLIMIT=2GiB $(GO) vet ./...
	$(GO) test -vet=off ./...

# The tests under the race detector, which shortens them (internal/short). CI runs the same.
race: ## the tests under the race detector, which shortens them
	CGO_ENABLED=1 $(GO) test -race -timeout 45m ./...

# Both linters are pinned and come from the Go proxy.
STATICCHECK ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2
ACTIONLINT ?= github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
lint: ## gofmt, vet, staticcheck, line widths, no large files, actionlint
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo "not gofmt-ed:"; gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) vet ./...
	$(GO) run ./tools/width
	$(GO) run ./tools/weight
	$(GO) run $(STATICCHECK) ./...
	$(GO) run $(ACTIONLINT) .github/workflows/*.yml

new-op new-source new-importer new-format: ## NAME=soften: the files of a new op, source of samples, importer or image format, with failing tests
	$(GO) run ./tools/new $(@:new-%=%) $(NAME)

generate: ## generated code and docs; must change nothing
	$(GO) generate ./...

# The digest of all tensors on every platform, the goldens on those that can change them, and the
# builds that are not run here.
cross: ## one digest on amd64, purego with GOAMD64=v3, 386, arm64, arm, s390x (qemu), wasm (node); goldens on most; builds or type checks for the rest
	GO="$(GO)" ./testdata/cross.sh

FUZZTIME ?= 60s
fuzz: ## FUZZTIME=60s: every fuzz target
	GO="$(GO)" FUZZTIME=$(FUZZTIME) ./testdata/fuzz.sh

##@ Tests that install more

# The tests that need ONNX Runtime, which test leaves out: with the pinned wheel from PyPI, in a
# virtual environment of its own. The race detector looks on where there is a C compiler.
test-device: ## the tests that need ONNX Runtime
	@lib=$$(device/ort/library.sh) && echo "ONNX Runtime: $$lib" && \
	INFER_PREP_ORT=$$lib $(GO) test -vet=off -count=1 ./device/... && \
	INFER_PREP_ORT=$$lib $(GO) test -vet=off -count=1 -run 'Device|Classifier' ./cmd/internal/cli && \
	INFER_PREP_ORT=$$lib CGO_ENABLED=0 $(GO) test -count=1 ./device/ort && \
	{ [ "$$($(GO) env CGO_ENABLED)" = 0 ] || INFER_PREP_ORT=$$lib $(GO) test -vet=off -count=1 -race ./device/...; }

# The tests that need libavif, libheif, OpenJPEG and libjxl, which test leaves out: with the pinned
# wheels of Pillow, pillow-heif and imagecodecs, and with Debian 12's libavif15, libopenjp2-7 and
# libjxl0.7 if they are there.
test-phone: ## the tests that need libavif, libheif, OpenJPEG and libjxl: AVIF, HEIC, JPEG 2000 and JPEG XL
	@py=$$(parity/venv.sh testdata/gen/requirements-jxl.txt) && site=$$("$$py" -c 'import os, PIL; print(os.path.dirname(os.path.dirname(PIL.__file__)))') && \
	INFER_PREP_JXL=$$site/imagecodecs.libs $(GO) test -vet=off -count=1 ./codec/jxl
	@py=$$(parity/venv.sh testdata/gen/requirements-phone.txt) && site=$$("$$py" -c 'import os, PIL; print(os.path.dirname(os.path.dirname(PIL.__file__)))') && \
	INFER_PREP_AVIF=$$site/pillow.libs INFER_PREP_HEIF=$$site/pillow_heif.libs INFER_PREP_JP2=$$site/pillow.libs $(GO) test -vet=off -count=1 ./codec/avif ./codec/heif ./codec/jp2 && \
	for l in /usr/lib/*/libavif.so.15; do \
		[ -e "$$l" ] || { echo "test-phone: libavif.so.15 is missing (Debian 12: libavif15): its layout is not tested"; break; }; \
		INFER_PREP_AVIF=$$l $(GO) test -vet=off -count=1 ./codec/avif || exit 1; \
	done && \
	for l in /usr/lib/*/libopenjp2.so.7; do \
		[ -e "$$l" ] || { echo "test-phone: libopenjp2.so.7 is missing (Debian 12: libopenjp2-7): it is not tested"; break; }; \
		INFER_PREP_JP2=$$l $(GO) test -vet=off -count=1 ./codec/jp2 || exit 1; \
	done && \
	for l in /usr/lib/*/libjxl.so.0.7; do \
		[ -e "$$l" ] || { echo "test-phone: libjxl.so.0.7 is missing (Debian 12: libjxl0.7): it is not tested"; break; }; \
		INFER_PREP_JXL=$$l $(GO) test -vet=off -count=1 ./codec/jxl || exit 1; \
	done

# ONNX Runtime with OpenVINO from PyPI, for x86-64; not a part of .ci/run.
test-openvino: ## the classifier of the examples on ort:openvino, on the CPU
	@py=$$(parity/venv.sh device/ort/requirements-openvino.txt) && lib=$$($$py -c 'import importlib.util, os; print(os.path.join(os.path.dirname(importlib.util.find_spec("onnxruntime").origin), "capi"))') && \
	INFER_PREP_ORT_OPENVINO=$$lib $(GO) test -vet=off -count=1 -v -run TestOpenVINO ./device/ort

# The programs of examples/edge; not a part of .ci/run. RUNTIMES=litert leaves ExecuTorch out, which needs torch (3 GB).
edge-test: ## RUNTIMES=NAMES: the classifier on LiteRT and ExecuTorch, with a bundle's tensors
	@GO="$(GO)" examples/edge/test.sh $(RUNTIMES)

# The modules beside this one, which have dependencies that nobody else should link.
test-nested: ## vet and tests of the nested modules
	@device/webgpu/lavapipe.sh || echo "device/webgpu: its tests are skipped"
	@for m in pipeline/prometheus codec/jpegli dataset/columnar device/webgpu cmd/infer-prep-webgpu store/s3 store/gcs records/mindrecord/sqlitetest cmd/infer-prep-full pack/distributed pipeline/gomlx examples/training; do testdata/nested.sh $$m sh -c '$(GO) vet ./... && $(GO) test -vet=off ./...' || exit 1; done

# The server against infer-prep run, through Triton's client, pinned, in a virtual environment of
# its own. PHOTOS is a folder of images to add to testdata/images.
serve-test: ## PHOTOS=DIR: the server compared with infer-prep run through tritonclient; PHOTOS is optional
	@mkdir -p bin
	$(GO) build -o bin/infer-prep ./cmd/infer-prep
	@py=$$(parity/venv.sh parity/requirements-serve.txt) && $$py parity/serve.py bin/infer-prep $(PHOTOS)

# The Python package: a wheel for this machine in a clean virtual environment, its types and its
# tests, which use the program infer-prep too. TESTS are further arguments of pytest.
python-test: ## the Python package: a wheel in a clean environment, its types and tests, infer-prep feed
	@mkdir -p bin
	$(GO) build -o bin/infer-prep ./cmd/infer-prep
	GO="$(GO)" python/test.sh $(TESTS)

# The image processors of transformers beside their own, with the packages of make parity (6 GB).
python-transformers-test: ## the Python package beside transformers: all image processors, three pipelines
	GO="$(GO)" python/test-transformers.sh $(TESTS)

# The packages of make parity (6 GB) and of the engines (0.9 GB); no GPU.
python-engines-test: ## the Python package in the input processors of vLLM and SGLang, on the CPU
	GO="$(GO)" python/test-engines.sh

# The npm package: its four WebAssembly files, its tests in node, and in Chromium and Firefox, which
# are installed on Debian when they can be. PHOTOS is a folder of photographs to add. WHOLE=1 runs
# every file in Chromium's page and in a Worker, and the 50 huge cases in node with both full files;
# without, each file and each huge case in one of them, and a tenth of the others in Chromium and,
# with the small file, in Firefox.
wasm-test: wasm/node_modules/.package-lock.json ## PHOTOS=DIR: the npm package in node, Chromium and Firefox: the references' goldens, memory, start, bad input; PHOTOS is optional
	wasm/browser/install.sh
	cd wasm && GO="$(GO)" npm run build && GO="$(GO)" npm run lint && npm test && GO="$(GO)" WHOLE="$(WHOLE)" PHOTOS="$(if $(PHOTOS),$(abspath $(PHOTOS)))" npm run test:browser

# The C library: programs in C and C++, with the graphs of all importers and the speed beside Go's.
# Two packages at a time would compile the library twice.
capi-test: ## the C library: programs in C and C++ with all graphs, 8 threads, forks, signals, sanitizers, the speed beside Go's
	INFER_PREP_CAPI=1 $(GO) test -p 1 -vet=off -count=1 -v -timeout 20m ./capi/... ./examples/cpp

# Debian: gcc-mingw-w64-x86-64-posix g++-mingw-w64-x86-64-posix wine64.
capi-windows-test: ## the C library for Windows: built with MinGW-w64, and run in Wine with all graphs
	INFER_PREP_WINDOWS=1 $(GO) test -count=1 -v -timeout 30m -run TestWindows ./capi/lib

# The crates of rust/. Builds are kept in rust/target.
rust-test: ## the Rust crates: lints, documentation, packages, the README's program, and the references' goldens with the shared and the static library
	GO="$(GO)" rust/test.sh

rust-examples-test: ## rust-test, and the programs with candle and ort, which take 5 minutes when they are built first
	GO="$(GO)" rust/test.sh --examples

capi-c-test: capi-c ## the same tests of the C library in plain C, which takes minutes to compile; musl, sanitizers, its speed beside Go's
	$(MAKE) -j2 -C dist/capi-c
	INFER_PREP_CAPI=1 INFER_PREP_CAPI_C=$(CURDIR)/dist/capi-c $(GO) test -count=1 -v -timeout 60m ./capi/lib
	INFER_PREP_C_SRC=$(CURDIR)/dist/capi-c GO="$(GO)" rust/test.sh --wasm2c

# The bindings for Java and Kotlin: the native libraries for Linux, their tests on a JVM and in
# Robolectric, and all of the Android library but its native libraries, which need the NDK. A
# release makes the library for armeabi-v7a too.
mobile-test: ## the bindings for Java and Kotlin, on a JVM and in Robolectric; the Android library without its native libraries; the logic of examples/android
	mobile/install.sh
	GO="$(GO)" mobile/build-aar.sh --ops all --abi arm64-v8a --abi x86_64 --dry-run
	rm -rf mobile/jvm/target/surefire-reports mobile/android/target/surefire-reports examples/android/check/target/surefire-reports
	cd mobile && mvn -q -B verify
	@! cat mobile/jvm/target/surefire-reports/*.dumpstream 2>/dev/null || { echo "mobile-test: -Xcheck:jni warns"; exit 1; }
	@cat mobile/*/target/surefire-reports/TEST-*.xml examples/android/check/target/surefire-reports/TEST-*.xml | grep -c '<testcase ' | sed 's/$$/ tests passed/; s/^/mobile-test: /'

# The example of training: it reaches its accuracy, is killed and resumed with equal files, and its
# bundle's predictions are the same in Go, in ONNX Runtime through infer-prep, and in Python.
train-test: ## examples/training reaches its accuracy, is killed and resumed with equal files, and predicts the same in Go, ONNX Runtime and Python
	@mkdir -p bin
	$(GO) build -o bin/ ./cmd/infer-prep
	@lib=$$(device/ort/library.sh) && python=$$(parity/venv.sh parity/requirements-onnx.txt) && \
	INFER_PREP_ORT=$$lib TRAINING_PYTHON=$$python TRAINING_INFER_PREP=$(CURDIR)/bin/infer-prep testdata/nested.sh examples/training $(GO) test -vet=off -count=1 -v -run TestTraining .

# The stores against real servers on this machine: versitygw for S3, Hadoop for HDFS. A server that is
# missing is a failure here, and a skip elsewhere.
store-test: ## all stores on real servers of this machine, which it installs; a missing one is a failure
	$(GO) test -count=1 ./store/...
	@for m in store/* cmd/infer-prep-full; do \
		[ ! -e $$m/go.mod ] || (cd $$m && $(GO) vet ./... && INFER_PREP_STORE_TEST=1 $(GO) test -count=1 ./...) || exit 1; done

# Plans packed by the examples for Kubernetes and Slurm, and the memory of a packer of 1,000, 10,000
# and 100,000 images. It installs Slurm on Debian; SLURM=no leaves that part out.
plan-test: ## packs by a plan: the examples for Kubernetes and Slurm, wids, and the memory of 100,000 images
	for n in 1000 10000 100000; do $(GO) run ./tools/planscale -pack -n $$n -limit 64 || exit 1; done
	GO="$(GO)" SLURM="$(SLURM)" examples/cluster/test.sh

# 10,000 images packed by one process, by four, and under Beam on prism and on a Spark cluster, which
# loses a worker: equal bytes. Some hundred from and to S3 and HDFS. Then the function of examples/spark: Go's tensors. It installs Spark
# and Beam's job server from Maven Central. PHOTOS is a folder of photographs for examples/spark.
cluster-test: ## PHOTOS=DIR: packing by one process, by four, and under Beam on prism and on a Spark cluster, which loses a worker; Beam from and to S3 and HDFS; the Spark function of examples/spark; PHOTOS is optional
	@mkdir -p bin
	$(GO) build -o bin/ ./cmd/infer-prep ./tools/procedural
	cd pack/distributed && $(GO) build -o ../../bin/ ./cmd/infer-prep-beam
	store/hdfs/minidfs.sh --install
	store/s3/s3test/versitygw.sh
	@dir=$$(pack/distributed/cluster/install.sh) && cd pack/distributed && INFER_PREP_SPARK=$$dir $(GO) test -count=1 -v -timeout 30m -run TestCluster .
	GO="$(GO)" PHOTOS="$(PHOTOS)" examples/spark/test.sh

# Record files both ways with MXNet, webdataset, kaldi_native_io, kaldiio, MindSpore and tfrecord, each pinned in an
# environment of its own. PHOTOS is a folder of images to add to
# testdata/images for im2rec.
interop: ## PHOTOS=DIR: record files in both directions with their libraries; PHOTOS is optional
	@mkdir -p bin
	$(GO) build -o bin/infer-prep ./cmd/infer-prep
	@python3 parity/interop/interop.py bin/infer-prep "$(GO)" testdata/images $(PHOTOS)

# The devices on an NVIDIA GPU. Without a GPU they say what they looked for, and succeed without a
# claim. GPU_PRETEND=1 runs them on software, which tests only the scripts.
gpu-test: ## the devices on an NVIDIA GPU; without one it says so and succeeds
	@GO="$(GO)" device/gpu/test.sh

##@ Comparison with the references

# Against the references themselves, pinned, in a virtual environment of its own.
# PHOTOS is a folder of images to add to testdata/images.
parity: ## PHOTOS=DIR: comparison with the references
	@mkdir -p bin
	$(GO) build -o bin/infer-prep ./cmd/infer-prep
	@py=$$(parity/venv.sh parity/requirements.txt parity/requirements-no-deps.txt) && $$py parity/parity.py bin/infer-prep $(PHOTOS) && $$py parity/torch_uint8.py bin/infer-prep && $$py parity/mutations.py bin/infer-prep && \
	bin/infer-prep importers --coverage --json >bin/coverage.json && $$py testdata/gen/importers/transformers_classes.py --check bin/coverage.json && $$py testdata/gen/importers/transformers_processors.py --check && $$py parity/keys.py && $$py testdata/gen/importers/transform_classes.py --check
	@parity/more.sh bin/infer-prep $(PHOTOS)
	@$(MAKE) --no-print-directory parity-phone

# 800 JPEG files of quality 95 to 100 (noise, and the photographs of the folder PHOTOS) against Pillow.
parity-extremes: ## PHOTOS=DIR: 800 JPEG files of quality 95 to 100, compared with Pillow
	@[ -n "$(PHOTOS)" ] || { echo "parity-extremes: PHOTOS is not set: want PHOTOS=DIR, a folder of photographs"; exit 1; }
	@mkdir -p bin
	$(GO) build -o bin/infer-prep ./cmd/infer-prep
	@py=$$(parity/venv.sh parity/requirements-extremes.txt) && $$py parity/extremes.py bin/infer-prep "$(PHOTOS)"

# JPEG files of codec/jpeg against those of Pillow and OpenCV, for noise and for 600 images: the photographs of the
# folder PHOTOS, crops and scaled copies. PART=I/N takes every Nth image from I on.
parity-encode: ## PHOTOS=DIR: JPEG files of codec/jpeg compared with Pillow's and OpenCV's
	@[ -n "$(PHOTOS)" ] || { echo "parity-encode: PHOTOS is not set: want PHOTOS=DIR, a folder of photographs"; exit 1; }
	@mkdir -p bin
	$(GO) build -o bin/jpegencode ./tools/jpegencode
	@py=$$(parity/venv.sh parity/requirements-encode.txt) && $$py parity/encode.py bin/jpegencode "$(PHOTOS)"

# 200 random changes of transformers' configurations on 10 photographs of the folder PHOTOS.
parity-configs: ## PHOTOS=DIR: 200 random changes of transformers' configurations, 10 photographs each
	@[ -n "$(PHOTOS)" ] || { echo "parity-configs: PHOTOS is not set: want PHOTOS=DIR, a folder of photographs"; exit 1; }
	@mkdir -p bin
	$(GO) build -o bin/infer-prep ./cmd/infer-prep
	@py=$$(parity/venv.sh parity/requirements.txt parity/requirements-no-deps.txt) && $$py parity/random_configs.py bin/infer-prep "$(PHOTOS)"

# AVIF, HEIC, JPEG 2000 and JPEG XL files of random kinds, and of photographs.
parity-phone: ## 40 AVIF, 40 HEIC, 80 JPEG 2000 and 80 JPEG XL files, compared with Pillow and its plugins; PHOTOS=DIR adds photographs
	@mkdir -p bin
	$(GO) build -o bin/infer-prep ./cmd/infer-prep
	@py=$$(parity/venv.sh testdata/gen/requirements-phone.txt) && dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	$$py testdata/gen/codecs/phone.py "$$dir/phone" 40 $(PHOTOS) && $$py testdata/gen/codecs/jp2.py "$$dir/jp2" 40 && \
	$$py parity/phone.py bin/infer-prep "$$dir/phone" "$$dir/jp2" && \
	py=$$(parity/venv.sh testdata/gen/requirements-jxl.txt) && $$py testdata/gen/codecs/jxl.py "$$dir/jxl" 40 $(PHOTOS) && \
	$$py parity/phone.py bin/infer-prep "$$dir/jxl"

# 2,000 windows of 100 generated TIFF files: codec/tiff against rasterio (GDAL) and tifffile;
# run --tiles and stitch likewise.
parity-tiff: ## windows of TIFF files, run --tiles and stitch, compared with rasterio and tifffile
	@mkdir -p bin
	$(GO) build -o bin/tiffwindows ./tools/tiffwindows
	$(GO) build -o bin/infer-prep ./cmd/infer-prep
	@py=$$(parity/venv.sh testdata/gen/requirements-tiff.txt) && $$py parity/tiff.py bin/tiffwindows && $$py parity/stitch.py bin/infer-prep bin/tiffwindows

parity-dicom: ## the DICOM files of pydicom, compared with what pydicom reads
	@mkdir -p bin
	$(GO) build -o bin/dicomframes ./tools/dicomframes
	@py=$$(parity/venv.sh testdata/gen/requirements-dicom.txt) && $$py parity/dicom.py bin/dicomframes

# Exported ONNX models under ONNX Runtime against infer-prep's own tensors.
parity-onnx: ## exported ONNX models under ONNX Runtime, compared with infer-prep's own tensors
	@mkdir -p bin
	$(GO) build -o bin/infer-prep ./cmd/infer-prep
	@py=$$(parity/venv.sh parity/requirements-onnx.txt) && $$py parity/onnx_forms.py bin/infer-prep

# The pack that other engines can check themselves with, as a file for a release.
conformance-pack: ## the conformance pack, bin/conformance.tar.gz, from the references
	@mkdir -p bin
	@py=$$(parity/venv.sh testdata/gen/requirements.txt parity/requirements-no-deps.txt) && $$py conformance/make.py bin/conformance.tar.gz

# All engines on the pack, each in an environment of its own (8 GB beside those of parity); needs node, npm and cargo.
# ENGINES leaves others as their last reports say.
conformance: ## ENGINES=NAMES: all engines on the conformance pack; writes docs/conformance.md
	@GO="$(GO)" python3 conformance/report.py $(ENGINES)

##@ Speed

# Against the libraries that do the same, in turn on one core; see bench/README.md.
# PHOTOS is a folder of JPEG files; PEERS and CASES leave others out, by name.
bench: ## PHOTOS=DIR: comparison with other libraries
	@GO="$(GO)" PHOTOS="$(PHOTOS)" PEERS="$(PEERS)" CASES="$(CASES)" ROUNDS="$(ROUNDS)" LIMIT="$(LIMIT)" CORE="$(CORE)" python3 bench/bench.py

# Single ops against those of torchvision, Pillow, OpenCV and MindSpore, in turn on one core; see bench/README.md.
# PHOTOS is a folder of JPEG files; PEERS and CASES leave others out, by name.
bench-ops: ## PHOTOS=DIR: single ops, compared with four libraries
	@GO="$(GO)" PHOTOS="$(PHOTOS)" PEERS="$(PEERS)" CASES="$(CASES)" ROUNDS="$(ROUNDS)" LIMIT="$(LIMIT)" CORE="$(CORE)" MS="$(MS)" python3 bench/ops.py

# Against other training pipelines, in turn on two cores; see bench/README.md.
# PHOTOS is a folder of JPEG files; PEERS leaves others out, by name.
bench-pipeline: ## PHOTOS=DIR: comparison with other training pipelines
	@GO="$(GO)" PHOTOS="$(PHOTOS)" PEERS="$(PEERS)" COUNT="$(COUNT)" ROUNDS="$(ROUNDS)" FIRST="$(FIRST)" CORES="$(CORES)" python3 bench/pipeline.py

# A training loop and single images from Python beside torch's DataLoader, Pillow and torchvision, in
# turn; see bench/README.md. PHOTOS is a folder of JPEG files; PEERS leaves others out, by name.
bench-python: ## PHOTOS=DIR: Python loops and single images beside torch and torchvision, and the tests that need torch
	@GO="$(GO)" PHOTOS="$(PHOTOS)" PEERS="$(PEERS)" COUNT="$(COUNT)" ROUNDS="$(ROUNDS)" FIRST="$(FIRST)" CORES="$(CORES)" python3 bench/python.py

# infer-prep serve against a server of FastAPI, Pillow and torchvision, in turn on one core each; see
# bench/README.md. PHOTOS is a folder of JPEG files.
bench-serve: ## PHOTOS=DIR: the server compared with one of FastAPI, Pillow and torchvision
	@GO="$(GO)" PHOTOS="$(PHOTOS)" ROUNDS="$(ROUNDS)" SECONDS_EACH="$(SECONDS_EACH)" CORES="$(CORES)" python3 bench/serve.py

# The readers and packers of record files against those of other libraries, in turn; see bench/README.md.
# PHOTOS is a folder of JPEG files; PEERS and CASES leave others out, by name.
bench-records: ## record files, compared with their libraries
	@GO="$(GO)" PHOTOS="$(PHOTOS)" PEERS="$(PEERS)" CASES="$(CASES)" ROUNDS="$(ROUNDS)" CORE="$(CORE)" python3 bench/records.py

# Shards and training epochs from an S3 server on this machine, against local files and against webdataset over
# the same server, in turn; see bench/README.md. PHOTOS is a folder of JPEG files; PEERS and CASES leave others out.
bench-store: ## PHOTOS=DIR: shards and training epochs from S3, compared with local files and with webdataset
	@GO="$(GO)" PHOTOS="$(PHOTOS)" PEERS="$(PEERS)" CASES="$(CASES)" COUNT="$(COUNT)" ROUNDS="$(ROUNDS)" FIRST="$(FIRST)" python3 bench/store.py

# Windows of a tiled scene beside rasterio and tifffile, in turn. SCENE is a file instead of a made one.
bench-tiles: ## windows of a tiled scene, compared with rasterio and tifffile
	@mkdir -p bin
	$(GO) build -o bin/benchtiles ./bench/tiles
	@py=$$(parity/venv.sh testdata/gen/requirements-tiff.txt) && ROUNDS="$(or $(ROUNDS),3)" $$py -W ignore bench/tiles.py bin/benchtiles $(SCENE)

# Features of sounds, and packing them, against torchaudio, transformers and others; see bench/README.md.
bench-sound: ## features of sounds and packs of them, compared with transformers, torchaudio and others
	@mkdir -p bin
	$(GO) build -o bin ./cmd/infer-prep
	$(GO) build -o bin/benchsound ./bench/sound
	@py=$$(parity/venv.sh testdata/gen/requirements.txt parity/requirements-no-deps.txt) && more=$$(parity/beside.sh $$py bench/requirements-sound.txt) && \
	 ROUNDS="$(ROUNDS)" PYTHONPATH=$$more $$py -W ignore bench/sound.py bin/benchsound bin/infer-prep && \
	 ROUNDS="$(ROUNDS)" COUNT="$(COUNT)" PYTHONPATH=$$more $$py -W ignore bench/soundpack.py bin/infer-prep

# infer-prep against ONNX Runtime's own preprocessing; see bench/README.md.
# PHOTOS is a folder of JPEG files; PEERS and CASES leave others out, by name.
bench-device: ## PHOTOS=DIR: comparison with ONNX Runtime's own preprocessing
	@GO="$(GO)" PHOTOS="$(PHOTOS)" PEERS="$(PEERS)" CASES="$(CASES)" ROUNDS="$(ROUNDS)" LIMIT="$(LIMIT)" CORE="$(CORE)" python3 bench/device.py

# Time, memory and size of a plan of N simulated images; default 10^7. 10^8 take 15 minutes and 5 GB.
bench-plan: ## N=100000000: time, memory and size of a plan of a simulated data set
	$(GO) run ./tools/planscale -n $(or $(N),10000000)

# The cost of a sample from a thousand and from ten million records.
bench-scale: ## the cost of a sample from a thousand and from ten million records
	$(GO) run ./bench/scale

# The npm package beside other ways to make a model's input in a browser; see bench/README.md.
# PHOTOS is a folder of JPEG files.
wasm-bench: wasm/node_modules/.package-lock.json ## PHOTOS=DIR: the npm package in Chromium, compared with other libraries
	@[ -n "$(PHOTOS)" ] || { echo "wasm-bench: PHOTOS is not set: want PHOTOS=DIR, a folder of photographs"; exit 1; }
	wasm/browser/install.sh
	cd wasm && GO="$(GO)" npm run build && cd bench && npm ci --no-audit --no-fund && GO="$(GO)" ROUNDS="$(ROUNDS)" node bench.mjs "$(abspath $(PHOTOS))"

# A JVM's runs beside Go's, and camera frames beside OpenCV's conversion.
mobile-bench: ## runs on a JVM beside Go alone, and camera frames beside OpenCV
	@GO="$(GO)" mobile/bench.sh

# Images a second beside DALI's pipeline on the GPU. PHOTOS is a folder of JPEG files in a folder for
# each class; without, the images are procedural.
gpu-bench: ## PHOTOS=DIR: training pipelines and uploads on an NVIDIA GPU, compared with DALI
	@GO="$(GO)" PHOTOS="$(PHOTOS)" device/gpu/bench.sh

microbench: ## Go benchmarks
	$(GO) test -run xxx -bench . -benchmem ./codec/jpeg ./transforms ./eager ./datagraph

##@ Long runs

# Long runs, cancels, resumptions, kills and file faults; writes the tables of docs/reliability.md.
MINUTES ?= 30
soak: ## MINUTES=30: long runs, cancels, resumptions, kills and file faults; writes docs/reliability.md
	@mkdir -p bin
	$(GO) build -o bin/soak ./tools/soak
	bin/soak -minutes $(MINUTES) -write docs/reliability.md

# 100,000 batches from Python: the memory stays flat.
python-soak: ## 100,000 batches from Python: the memory stays flat
	@mkdir -p bin
	$(GO) build -o bin/infer-prep ./cmd/infer-prep
	GO="$(GO)" python/test.sh -m soak -s

# infer-prep run over 100,000 images, with ten interruptions at random; COUNT is
# another number of images.
bigfolder: ## COUNT=100000: infer-prep run over 100,000 images, with ten interruptions at random
	$(GO) run ./tools/bigfolder $(if $(COUNT),-count $(COUNT))

# An epoch of the source tiles over a scene of 60,000 x 60,000 pixels with 3 bands.
tiles-epoch: ## a whole epoch of windows of a scene of 60,000 x 60,000 pixels: the heap stays below 200 MB
	INFER_PREP_EPOCH=1 $(GO) test ./dataset/tiles -run TestEpoch -count=1 -v

##@ Packages

# Each of these prints the path of the file that it makes in dist/; with make -s nothing else on
# standard output.
wheel: ## the Python package for this machine
	@GO="$(GO)" $(PYTHON) python/backend.py native

npm: wasm/node_modules/.package-lock.json ## the npm package
	@cd wasm && GO="$(GO)" npm run build >&2
	@cd wasm && mkdir -p ../dist && echo "$(CURDIR)/dist/$$(npm pack --silent --pack-destination ../dist)"

capi: ## the C library for this machine, in dist/capi: headers, shared and static library, files for pkg-config and CMake
	@GO="$(GO)" capi/build.sh dist/capi
	@echo "$(CURDIR)/dist/capi"

capi-c: ## the C library in plain C, in dist/capi-c: sources that any C compiler builds, with a Makefile and a CMakeLists.txt
	@GO="$(GO)" capi/wasm2c/build.sh dist/capi-c
	@echo "$(CURDIR)/dist/capi-c"

jar: ## the jar for Java and Kotlin on servers, with libraries for Linux on x86-64 and arm64
	@mobile/install.sh >&2
	@GO="$(GO)" mobile/build-jar.sh

aar: ## the Android library, which needs the Android NDK
	@mobile/install.sh >&2
	@GO="$(GO)" mobile/build-aar.sh

# npm writes this file last.
wasm/node_modules/.package-lock.json: wasm/package-lock.json
	@cd wasm && npm ci --ignore-scripts --no-audit --no-fund >&2

##@ Release

# The wheels of all platforms in dist/, built with zig's C compiler; auditwheel looks at those for
# Linux, and the tests run on the one for this machine. TARGETS chooses some.
wheels: ## the wheels of all platforms, in dist/; auditwheel, and the tests on this machine's
	@mkdir -p bin
	$(GO) build -o bin/infer-prep ./cmd/infer-prep
	GO="$(GO)" python/wheels.sh $(TARGETS)

# It publishes nothing.
release-dry-run: ## the release in dist/, installed and tried, without publishing: archives, wheels, npm package, jars, AAR, checksums, SBOMs
	GO="$(GO)" .ci/release
