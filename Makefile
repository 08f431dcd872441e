# Every target works from a fresh clone and installs what it needs; see CONTRIBUTING.md.
GO ?= go

.PHONY: test race test-device test-nested cluster-test lint generate cross parity parity-onnx parity-extremes parity-encode parity-configs fuzz bench bench-ops bench-device bench-pipeline bench-scale microbench bench-records bench-serve serve-test wasm-test wasm-bench mobile-test mobile-bench interop soak bigfolder store-test bench-store plan-test bench-plan release-dry-run

# The compiler takes a quarter less time without its garbage collector.
test:
	GOGC=off GOMEMLIMIT=2GiB $(GO) vet ./...
	$(GO) test ./...

# The tests under the race detector, which shortens them (internal/short). CI runs the same.
race:
	CGO_ENABLED=1 $(GO) test -race -timeout 45m ./...

# The tests that need ONNX Runtime, which test leaves out: with the pinned wheel from PyPI, in a
# virtual environment of its own. The race detector looks on where there is a C compiler.
test-device:
	@lib=$$(device/ort/library.sh) && echo "ONNX Runtime: $$lib" && \
	INFER_PREP_ORT=$$lib $(GO) test -count=1 ./device/... && \
	INFER_PREP_ORT=$$lib $(GO) test -count=1 -run 'Device|Classifier' ./cmd/internal/cli && \
	INFER_PREP_ORT=$$lib CGO_ENABLED=0 $(GO) test -count=1 ./device/ort && \
	{ [ "$$($(GO) env CGO_ENABLED)" = 0 ] || INFER_PREP_ORT=$$lib $(GO) test -count=1 -race ./device/...; }

# The modules beside this one, which have dependencies that nobody else should link.
test-nested:
	@device/webgpu/lavapipe.sh || echo "device/webgpu: its tests are skipped"
	@for m in pipeline/prometheus device/webgpu cmd/infer-prep-webgpu store/s3 store/gcs cmd/infer-prep-stores distributed adapters/gomlx examples/training; do (cd $$m && $(GO) vet ./... && $(GO) test ./...) || exit 1; done

# 10,000 images packed by one process, by four, and under Beam on prism and on a Spark cluster, which
# loses a worker: equal bytes. Some hundred from and to S3 and HDFS. Then the function of examples/spark: Go's tensors. It installs Spark
# and Beam's job server from Maven Central. PHOTOS is a folder of photographs for examples/spark.
cluster-test:
	@mkdir -p bin
	$(GO) build -o bin/ ./cmd/infer-prep ./internal/tools/procedural
	cd distributed && $(GO) build -o ../bin/ ./cmd/infer-prep-beam
	store/hdfs/minidfs.sh --install
	store/s3/s3test/versitygw.sh
	@dir=$$(distributed/cluster/install.sh) && cd distributed && INFER_PREP_SPARK=$$dir $(GO) test -count=1 -v -timeout 30m -run TestCluster .
	GO="$(GO)" PHOTOS="$(PHOTOS)" examples/spark/test.sh

# Both linters are pinned and come from the Go proxy.
STATICCHECK ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2
ACTIONLINT ?= github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
lint:
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo "not gofmt-ed:"; gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) vet ./...
	$(GO) run ./internal/tools/width
	$(GO) run $(STATICCHECK) ./...
	$(GO) run $(ACTIONLINT) .github/workflows/*.yml

generate:
	$(GO) generate ./...

# The goldens again on every platform, and the builds that are not run here.
cross:
	GO="$(GO)" ./testdata/cross.sh

# Against the references themselves, pinned, in a virtual environment of its own.
# PHOTOS is a folder of images to add to testdata/images.
parity:
	@mkdir -p bin
	$(GO) build -o bin/infer-prep ./cmd/infer-prep
	@py=$$(parity/venv.sh parity/requirements.txt parity/requirements-no-deps.txt) && $$py parity/parity.py bin/infer-prep $(PHOTOS) && $$py parity/torch_uint8.py bin/infer-prep && \
	bin/infer-prep importers --coverage --json >bin/coverage.json && $$py testdata/gen/transformers_classes.py --check bin/coverage.json && $$py parity/keys.py && $$py testdata/gen/coverage.py --check
	@parity/more.sh bin/infer-prep $(PHOTOS)

# 800 JPEG files of quality 95 to 100 (noise, and the photographs of the folder PHOTOS) against Pillow.
parity-extremes:
	@[ -n "$(PHOTOS)" ] || { echo "parity-extremes: PHOTOS is not set: want PHOTOS=DIR, a folder of photographs"; exit 1; }
	@mkdir -p bin
	$(GO) build -o bin/infer-prep ./cmd/infer-prep
	@py=$$(parity/venv.sh parity/requirements-extremes.txt) && $$py parity/extremes.py bin/infer-prep "$(PHOTOS)"

# JPEG files of codec/jpeg against those of Pillow and OpenCV, for noise and for 600 images: the photographs of the
# folder PHOTOS, crops and scaled copies. PART=I/N takes every Nth image from I on.
parity-encode:
	@[ -n "$(PHOTOS)" ] || { echo "parity-encode: PHOTOS is not set: want PHOTOS=DIR, a folder of photographs"; exit 1; }
	@mkdir -p bin
	$(GO) build -o bin/jpegencode ./internal/tools/jpegencode
	@py=$$(parity/venv.sh parity/requirements-encode.txt) && $$py parity/encode.py bin/jpegencode "$(PHOTOS)"

# 200 random changes of transformers' configurations on 10 photographs of the folder PHOTOS.
parity-configs:
	@[ -n "$(PHOTOS)" ] || { echo "parity-configs: PHOTOS is not set: want PHOTOS=DIR, a folder of photographs"; exit 1; }
	@mkdir -p bin
	$(GO) build -o bin/infer-prep ./cmd/infer-prep
	@py=$$(parity/venv.sh parity/requirements.txt parity/requirements-no-deps.txt) && $$py parity/random_configs.py bin/infer-prep "$(PHOTOS)"

# Exported ONNX models under ONNX Runtime against infer-prep's own tensors.
parity-onnx:
	@mkdir -p bin
	$(GO) build -o bin/infer-prep ./cmd/infer-prep
	@py=$$(parity/venv.sh parity/requirements-onnx.txt) && $$py parity/onnx_forms.py bin/infer-prep

# The server against infer-prep run, through Triton's client, pinned, in a virtual environment of
# its own. PHOTOS is a folder of images to add to testdata/images.
serve-test:
	@mkdir -p bin
	$(GO) build -o bin/infer-prep ./cmd/infer-prep
	@py=$$(parity/venv.sh parity/requirements-serve.txt) && $$py parity/serve.py bin/infer-prep $(PHOTOS)

# Record files both ways with MXNet, webdataset, kaldi_native_io, kaldiio, MindSpore and tfrecord, each pinned in an
# environment of its own. PHOTOS is a folder of images to add to
# testdata/images for im2rec.
interop:
	@mkdir -p bin
	$(GO) build -o bin/infer-prep ./cmd/infer-prep
	@python3 interop/interop.py bin/infer-prep "$(GO)" testdata/images $(PHOTOS)

FUZZTIME ?= 60s
fuzz:
	GO="$(GO)" FUZZTIME=$(FUZZTIME) ./testdata/fuzz.sh

# Against the libraries that do the same, in turn on one core; see bench/README.md.
# PHOTOS is a folder of JPEG files; PEERS and CASES leave others out, by name.
bench:
	@GO="$(GO)" PHOTOS="$(PHOTOS)" PEERS="$(PEERS)" CASES="$(CASES)" ROUNDS="$(ROUNDS)" LIMIT="$(LIMIT)" CORE="$(CORE)" python3 bench/bench.py

# Single ops against those of torchvision, Pillow, OpenCV and MindSpore, in turn on one core; see bench/README.md.
# PHOTOS is a folder of JPEG files; PEERS and CASES leave others out, by name.
bench-ops:
	@GO="$(GO)" PHOTOS="$(PHOTOS)" PEERS="$(PEERS)" CASES="$(CASES)" ROUNDS="$(ROUNDS)" LIMIT="$(LIMIT)" CORE="$(CORE)" MS="$(MS)" python3 bench/ops.py

# Against other training pipelines, in turn on two cores; see bench/README.md.
# PHOTOS is a folder of JPEG files; PEERS leaves others out, by name.
bench-pipeline:
	@GO="$(GO)" PHOTOS="$(PHOTOS)" PEERS="$(PEERS)" COUNT="$(COUNT)" ROUNDS="$(ROUNDS)" FIRST="$(FIRST)" CORES="$(CORES)" python3 bench/pipeline.py

# infer-prep against ONNX Runtime's own preprocessing; see bench/README.md.
# PHOTOS is a folder of JPEG files; PEERS and CASES leave others out, by name.
bench-device:
	@GO="$(GO)" PHOTOS="$(PHOTOS)" PEERS="$(PEERS)" CASES="$(CASES)" ROUNDS="$(ROUNDS)" LIMIT="$(LIMIT)" CORE="$(CORE)" python3 bench/device.py

# The readers and packers of record files against those of other libraries, in turn; see bench/README.md.
# PHOTOS is a folder of JPEG files; PEERS and CASES leave others out, by name.
bench-records:
	@GO="$(GO)" PHOTOS="$(PHOTOS)" PEERS="$(PEERS)" CASES="$(CASES)" ROUNDS="$(ROUNDS)" CORE="$(CORE)" python3 bench/records.py

# Shards and training epochs from an S3 server on this machine, against local files and against webdataset over
# the same server, in turn; see bench/README.md. PHOTOS is a folder of JPEG files; PEERS and CASES leave others out.
bench-store:
	@GO="$(GO)" PHOTOS="$(PHOTOS)" PEERS="$(PEERS)" CASES="$(CASES)" COUNT="$(COUNT)" ROUNDS="$(ROUNDS)" FIRST="$(FIRST)" python3 bench/store.py

# infer-prep serve against a server of FastAPI, Pillow and torchvision, in turn on one core each; see
# bench/README.md. PHOTOS is a folder of JPEG files.
bench-serve:
	@GO="$(GO)" PHOTOS="$(PHOTOS)" ROUNDS="$(ROUNDS)" SECONDS_EACH="$(SECONDS_EACH)" CORES="$(CORES)" python3 bench/serve.py

# The stores against real servers on this machine: versitygw for S3, Hadoop for HDFS. A server that is
# missing is a failure here, and a skip elsewhere.
store-test:
	$(GO) test -count=1 ./store/...
	@for m in store/* cmd/infer-prep-stores; do \
		[ ! -e $$m/go.mod ] || (cd $$m && $(GO) vet ./... && INFER_PREP_STORE_TEST=1 $(GO) test -count=1 ./...) || exit 1; done

# The npm package: its four WebAssembly files, its tests in node, and in Chromium and Firefox, which
# are installed on Debian when they can be. PHOTOS is a folder of photographs to add. WHOLE=1 runs
# every file in Chromium's page and in a Worker; without, each in one of them.
wasm-test:
	wasm/browser/install.sh
	cd wasm && npm ci --no-audit --no-fund && GO="$(GO)" npm run build && npm run lint && npm test && GO="$(GO)" WHOLE="$(WHOLE)" PHOTOS="$(if $(PHOTOS),$(abspath $(PHOTOS)))" npm run test:browser

# The npm package beside other ways to make a model's input in a browser; see bench/README.md.
# PHOTOS is a folder of JPEG files.
wasm-bench:
	@[ -n "$(PHOTOS)" ] || { echo "wasm-bench: PHOTOS is not set: want PHOTOS=DIR, a folder of photographs"; exit 1; }
	wasm/browser/install.sh
	cd wasm && npm ci --no-audit --no-fund && GO="$(GO)" npm run build && cd bench && npm ci --no-audit --no-fund && GO="$(GO)" ROUNDS="$(ROUNDS)" node bench.mjs "$(abspath $(PHOTOS))"

# The bindings for Java and Kotlin: the native libraries for Linux, their tests on a JVM and in
# Robolectric, and all of the Android library but its native libraries, which need the NDK.
mobile-test:
	mobile/install.sh
	GO="$(GO)" mobile/build-aar.sh --dry-run
	rm -rf mobile/jvm/target/surefire-reports mobile/android/target/surefire-reports examples/android/check/target/surefire-reports
	cd mobile && mvn -q -B verify
	@! cat mobile/jvm/target/surefire-reports/*.dumpstream 2>/dev/null || { echo "mobile-test: -Xcheck:jni warns"; exit 1; }
	@cat mobile/*/target/surefire-reports/TEST-*.xml examples/android/check/target/surefire-reports/TEST-*.xml | grep -c '<testcase ' | sed 's/$$/ tests passed/; s/^/mobile-test: /'

# A JVM's runs beside Go's, and camera frames beside OpenCV's conversion.
mobile-bench:
	@GO="$(GO)" mobile/bench.sh

microbench:
	$(GO) test -run xxx -bench . -benchmem ./codec/jpeg ./transforms ./eager ./datagraph

# The cost of a sample from a thousand and from ten million records.
bench-scale:
	$(GO) run ./bench/scale

# Long runs, cancels, resumptions, kills and file faults; writes the tables of docs/reliability.md.
MINUTES ?= 30
soak:
	@mkdir -p bin
	$(GO) build -o bin/soak ./internal/tools/soak
	bin/soak -minutes $(MINUTES) -write docs/reliability.md

# infer-prep run over 100,000 images, with ten interruptions at random; COUNT is
# another number of images.
bigfolder:
	$(GO) run ./internal/tools/bigfolder $(if $(COUNT),-count $(COUNT))

# Plans packed by the examples for Kubernetes and Slurm, and the memory of a packer of 1,000, 10,000
# and 100,000 images. It installs Slurm on Debian; SLURM=no leaves that part out.
plan-test:
	for n in 1000 10000 100000; do $(GO) run ./internal/tools/planscale -pack -n $$n -limit 64 || exit 1; done
	GO="$(GO)" SLURM="$(SLURM)" examples/cluster/test.sh

# Time, memory and size of a plan of N simulated images; default 10^7. 10^8 take 15 minutes and 5 GB.
bench-plan:
	$(GO) run ./internal/tools/planscale -n $(or $(N),10000000)

# What a release of the newest version in CHANGELOG.md contains, in dist/. It publishes nothing.
release-dry-run:
	GO="$(GO)" .ci/release "$$(sed -n 's/^## \([0-9][0-9.]*\).*/\1/p' CHANGELOG.md | head -n 1)"

# The devices on an NVIDIA GPU. Without a GPU they say what they looked for, and succeed without a
# claim. GPU_PRETEND=1 runs them on software, which tests only the scripts.
.PHONY: gpu-test gpu-bench
gpu-test:
	@GO="$(GO)" device/gpu/test.sh

# Images a second beside DALI's pipeline on the GPU. PHOTOS is a folder of JPEG files in a folder for
# each class; without, the images are procedural.
gpu-bench:
	@GO="$(GO)" PHOTOS="$(PHOTOS)" device/gpu/bench.sh

# The example of training: it reaches its accuracy, is killed and resumed with equal files, and its
# bundle's predictions are the same in Go, in ONNX Runtime through infer-prep, and in Python.
.PHONY: train-test
train-test:
	@mkdir -p bin
	$(GO) build -o bin/ ./cmd/infer-prep
	@lib=$$(device/ort/library.sh) && python=$$(parity/venv.sh parity/requirements-onnx.txt) && cd examples/training && \
	INFER_PREP_ORT=$$lib TRAINING_PYTHON=$$python TRAINING_INFER_PREP=$(CURDIR)/bin/infer-prep $(GO) test -count=1 -v -run TestTraining .

# The Python package: a wheel for this machine in a clean virtual environment, its types and its
# tests, which use the program infer-prep too. TESTS are further arguments of pytest.
.PHONY: python-test
python-test:
	@mkdir -p bin
	$(GO) build -o bin/infer-prep ./cmd/infer-prep
	GO="$(GO)" python/test.sh $(TESTS)

# 100,000 batches from Python: the memory stays flat.
.PHONY: python-soak
python-soak:
	@mkdir -p bin
	$(GO) build -o bin/infer-prep ./cmd/infer-prep
	GO="$(GO)" python/test.sh -m soak -s

# The wheels of all platforms in dist/, built with zig's C compiler; auditwheel looks at those for
# Linux, and the tests run on the one for this machine. TARGETS chooses some.
.PHONY: wheel
wheel:
	@mkdir -p bin
	$(GO) build -o bin/infer-prep ./cmd/infer-prep
	GO="$(GO)" python/wheels.sh $(TARGETS)

# A training loop and single images from Python beside torch's DataLoader, Pillow and torchvision, in
# turn; see bench/README.md. PHOTOS is a folder of JPEG files; PEERS leaves others out, by name.
.PHONY: bench-python
bench-python:
	@GO="$(GO)" PHOTOS="$(PHOTOS)" PEERS="$(PEERS)" COUNT="$(COUNT)" ROUNDS="$(ROUNDS)" FIRST="$(FIRST)" CORES="$(CORES)" python3 bench/python.py
