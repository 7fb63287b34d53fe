// SPDX-License-Identifier: Apache-2.0
/// The command line of an example: at most one file, and options that are declared by asking for
/// them. Throws UsageError with a text for the user.
#pragma once

#include <charconv>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace examples {

class UsageError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

class Options {
  public:
    Options(int count, char** arguments) : arguments_(arguments + 1, arguments + count) {}

    /// Whether `name` is there.
    bool flag(const std::string& name) { return take(name).has_value(); }

    /// What follows `name`.
    std::optional<std::string> text(const std::string& name) {
        const std::optional<std::size_t> place = take(name);
        if (!place) return std::nullopt;
        if (*place == arguments_.size() || arguments_[*place].starts_with("--")) {
            throw UsageError(name + " needs a value");
        }
        std::string value = arguments_[*place];
        erase(*place);
        return value;
    }

    /// What follows `name`, a number from `least` to `most`.
    long number(const std::string& name, long absent, long least, long most) {
        const std::optional<std::string> value = text(name);
        if (!value) return absent;
        long number = 0;
        const char* end = value->data() + value->size();
        const auto [stop, error] = std::from_chars(value->data(), end, number);
        if (error != std::errc{} || stop != end || number < least || number > most) {
            throw UsageError(
                name + " is '" + *value + "'; it must be a whole number from " +
                std::to_string(least) + " to " + std::to_string(most)
            );
        }
        return number;
    }

    /// The one argument that is left; to be asked last.
    std::string file(const std::string& absent) {
        for (const std::string& argument : arguments_) {
            if (argument.starts_with("-")) throw UsageError("unknown option '" + argument + "'");
        }
        if (arguments_.size() > 1) throw UsageError("unexpected argument '" + arguments_[1] + "'");
        return arguments_.empty() ? absent : arguments_[0];
    }

  private:
    /// Removes `name`; what stood behind it is then at the index returned.
    std::optional<std::size_t> take(const std::string& name) {
        for (std::size_t i = 0; i < arguments_.size(); ++i) {
            if (arguments_[i] != name) continue;
            erase(i);
            for (const std::string& other : arguments_) {
                if (other == name) throw UsageError(name + " is given twice");
            }
            return i;
        }
        return std::nullopt;
    }
    void erase(std::size_t i) { arguments_.erase(arguments_.begin() + static_cast<long>(i)); }

    std::vector<std::string> arguments_;
};

}  // namespace examples
