/*
 * infer_prep.hpp: C++17 classes over infer_prep.h, in a header alone. With
 * C++20, infer_prep::span is std::span.
 *
 * Objects own their handles and move, but are not copied. A failed call throws
 * infer_prep::error. A graph, tokens and a video may be used by several threads
 * at once, a result by one at a time.
 */
#ifndef INFER_PREP_HPP
#define INFER_PREP_HPP

#include "infer_prep.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif

namespace infer_prep {

/* error is a failed call. what() is the library's message. */
class error : public std::runtime_error {
public:
	error(ip_status status, const char *message) : std::runtime_error(message), status_(status) {}
	ip_status status() const noexcept { return status_; }

private:
	ip_status status_;
};

#ifdef __cpp_lib_span
template <class T> using span = std::span<T>;
#else
/* span is a view of n elements, the part of std::span used here. It owns
 * nothing. */
template <class T> class span {
public:
	constexpr span() noexcept = default;
	constexpr span(T *data, std::size_t n) noexcept : data_(data), n_(n) {}
	template <class C, class = decltype(static_cast<T *>(std::declval<C &>().data()))>
	constexpr span(C &c) noexcept : data_(c.data()), n_(c.size()) {}
	constexpr T *data() const noexcept { return data_; }
	constexpr std::size_t size() const noexcept { return n_; }
	constexpr bool empty() const noexcept { return n_ == 0; }
	constexpr T *begin() const noexcept { return data_; }
	constexpr T *end() const noexcept { return data_ + n_; }
	constexpr T &operator[](std::size_t i) const noexcept { return data_[i]; }

private:
	T *data_ = nullptr;
	std::size_t n_ = 0;
};
#endif

namespace detail {

struct deleter {
	void operator()(ip_graph *p) const noexcept { ip_graph_free(p); }
	void operator()(ip_result *p) const noexcept { ip_result_free(p); }
	void operator()(ip_tokens *p) const noexcept { ip_tokens_free(p); }
	void operator()(ip_video *p) const noexcept { ip_video_free(p); }
};

/* check calls f with an ip_error and throws what it reports. */
template <class F> void check(F f)
{
	ip_error e = IP_ERROR_INIT;
	if (ip_status s = f(&e))
		throw error(s, e.message);
}

/* loop passes a host's parallel loop to C, which no exception may cross. */
template <class P> struct loop {
	std::remove_reference_t<P> &parallel;
	std::exception_ptr thrown;

	static void run(void *host, std::size_t n, ip_body body, void *context)
	{
		loop *l = static_cast<loop *>(host);
		try {
			l->parallel(n, [body, context](std::size_t i) { body(context, i); });
		} catch (...) {
			l->thrown = std::current_exception();
		}
	}
};

/* The dtypes of C++'s types. Float16 and BFloat16 are read as std::uint16_t. */
template <class T> constexpr bool fits(int32_t dtype) noexcept
{
	using U = std::remove_cv_t<T>;
	switch (dtype) {
	case IP_UINT8: case IP_BOOL: case IP_BYTES: return std::is_same_v<U, std::uint8_t>;
	case IP_INT8: return std::is_same_v<U, std::int8_t>;
	case IP_UINT16: case IP_FLOAT16: case IP_BFLOAT16: return std::is_same_v<U, std::uint16_t>;
	case IP_INT16: return std::is_same_v<U, std::int16_t>;
	case IP_INT32: return std::is_same_v<U, std::int32_t>;
	case IP_INT64: return std::is_same_v<U, std::int64_t>;
	case IP_FLOAT32: return std::is_same_v<U, float>;
	case IP_FLOAT64: return std::is_same_v<U, double>;
	default: return false;
	}
}

} // namespace detail

/* encoded is the input of an encoded image. It must outlive the run. */
inline ip_input encoded(span<const std::uint8_t> image) { return ip_encoded(image.data(), image.size()); }

/* pixels is the input of dense pixels, of IP_HWC or IP_CHW. They must outlive
 * the run. Fewer than the sizes need are an error of the run. */
inline ip_input pixels(span<const std::uint8_t> image, int32_t layout, int64_t height, int64_t width, int64_t channels)
{
	ip_input in = ip_pixels(image.data(), layout, height, width, channels);
	in.bytes = image.size();
	return in;
}

/* version is the library's release, such as "0.1.0". */
inline std::string version() { return ip_version(); }

/* result holds the outputs of a run. */
class result {
public:
	explicit result(ip_result *r) noexcept : handle_(r) {}

	ip_result *handle() const noexcept { return handle_.get(); }

	/* columns has the names and descriptions of the outputs. */
	std::vector<ip_column> columns() const
	{
		std::vector<ip_column> l;
		for (int32_t i = 0; i < ip_result_count(handle()); i++) {
			ip_column c = IP_COLUMN_INIT;
			detail::check([&](ip_error *e) { return ip_result_describe(handle(), i, &c, e); });
			l.push_back(c);
		}
		return l;
	}

	/* operator[] describes output i. Its data lives as long as the result. */
	ip_tensor operator[](int32_t i) const
	{
		ip_tensor t = IP_TENSOR_INIT;
		detail::check([&](ip_error *e) { return ip_result_tensor(handle_.get(), i, &t, e); });
		return t;
	}

	/* get returns the elements of output i. A T that is not its dtype's is an
	 * error of IP_INPUT. */
	template <class T> span<T> get(int32_t i) const
	{
		ip_tensor t = (*this)[i];
		if (!detail::fits<T>(t.dtype))
			throw error(IP_INPUT, "infer_prep: result: the output has another dtype");
		return { static_cast<T *>(t.data), static_cast<std::size_t>(t.bytes / sizeof(T)) };
	}

private:
	std::unique_ptr<ip_result, detail::deleter> handle_;
};

/* graph is an open graph. */
class graph {
public:
	/* The name of a file, a model's folder or a preset; see ip_graph_open_name. */
	explicit graph(const std::string &name, const ip_options *options = nullptr)
	{
		ip_graph *g = nullptr;
		detail::check([&](ip_error *e) { return ip_graph_open_name(name.c_str(), options, &g, e); });
		handle_.reset(g);
	}

	/* The content of a file; see ip_graph_open. */
	explicit graph(span<const std::uint8_t> file, const ip_options *options = nullptr)
	{
		ip_graph *g = nullptr;
		detail::check([&](ip_error *e) { return ip_graph_open(file.data(), file.size(), options, &g, e); });
		handle_.reset(g);
	}

	ip_graph *get() const noexcept { return handle_.get(); }

	std::vector<ip_column> inputs() const { return columns(IP_INPUTS); }
	std::vector<ip_column> outputs() const { return columns(IP_OUTPUTS); }

	/* find returns the index of an output, -1 if there is none. */
	int32_t find(const std::string &output) const noexcept { return ip_graph_find(get(), IP_OUTPUTS, output.c_str()); }

	/* sizes describes the outputs for an image of a height and a width. */
	std::vector<ip_column> sizes(int64_t height, int64_t width) const
	{
		std::vector<ip_column> l = outputs();
		detail::check([&](ip_error *e) { return ip_graph_sizes(get(), height, width, l.data(), static_cast<int32_t>(l.size()), e); });
		return l;
	}

	result run(const ip_input &image) const { return run(span<const ip_input>(&image, 1)); }

	result run(span<const ip_input> in) const
	{
		ip_result *r = nullptr;
		detail::check([&](ip_error *e) { return ip_run(get(), in.data(), static_cast<int32_t>(in.size()), &r, e); });
		return result(r);
	}

	/* collate joins results of this graph's runs into a batch; see ip_collate. */
	result collate(span<const result> results) const
	{
		std::vector<const ip_result *> l;
		for (const result &r : results)
			l.push_back(r.handle());
		ip_result *batch = nullptr;
		detail::check([&](ip_error *e) { return ip_collate(get(), l.data(), l.size(), &batch, e); });
		return result(batch);
	}

	/* run_into writes the outputs to the memory of out; see ip_run_into. After
	 * an error of IP_CAPACITY out has the bytes needed. */
	void run_into(span<const ip_input> in, span<ip_tensor> out) const
	{
		detail::check([&](ip_error *e) {
			return ip_run_into(get(), in.data(), static_cast<int32_t>(in.size()), out.data(), static_cast<int32_t>(out.size()), e);
		});
	}

	/* run_into writes the first output to memory of exactly its size or more,
	 * and describes it. */
	template <class T> ip_tensor run_into(const ip_input &image, span<T> memory) const
	{
		ip_tensor t = IP_TENSOR_INIT;
		t.data = memory.data();
		t.capacity = memory.size() * sizeof(T);
		run_into(span<const ip_input>(&image, 1), span<ip_tensor>(&t, 1));
		if (!detail::fits<T>(t.dtype))
			throw error(IP_INPUT, "infer_prep: run: the output has another dtype");
		return t;
	}

	/* run_batch is run_into for n images: image i has in.size() / n inputs from
	 * in[i * (in.size() / n)] on, and outputs likewise. It throws the error of the
	 * first image that failed; the others are run nevertheless. each, if not empty,
	 * has n elements and receives the status of every image. parallel(n, f) calls
	 * f(i) for every i below n once, on any threads, and returns when all calls
	 * have; f does not throw, and what parallel throws is thrown again. */
	template <class P> void run_batch(span<const ip_input> in, span<ip_tensor> out, std::size_t n, span<ip_status> each, P &&parallel) const
	{
		if (n == 0 ? in.size() + out.size() + each.size() > 0 : in.size() % n || out.size() % n || (!each.empty() && each.size() != n))
			throw error(IP_INPUT, "infer_prep: run_batch: inputs, outputs and each must have the same number for each image");
		const std::size_t images = n ? n : 1;
		detail::loop<P> loop{ parallel, nullptr };
		detail::check([&](ip_error *e) {
			ip_status s = ip_run_batch(get(), in.data(), static_cast<int32_t>(in.size() / images), out.data(), static_cast<int32_t>(out.size() / images), n,
				each.empty() ? nullptr : each.data(), detail::loop<P>::run, &loop, e);
			return loop.thrown ? (std::rethrow_exception(loop.thrown), s) : s;
		});
	}

	/* run_batch on the calling thread. */
	void run_batch(span<const ip_input> in, span<ip_tensor> out, std::size_t n, span<ip_status> each = {}) const
	{
		run_batch(in, out, n, each, [](std::size_t m, auto f) {
			for (std::size_t i = 0; i < m; i++)
				f(i);
		});
	}

private:
	std::vector<ip_column> columns(int32_t list) const
	{
		std::vector<ip_column> l;
		for (int32_t i = 0; i < ip_graph_count(get(), list); i++) {
			ip_column c = IP_COLUMN_INIT;
			detail::check([&](ip_error *e) { return ip_graph_describe(get(), list, i, &c, e); });
			l.push_back(c);
		}
		return l;
	}

	std::unique_ptr<ip_graph, detail::deleter> handle_;
};

/* tokens computes what replaces images in a prompt. */
class tokens {
public:
	struct image {
		int64_t tokens;      /* IP_UNKNOWN if the reference has no number */
		int64_t text_tokens;
		std::string text;
	};

	explicit tokens(const std::string &folder)
	{
		ip_tokens *t = nullptr;
		detail::check([&](ip_error *e) { return ip_tokens_open(folder.c_str(), &t, e); });
		handle_.reset(t);
	}

	explicit tokens(const ip_token_files &files)
	{
		ip_tokens *t = nullptr;
		detail::check([&](ip_error *e) { return ip_tokens_open_files(&files, &t, e); });
		handle_.reset(t);
	}

	/* images returns the tokens of the images of one prompt by their heights and
	 * widths. */
	std::vector<image> images(const std::vector<std::array<int64_t, 2>> &sizes) const
	{
		const int32_t n = static_cast<int32_t>(sizes.size());
		const int64_t *numbers = sizes.empty() ? nullptr : sizes[0].data();
		std::vector<ip_image_tokens> l(sizes.size(), IP_IMAGE_TOKENS_INIT);
		uint64_t bytes = 0;
		auto call = [&](std::string &text) {
			detail::check([&](ip_error *e) {
				return ip_tokens_images(handle_.get(), numbers, n, l.data(), text.empty() ? nullptr : &text[0], text.size(), &bytes, e);
			});
		};
		std::string text;
		call(text);
		text.resize(static_cast<std::size_t>(bytes));
		if (bytes)
			call(text);
		std::vector<image> to;
		for (const ip_image_tokens &t : l)
			to.push_back({ t.tokens, t.text_tokens, text.substr(static_cast<std::size_t>(t.text_at), static_cast<std::size_t>(t.text_bytes)) });
		return to;
	}

private:
	std::unique_ptr<ip_tokens, detail::deleter> handle_;
};

/* video is an open video processor. */
class video {
public:
	/* The name of a file or of a model's folder; see ip_video_open_name. */
	explicit video(const std::string &name, const ip_options *options = nullptr)
	{
		ip_video *v = nullptr;
		detail::check([&](ip_error *e) { return ip_video_open_name(name.c_str(), options, &v, e); });
		handle_.reset(v);
	}

	/* The content of a file; see ip_video_open. */
	explicit video(span<const std::uint8_t> file, const ip_options *options = nullptr)
	{
		ip_video *v = nullptr;
		detail::check([&](ip_error *e) { return ip_video_open(file.data(), file.size(), options, &v, e); });
		handle_.reset(v);
	}

	/* sample returns the numbers of the frames that run reads of clip. */
	std::vector<int64_t> sample(const ip_clip &clip) const
	{
		std::vector<int64_t> l;
		uint64_t n = 0;
		ip_error e = IP_ERROR_INIT;
		ip_status s = ip_video_sample(handle_.get(), &clip, nullptr, 0, &n, &e);
		if (s == IP_CAPACITY) {
			l.resize(static_cast<std::size_t>(n));
			s = ip_video_sample(handle_.get(), &clip, l.data(), n, &n, &e);
		}
		if (s)
			throw error(s, e.message);
		return l;
	}

	/* run returns the outputs of one or more videos; see ip_video_run. */
	result run(span<const ip_clip> clips) const
	{
		ip_result *r = nullptr;
		detail::check([&](ip_error *e) { return ip_video_run(handle_.get(), clips.data(), static_cast<int32_t>(clips.size()), &r, e); });
		return result(r);
	}

private:
	std::unique_ptr<ip_video, detail::deleter> handle_;
};

/* clip is a video of frames, which must outlive the run. Rate and duration may
 * be 0 if they are unknown. */
inline ip_clip clip(span<const ip_input> frames, double fps = 0, double duration = 0)
{
	ip_clip c = IP_CLIP_INIT;
	c.count = static_cast<int64_t>(frames.size());
	c.frames = frames.data();
	c.fps = fps;
	c.duration = duration;
	return c;
}

/* probe reads the header of an encoded image. */
inline ip_image_info probe(span<const std::uint8_t> image)
{
	ip_image_info i = IP_IMAGE_INFO_INIT;
	detail::check([&](ip_error *e) { return ip_probe(image.data(), image.size(), &i, e); });
	return i;
}

} // namespace infer_prep

#endif
