// SPDX-License-Identifier: Apache-2.0
/// Counts the words of a text that the ranks read together.
///
/// Every rank reads its share of the bytes; a word belongs to the rank in whose share it begins.
/// Then the counts are shuffled: each word has one owner, chosen by a hash, and every rank sends
/// every owner what it has counted of its words. Rank 0 collects the totals from the owners, prints
/// the most frequent words, and with --verify compares all counts with those of a serial program.
///
/// usage: dlrun -np 32 wordcount [FILE] [--top N] [--verify]
#include <dlrt.hpp>

#include "tools/examples/options.hpp"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

namespace {

using namespace examples;

constexpr const char* usage =
    "usage: wordcount [FILE] [--top N] [--verify]\n"
    "  FILE      the text (default: /usr/share/common-licenses/GPL-3)\n"
    "  --top N   how many words to print (default: 10)\n"
    "  --verify  compare the counts with the serial program's\n";

/// Words are rows of the letters a to z; case doesn't count.
using Counts = std::map<std::string, long>;

bool is_letter(int c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

char lower_case(int c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

std::ifstream opened(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read the text '" + path + "'");
    return file;
}

long size_of(const std::string& path) {
    std::ifstream file = opened(path);
    file.seekg(0, std::ios::end);
    const long size = static_cast<long>(file.tellg());
    if (size < 0) throw std::runtime_error("'" + path + "' has no size: it must be a regular file");
    return size;
}

/// The words that begin at the bytes from begin to before end.
Counts count_share(const std::string& path, long begin, long end) {
    Counts counts;
    if (begin == end) return counts;
    std::ifstream file = opened(path);
    long position = begin;
    if (begin > 0) {
        // A word that is under way at our first byte is our predecessor's.
        file.seekg(begin - 1);
        if (is_letter(file.get())) {
            while (is_letter(file.peek())) {
                file.get();
                ++position;
            }
        }
    }
    std::string word;
    while (position < end || !word.empty()) {
        const int c = file.get();
        ++position;
        if (is_letter(c)) {
            word += lower_case(c);
            continue;
        }
        if (!word.empty()) ++counts[word];
        word.clear();
        if (c == std::ifstream::traits_type::eof()) break;
    }
    return counts;
}

/// The serial program: one pass over everything.
Counts count_serially(const std::string& path) {
    std::stringstream text;
    text << opened(path).rdbuf();
    std::string letters = text.str();
    for (char& c : letters) c = is_letter(static_cast<unsigned char>(c)) ? lower_case(c) : ' ';
    Counts counts;
    std::istringstream words(letters);
    for (std::string word; words >> word;) ++counts[word];
    return counts;
}

std::string as_text(const Counts& counts) {
    std::ostringstream text;
    for (const auto& [word, count] : counts) text << word << ' ' << count << '\n';
    return text.str();
}

void add_text(Counts& counts, const std::string& text) {
    std::istringstream lines(text);
    long count = 0;
    for (std::string word; lines >> word >> count;) counts[word] += count;
}

/// A message of unknown length: look at it first, then take it.
std::string receive_text(const dlrt::Communicator& world, int from) {
    std::string text(world.probe({.from = from}).count<char>(), '\0');
    world.recv(text, {.from = from});
    return text;
}

/// The same on every rank. (std::hash promises that only within one process.)
int owner_of(const std::string& word, int ranks) {
    unsigned hash = 2166136261;
    for (char letter : word) hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619;
    return static_cast<int>(hash % static_cast<unsigned>(ranks));
}

/// Brings all counts of a word to its owner. Returns those that this rank owns.
Counts shuffle(const dlrt::Communicator& world, const Counts& counts) {
    const int rank = world.rank(), size = world.size();
    std::vector<Counts> by_owner(static_cast<std::size_t>(size));
    for (const auto& [word, count] : counts) {
        by_owner[static_cast<std::size_t>(owner_of(word, size))][word] = count;
    }
    Counts owned = by_owner[static_cast<std::size_t>(rank)];
    // In round i everybody sends to the i-th neighbour on one side and receives from the other.
    for (int round = 1; round < size; ++round) {
        const int to = (rank + round) % size, from = (rank + size - round) % size;
        const std::string outgoing = as_text(by_owner[static_cast<std::size_t>(to)]);
        dlrt::Request sending = world.isend(outgoing, {.to = to});
        add_text(owned, receive_text(world, from));
        sending.wait();
    }
    return owned;
}

/// Everybody's counts at rank 0; no word has two owners.
Counts collect(const dlrt::Communicator& world, const Counts& owned) {
    if (world.rank() != 0) {
        world.send(as_text(owned), {.to = 0});
        return {};
    }
    Counts all = owned;
    for (int rank = 1; rank < world.size(); ++rank) add_text(all, receive_text(world, rank));
    return all;
}

/// Most frequent first, and by the alphabet among equals.
void print_top(const Counts& counts, long top) {
    std::vector<std::pair<long, std::string>> order;
    for (const auto& [word, count] : counts) order.emplace_back(-count, word);
    std::sort(order.begin(), order.end());
    order.resize(std::min(order.size(), static_cast<std::size_t>(top)));
    for (const auto& [count, word] : order) std::cout << -count << '\t' << word << '\n';
}

/// Returns the exit status.
int run(const dlrt::Communicator& world, const std::string& path, long top, bool is_verified) {
    const int rank = world.rank(), size = world.size();
    // Rank 0 says how long the text is, so that all agree even if it grows.
    long text_size = rank == 0 ? size_of(path) : 0;
    world.bcast(text_size, 0);
    const long begin = text_size * rank / size, end = text_size * (rank + 1) / size;

    const Counts owned = shuffle(world, count_share(path, begin, end));
    long words = 0;
    for (const auto& [word, count] : owned) words += count;
    words = world.sum(words);
    const Counts all = collect(world, owned);
    if (rank != 0) return 0;

    std::cout << "wordcount: " << words << " words, " << all.size() << " different ones, in "
              << text_size << " bytes of " << path << " on " << size << " ranks\n";
    print_top(all, top);
    if (!is_verified) return 0;
    if (all != count_serially(path)) {
        std::cout << "wordcount: the counts are NOT the serial program's\n";
        return 1;
    }
    std::cout << "wordcount: the counts are the serial program's\n";
    return 0;
}

}  // namespace

int main(int count, char** values) {
    dlrt::Session session;
    // What every rank finds out by itself, one of them says; what one finds out alone ends the job.
    const bool is_speaker = session.world.rank() == 0;
    try {
        Options options(count, values);
        if (options.flag("--help")) {
            if (is_speaker) std::cout << usage;
            return 0;
        }
        const long top = options.number("--top", 10, 0, 1'000'000);
        const bool is_verified = options.flag("--verify");
        const std::string path = options.file("/usr/share/common-licenses/GPL-3");
        return run(session.world, path, top, is_verified);
    } catch (const UsageError& error) {
        if (is_speaker) std::cerr << "wordcount: " << error.what() << '\n' << usage;
        return 2;
    } catch (const std::exception& error) {
        dlrt::abort(1, std::string("wordcount: ") + error.what());
    }
}
