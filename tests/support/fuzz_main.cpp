// SPDX-License-Identifier: Apache-2.0
/// Runs a fuzz target without a fuzzer: over every file of the folders given and every beginning of
/// each file, since cutting a message short is what finds an unchecked length. One thread.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size);

int main(int argc, char** argv) {
    std::vector<std::filesystem::path> files;
    for (int i = 1; i < argc; ++i) {
        for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
            files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    std::size_t input_count = 0;
    for (const auto& path : files) {
        std::ifstream stream(path, std::ios::binary);
        const std::vector<char> content{std::istreambuf_iterator<char>(stream), {}};
        for (std::size_t size = 0; size <= content.size(); ++size, ++input_count) {
            // A buffer of just this size: a sanitizer sees the first byte read behind it.
            const std::vector<unsigned char> input(
                content.begin(), content.begin() + static_cast<std::ptrdiff_t>(size)
            );
            LLVMFuzzerTestOneInput(input.data(), input.size());
        }
    }
    std::printf("%zu files, %zu inputs\n", files.size(), input_count);
    return files.empty() ? 1 : 0;
}
