// chunks.cpp splits a prompt into chunks of text and of images, as multimodal
// programs on llama.cpp do. An image's chunk has what the model takes in its
// place: the text of its tokens, their number, and the tensors.
//
//	chunks MODEL PROMPT IMAGE...
//
// MODEL is the folder of a Hugging Face processor. PROMPT has the mark
// <__media__> for every image. The program prints the chunks.
#include "file.hpp"

#include <infer_prep.hpp>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

const std::string mark = "<__media__>";

// image_chunk is what an image becomes.
struct image_chunk {
	std::int64_t n_tokens; // in text
	infer_prep::result tensors; // pixel_values and others
};

// chunk is a part of a prompt. text is for the tokenizer, images' too.
struct chunk {
	std::string text;
	std::vector<image_chunk> image; // one, or none for text
};

// decoded_size is height and width as decoded: EXIF's orientations from 5 on turn
// the image by a quarter.
std::array<std::int64_t, 2> decoded_size(const std::vector<std::uint8_t> &image)
{
	const ip_image_info i = infer_prep::probe(image);
	if (i.orientation >= 5)
		return { i.width, i.height };
	return { i.height, i.width };
}

std::vector<chunk> chunks(const std::string &model, const std::string &prompt, const std::vector<std::vector<std::uint8_t>> &images)
{
	const infer_prep::graph graph(model);
	const infer_prep::tokens tokens(model);
	std::vector<std::array<std::int64_t, 2>> sizes;
	for (const std::vector<std::uint8_t> &i : images)
		sizes.push_back(decoded_size(i));
	// All images of a prompt in one call: the text of one may depend on the number
	// of them.
	const std::vector<infer_prep::tokens::image> texts = tokens.images(sizes);

	std::vector<chunk> l;
	std::size_t at = 0, n = 0;
	for (std::size_t next; (next = prompt.find(mark, at)) != std::string::npos; at = next + mark.size(), n++) {
		if (n == images.size())
			throw std::runtime_error("the prompt has more marks than images");
		if (next > at)
			l.push_back({ prompt.substr(at, next - at), {} });
		chunk c{ texts[n].text, {} };
		c.image.push_back({ texts[n].text_tokens, graph.run(infer_prep::encoded(images[n])) });
		l.push_back(std::move(c));
	}
	if (n < images.size())
		throw std::runtime_error("the prompt has fewer marks than images");
	if (at < prompt.size())
		l.push_back({ prompt.substr(at), {} });
	return l;
}

int main(int argc, char **argv)
try {
	if (argc < 3) {
		std::fprintf(stderr, "usage: chunks MODEL PROMPT IMAGE...\n");
		return 2;
	}
	std::vector<std::vector<std::uint8_t>> images;
	for (int i = 3; i < argc; i++)
		images.push_back(read_file(argv[i]));
	for (const chunk &c : chunks(argv[1], argv[2], images)) {
		if (c.image.empty()) {
			std::printf("text %s\n", c.text.c_str());
			continue;
		}
		const image_chunk &i = c.image[0];
		std::printf("image %" PRId64 " tokens, %zu bytes of text\n", i.n_tokens, c.text.size());
		std::int32_t k = 0;
		for (const ip_column &column : i.tensors.columns()) {
			const ip_tensor t = i.tensors[k++];
			std::uint64_t hash = 14695981039346656037u; // FNV-1a of the bytes
			for (std::uint64_t b = 0; b < t.bytes; b++)
				hash = (hash ^ static_cast<const std::uint8_t *>(t.data)[b]) * 1099511628211u;
			std::printf("  %s", column.name);
			for (std::int32_t a = 0; a < t.rank; a++)
				std::printf(" %" PRId64, t.shape[a]);
			std::printf(" %016" PRIx64 "\n", hash);
		}
	}
	return 0;
} catch (const std::exception &e) {
	std::fprintf(stderr, "chunks: %s\n", e.what());
	return 1;
}
