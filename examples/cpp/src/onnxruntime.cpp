// onnxruntime.cpp classifies images with ONNX Runtime's C++ API. infer-prep
// writes to the memory of the model's input, an Ort::Value; nothing is copied.
//
//	classify-onnxruntime MODEL PREPROCESSING IMAGE...
//
// It prints the scores of every image.
#include "file.hpp"

#include <infer_prep.hpp>
#include <onnxruntime_cxx_api.h>

#include <cstdio>

int main(int argc, char **argv)
try {
	if (argc < 4) {
		std::fprintf(stderr, "usage: classify-onnxruntime MODEL PREPROCESSING IMAGE...\n");
		return 2;
	}
	Ort::Env env;
	Ort::Session session(env, argv[1], Ort::SessionOptions());
	Ort::AllocatorWithDefaultOptions allocator;
	const std::vector<std::int64_t> shape = session.GetInputTypeInfo(0).GetTensorTypeAndShapeInfo().GetShape();
	Ort::Value input = Ort::Value::CreateTensor<float>(allocator, shape.data(), shape.size());
	const std::size_t size = input.GetTensorTypeAndShapeInfo().GetElementCount();
	const infer_prep::span<float> memory(input.GetTensorMutableData<float>(), size);

	const infer_prep::graph graph(argv[2]);
	for (int i = 3; i < argc; i++) {
		const std::vector<std::uint8_t> image = read_file(argv[i]);
		const ip_tensor t = graph.run_into(infer_prep::encoded(image), memory);
		if (t.bytes != size * sizeof(float))
			throw std::runtime_error("the preprocessing's output does not fill the model's input");
		const char *in = "image", *out = "logits";
		const std::vector<Ort::Value> outputs = session.Run(Ort::RunOptions{ nullptr }, &in, &input, 1, &out, 1);
		const std::size_t n = outputs[0].GetTensorTypeAndShapeInfo().GetElementCount();
		for (std::size_t k = 0; k < n; k++)
			std::printf(k ? " %.6g" : "%.6g", double(outputs[0].GetTensorData<float>()[k]));
		std::printf("\n");
	}
	return 0;
} catch (const std::exception &e) {
	std::fprintf(stderr, "classify-onnxruntime: %s\n", e.what());
	return 1;
}
