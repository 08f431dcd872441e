// The header alone, as the first of a program, and its templates.
#include "../infer_prep.hpp"

struct loop {
	template <class F> void operator()(std::size_t n, F f) const
	{
		for (std::size_t i = 0; i < n; i++)
			f(i);
	}
};

template void infer_prep::graph::run_batch(span<const ip_input>, span<ip_tensor>, std::size_t, span<ip_status>, loop &&) const;
template infer_prep::span<float> infer_prep::result::get<float>(int32_t) const;
template ip_tensor infer_prep::graph::run_into(const ip_input &, span<float>) const;
