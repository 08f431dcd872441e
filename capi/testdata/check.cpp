// check.cpp IMAGE: infer_prep.hpp.
#include "infer_prep.hpp"

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

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	std::ifstream in(argv[1], std::ios::binary);
	const std::vector<std::uint8_t> file((std::istreambuf_iterator<char>(in)), {});
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
	fails(IP_IO, "o such file", [] { infer_prep::tokens("/nonexistent"); });
}
