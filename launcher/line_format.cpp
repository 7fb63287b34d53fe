// SPDX-License-Identifier: Apache-2.0
#include "launcher/line_format.hpp"

#include "runtime/base/error_text.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

constexpr std::string_view valid_signs = "%r %R %h %p %s %b %j %%";
constexpr std::string_view number_signs = "rRpb";
constexpr std::string_view text_signs = "hsj%";
constexpr std::uint32_t width_max = 20;

std::string_view name_of(StreamKind stream) {
    return stream == StreamKind::out ? "out" : "err";
}

bool is_digit(char letter) {
    return letter >= '0' && letter <= '9';
}

}  // namespace

Result<LineFormat> LineFormat::parse(std::string_view text) {
    LineFormat format;
    std::string plain;
    const auto end_plain = [&] {
        if (!plain.empty()) format.pieces_.push_back({0, 0, plain});
        plain.clear();
    };
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '%') {
            plain += text[at];
            continue;
        }
        const std::size_t begin = at++;
        std::uint32_t width = 0;
        for (; at < text.size() && is_digit(text[at]) && width <= width_max; ++at) {
            width = width * 10 + static_cast<std::uint32_t>(text[at] - '0');
        }
        const std::string_view shown = text.substr(begin, at - begin + 1);
        const bool has_width = at > begin + 1;
        const char sign = at < text.size() ? text[at] : ' ';
        const bool is_number = number_signs.find(sign) != std::string_view::npos;
        if (!is_number && text_signs.find(sign) == std::string_view::npos) {
            return fail(
                Errc::argument, "'{}' in '{}' is unknown; valid are {} and a width as in %03r",
                shown, text, valid_signs
            );
        }
        if (has_width && (!is_number || width > width_max)) {
            return fail(
                Errc::argument, "'{}' in '{}' has a width; valid is one of up to {} with a number",
                shown, text, width_max
            );
        }
        if (sign == '%') {
            plain += '%';
            continue;
        }
        end_plain();
        format.pieces_.push_back({sign, width, ""});
    }
    end_plain();
    return format;
}

std::string LineFormat::expand(const LineFacts& facts) const {
    std::string text;
    for (const Piece& piece : pieces_) {
        const auto number = [&](auto value) { text += fmt::format("{:0{}}", value, piece.width); };
        switch (piece.sign) {
            case 0:
                text += piece.text;
                break;
            case 'r':
                number(facts.rank);
                break;
            case 'R':
                number(facts.local_rank);
                break;
            case 'p':
                number(facts.pid);
                break;
            case 'b':
                number(facts.block);
                break;
            case 'h':
                text += facts.host;
                break;
            case 's':
                text += name_of(facts.stream);
                break;
            default:
                text += facts.job_id;
                break;
        }
    }
    return text;
}

bool LineFormat::uses(char sign) const {
    return std::ranges::any_of(pieces_, [sign](const Piece& piece) { return piece.sign == sign; });
}

std::string escape_for_format(std::string_view text) {
    std::string escaped;
    for (const char letter : text) {
        escaped += letter;
        if (letter == '%') escaped += '%';
    }
    return escaped;
}

}  // namespace dlrt::launcher
