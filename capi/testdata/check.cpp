// check.cpp: the tests of infer_prep.hpp. check MODE ARGUMENTS exits with 0 if
// the checks of a mode hold.
#ifdef _WIN32
#define __USE_MINGW_ANSI_STDIO 1
#endif
#include "infer_prep.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

#define CHECK(x) \
	do { \
		if (!(x)) { \
			std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); \
			std::exit(1); \
		} \
	} while (0)

template <class F> void fails(ip_status status, const char *text, F f)
{
	try {
		f();
	} catch (const infer_prep::error &e) {
		if (e.status() != status || !std::strstr(e.what(), text)) {
			std::fprintf(stderr, "want %s: %s, got %s: %s\n", ip_status_name(status), text, ip_status_name(e.status()), e.what());
			std::exit(1);
		}
		return;
	}
	std::fprintf(stderr, "no error, want %s\n", text);
	std::exit(1);
}

static std::vector<std::uint8_t> read_file(const char *name)
{
	std::ifstream in(name, std::ios::binary);
	if (!in) {
		std::perror(name);
		std::exit(1);
	}
	return { std::istreambuf_iterator<char>(in), {} };
}

static void print_tensor(const char *name, const ip_tensor &t)
{
	std::uint64_t h = 14695981039346656037u; // FNV-1a
	const unsigned char *p = static_cast<const unsigned char *>(t.data);
	for (std::uint64_t i = 0; i < t.bytes; i++)
		h = (h ^ p[i]) * 1099511628211u;
	std::printf("%s %d %d", name, int(t.dtype), int(t.layout));
	for (std::int32_t i = 0; i < t.rank; i++)
		std::printf(" %" PRId64, t.shape[i]);
	std::printf(" %016" PRIx64 "\n", h);
}

// digest FORMAT GRAPH IMAGE...: prints what check.c's mode prints.
static void digest(const char *format, const char *name, char **images)
{
	ip_options o = IP_OPTIONS_INIT;
	o.format = format;
	infer_prep::graph g(name, &o);
	const std::vector<ip_column> columns = g.outputs();
	for (; *images; images++) {
		const std::vector<std::uint8_t> file = read_file(*images);
		const ip_input in = infer_prep::encoded(file);
		try {
			infer_prep::result r = g.run(in);
			std::vector<std::vector<std::uint8_t>> memory;
			std::vector<ip_tensor> out;
			for (std::size_t i = 0; i < columns.size(); i++) {
				ip_tensor t = r[int(i)];
				CHECK(g.find(columns[i].name) == int(i) && columns[i].dtype == t.dtype);
				print_tensor(columns[i].name, t);
				t.capacity = t.bytes;
				memory.emplace_back(std::size_t(t.bytes) + 1);
				t.data = memory.back().data();
				out.push_back(t);
			}
			g.run_into(infer_prep::span<const ip_input>(&in, 1), out);
			for (std::size_t i = 0; i < out.size(); i++)
				CHECK(!std::memcmp(out[i].data, r[int(i)].data, std::size_t(out[i].bytes)) && out[i].bytes == r[int(i)].bytes);
		} catch (const infer_prep::error &e) {
			std::printf("error %s\n", e.what());
		}
	}
}

// batch checks run_batch with a loop of threads, with errors, and with a loop
// that throws.
static void batch(const infer_prep::graph &g, const std::vector<std::uint8_t> &file, const std::vector<float> &want)
{
	const std::size_t n = 6, size = want.size();
	std::vector<float> memory(n * size);
	std::vector<ip_input> in(n, infer_prep::encoded(file));
	std::vector<ip_tensor> out(n, ip_tensor IP_TENSOR_INIT);
	for (std::size_t i = 0; i < n; i++) {
		out[i].data = &memory[i * size];
		out[i].capacity = size * sizeof(float);
	}
	auto threads = [](std::size_t m, auto f) {
		std::vector<std::thread> l;
		for (std::size_t i = 0; i < m; i++)
			l.emplace_back(f, i);
		for (std::thread &t : l)
			t.join();
	};
	g.run_batch(in, out, n, {}, threads);
	for (std::size_t i = 0; i < n; i++)
		CHECK(!std::memcmp(&memory[i * size], want.data(), size * sizeof(float)));
	std::vector<ip_status> each(n, IP_INTERNAL);
	in[2].bytes = 0;
	out[4].capacity--;
	fails(IP_FORMAT, "empty input", [&] { g.run_batch(in, out, n, each); });
	CHECK(each[0] == IP_OK && each[2] == IP_FORMAT && each[4] == IP_CAPACITY && each[5] == IP_OK);
	fails(IP_INPUT, "parallel returned before", [&] { g.run_batch(in, out, n, {}, [](std::size_t, auto) {}); });
	fails(IP_INPUT, "the same number", [&] { g.run_batch(in, out, 4); });
	g.run_batch({}, {}, 0);
	try {
		g.run_batch(in, out, n, {}, [](std::size_t, auto) { throw std::logic_error("thrown"); });
		CHECK(false);
	} catch (const std::logic_error &e) {
		CHECK(!std::strcmp(e.what(), "thrown"));
	}
}

// api IMAGE: literal cases of every function.
static void api(const char *name)
{
	const std::vector<std::uint8_t> file = read_file(name);
	CHECK(infer_prep::version() == IP_VERSION);
	CHECK(infer_prep::probe(file).width == 420);

	infer_prep::graph g("preset:imagenet");
	CHECK(g.inputs().size() == 1 && g.outputs().size() == 1 && g.find("image") == 0 && g.find("x") == -1);
	CHECK(!std::strcmp(g.outputs()[0].name, "image") && g.sizes(100, 100)[0].shape[1] == 224);
	infer_prep::result r = g.run(infer_prep::encoded(file));
	auto x = r.get<const float>(0);
	CHECK(x.size() == 3 * 224 * 224 && r[0].layout == IP_CHW);
	std::vector<float> own(x.size());
	ip_tensor t = g.run_into(infer_prep::encoded(file), infer_prep::span<float>(own));
	CHECK(t.shape[2] == 224 && !std::memcmp(own.data(), x.data(), t.bytes));
	std::printf("%g %g %g\n", double(x[0]), double(x[1]), double(x[2]));

	batch(g, file, own);

	// Pixels, by their sizes and too few.
	infer_prep::graph d("preset:decode");
	infer_prep::result decoded = d.run(infer_prep::encoded(file));
	const ip_tensor rgb = decoded[0];
	auto bytes = decoded.get<const std::uint8_t>(0);
	infer_prep::result again = g.run(infer_prep::pixels(bytes, IP_HWC, rgb.shape[0], rgb.shape[1], 3));
	CHECK(!std::memcmp(again.get<float>(0).data(), own.data(), t.bytes));
	fails(IP_INPUT, "outside of 100 bytes", [&] { g.run(infer_prep::pixels({ bytes.data(), 100 }, IP_HWC, rgb.shape[0], rgb.shape[1], 3)); });

	infer_prep::graph moved = std::move(g);
	infer_prep::result other = std::move(r);
	CHECK(other.get<float>(0).data() == x.data());
	fails(IP_HANDLE, "closed", [&] { g.run(infer_prep::encoded(file)); });
	fails(IP_HANDLE, "", [&] { r.get<float>(0); });
	fails(IP_INPUT, "another dtype", [&] { other.get<std::uint8_t>(0); });
	fails(IP_INPUT, "output 7", [&] { other.get<float>(7); });
	fails(IP_CAPACITY, "602112 bytes", [&] { moved.run_into(infer_prep::encoded(file), infer_prep::span<float>(own.data(), 5)); });
	fails(IP_PARAM, "did you mean", [] { infer_prep::graph("preset:imagenett"); });
	fails(IP_FORMAT, "unknown format", [&] { infer_prep::graph g{ infer_prep::span<const std::uint8_t>(file) }; });
	fails(IP_FORMAT, "", [&] { infer_prep::probe({ file.data(), 20 }); });

	std::vector<std::thread> threads;
	for (int i = 0; i < 4; i++)
		threads.emplace_back([&] {
			for (int k = 0; k < 10; k++)
				CHECK(!std::memcmp(moved.run(infer_prep::encoded(file)).get<float>(0).data(), own.data(), 602112));
		});
	for (std::thread &t : threads)
		t.join();

	ip_token_files files = IP_TOKEN_FILES_INIT;
	const char *pairs[] = { "image_token", "<|image_pad|>" };
	files.preprocessor = R"({"image_processor_type": "Qwen2VLImageProcessor", "processor_class": "Qwen2VLProcessor",
		"min_pixels": 3136, "max_pixels": 12845056, "patch_size": 14, "merge_size": 2})";
	files.tokens = pairs;
	files.pairs = 1;
	infer_prep::tokens tokens(files);
	auto l = tokens.images({ { 56, 56 }, { 1080, 1920 } });
	CHECK(l.size() == 2 && l[0].tokens == 4 && l[1].tokens == 2691 && l[0].text == "<|image_pad|><|image_pad|><|image_pad|><|image_pad|>");
	CHECK(tokens.images({}).empty());
	fails(IP_IO, "nonexistent", [] { infer_prep::tokens("/nonexistent"); });

	std::vector<infer_prep::result> results;
	for (int i = 0; i < 2; i++)
		results.push_back(moved.run(infer_prep::encoded(file)));
	infer_prep::result batch = moved.collate(results);
	ip_column c = batch.columns().at(0);
	CHECK(!std::strcmp(c.name, "image") && c.rank == 4 && c.shape[0] == 2 && c.shape[3] == 224);
	CHECK(!std::memcmp(batch.get<float>(0).data() + own.size(), own.data(), 602112));
	results.pop_back();
	results.push_back(std::move(batch));
	fails(IP_INPUT, "result 1: ", [&] { moved.collate(results); });

	const std::string config = R"({"video_processor_type": "VideoMAEVideoProcessor"})";
	infer_prep::video video({ reinterpret_cast<const std::uint8_t *>(config.data()), config.size() });
	std::vector<ip_input> frames(3, infer_prep::encoded(file));
	std::vector<ip_clip> clips(2, infer_prep::clip(frames, 24));
	CHECK((video.sample(clips[0]) == std::vector<int64_t>{ 0, 1, 2 }));
	c = video.run(clips).columns().at(0);
	CHECK(!std::strcmp(c.name, "pixel_values") && c.rank == 5 && c.shape[0] == 2 && c.shape[1] == 3);
	clips[1].fps = -1;
	fails(IP_INPUT, "clip 1: ", [&] { video.run(clips); });
	fails(IP_INPUT, "", [&] { video.sample(clips[1]); });
	fails(IP_IO, "", [] { infer_prep::video("/nonexistent"); });
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	if (!std::strcmp(mode, "digest") && argc > 4)
		digest(argv[2], argv[3], argv + 4);
	else if (!std::strcmp(mode, "api") && argc == 3)
		api(argv[2]);
	else {
		std::fprintf(stderr, "usage: check MODE ARGUMENTS\n");
		return 2;
	}
	return 0;
}
