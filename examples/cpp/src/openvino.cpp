// openvino.cpp classifies images with OpenVINO. infer-prep writes to the memory
// of the model's input tensor; nothing is copied.
//
//	classify-openvino MODEL PREPROCESSING IMAGE...
//
// It prints the scores of every image.
#include "file.hpp"

#include <infer_prep.hpp>
#include <openvino/openvino.hpp>

#include <cstdio>

int main(int argc, char **argv)
try {
	if (argc < 4) {
		std::fprintf(stderr, "usage: classify-openvino MODEL PREPROCESSING IMAGE...\n");
		return 2;
	}
	ov::Core core;
	// Float32 throughout: the default of some processors is less exact.
	ov::CompiledModel model = core.compile_model(argv[1], "CPU", ov::hint::inference_precision(ov::element::f32));
	ov::InferRequest request = model.create_infer_request();
	ov::Tensor input(ov::element::f32, model.input().get_shape());
	request.set_input_tensor(input);

	const infer_prep::graph graph(argv[2]);
	for (int i = 3; i < argc; i++) {
		const std::vector<std::uint8_t> image = read_file(argv[i]);
		const ip_tensor t = graph.run_into(infer_prep::encoded(image), infer_prep::span<float>(input.data<float>(), input.get_size()));
		if (t.bytes != input.get_byte_size())
			throw std::runtime_error("the preprocessing's output does not fill the model's input");
		request.infer();
		const ov::Tensor scores = request.get_output_tensor();
		for (std::size_t k = 0; k < scores.get_size(); k++)
			std::printf(k ? " %.6g" : "%.6g", double(scores.data<const float>()[k]));
		std::printf("\n");
	}
	return 0;
} catch (const std::exception &e) {
	std::fprintf(stderr, "classify-openvino: %s\n", e.what());
	return 1;
}
