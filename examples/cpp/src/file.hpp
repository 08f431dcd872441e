// file.hpp reads files.
#pragma once

#include <cstdint>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

inline std::vector<std::uint8_t> read_file(const std::string &name)
{
	std::ifstream in(name, std::ios::binary);
	if (!in)
		throw std::runtime_error(name + ": cannot be read");
	return { std::istreambuf_iterator<char>(in), {} };
}
