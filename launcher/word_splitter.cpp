// SPDX-License-Identifier: Apache-2.0
#include "launcher/word_splitter.hpp"

#include <utility>

namespace dlrt::launcher {
namespace {

bool is_blank(char letter) {
    return letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n';
}

class Splitter {
  public:
    Splitter(std::string_view text, SplitFailure& failure) : text_(text), failure_(failure) {}

    /// Reads the word that begins here, up to the blank after it.
    SplitWord read_word();
    void skip_blanks();
    bool is_at_end() const { return position_ == text_.size(); }
    char letter() const { return text_[position_]; }

  private:
    void read_quoted(SplitWord& word, char quote);
    void fail(const char* problem, std::size_t column) {
        failure_ = {problem, column};
        position_ = text_.size();
    }

    std::string_view text_;
    SplitFailure& failure_;
    std::size_t position_ = 0;
};

void Splitter::skip_blanks() {
    while (!is_at_end() && is_blank(letter())) ++position_;
}

SplitWord Splitter::read_word() {
    SplitWord word;
    word.column = position_;
    while (!is_at_end() && !is_blank(letter())) {
        const char here = text_[position_++];
        if (here == '\0') {
            fail("a zero byte", position_ - 1);
        } else if (here == '\'' || here == '"') {
            read_quoted(word, here);
        } else if (here == '\\') {
            if (is_at_end()) {
                fail("a backslash with nothing after it", position_ - 1);
                break;
            }
            word.is_quoted = true;
            word.text += text_[position_++];
        } else {
            word.text += here;
        }
    }
    return word;
}

void Splitter::read_quoted(SplitWord& word, char quote) {
    const std::size_t begin = position_ - 1;
    word.is_quoted = true;
    while (!is_at_end()) {
        char here = text_[position_++];
        if (here == quote) return;
        const bool is_escape = quote == '"' && here == '\\' && !is_at_end() &&
                               (letter() == '"' || letter() == '\\');
        if (is_escape) here = text_[position_++];
        word.text += here;
    }
    fail(quote == '"' ? "a \" that nothing closes" : "a ' that nothing closes", begin);
}

}  // namespace

std::vector<SplitWord> split_words(
    std::string_view text, Comments comments, SplitFailure& failure
) {
    std::vector<SplitWord> words;
    Splitter splitter(text, failure);
    for (splitter.skip_blanks(); !splitter.is_at_end(); splitter.skip_blanks()) {
        if (comments == Comments::hash && splitter.letter() == '#') break;
        SplitWord word = splitter.read_word();
        if (!failure.problem.empty()) return {};
        words.push_back(std::move(word));
    }
    return words;
}

}  // namespace dlrt::launcher
