// SPDX-License-Identifier: Apache-2.0
/// Trains a multi-layer perceptron to read digits, data parallel.
///
/// Each rank passes its share of every batch forward and backward through its own copy of the
/// network; gradients are averaged in buckets while backward still goes on, and all ranks take the
/// same step of the optimizer. The digits are made by the program; all is decided by --seed.
///
/// usage: dlrun -np 4 train_mlp [OPTIONS]
#include "tools/examples/train_mlp/trainer.hpp"

#include <cstdio>
#include <map>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace {

using namespace train;

class UsageError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// An option whose value is one of some names.
template<typename E>
void add_choice(
    CLI::App& app, const std::string& name, E& value, const std::map<std::string, E>& choices,
    const std::string& help
) {
    std::vector<std::string> names;
    std::string chosen;
    for (const auto& [choice, meaning] : choices) {
        names.push_back(choice);
        if (meaning == value) chosen = choice;
    }
    app.add_option_function<std::string>(
           name, [&value, choices](const std::string& text) { value = choices.at(text); }, help
    )
        ->default_str(chosen)
        ->check(CLI::IsMember(names));
}

void add_count(
    CLI::App& app, const std::string& name, std::size_t& value, std::size_t most,
    const std::string& help
) {
    app.add_option(name, value, help)
        ->check(CLI::Range(std::size_t{1}, most))
        ->type_name("COUNT")
        ->capture_default_str();
}

void add_network_options(CLI::App& app, TrainingOptions& options) {
    app.add_option("--hidden", options.hidden, "widths of the layers between, as 64,48")
        ->delimiter(',')
        ->check(CLI::Range(std::size_t{1}, std::size_t{4096}))
        ->type_name("WIDTHS")
        ->capture_default_str();
    add_choice<Activation>(
        app, "--activation", options.activation,
        {{"tanh", Activation::tanh}, {"relu", Activation::relu}}, "between layers"
    );
    add_choice<Loss>(
        app, "--loss", options.loss,
        {{"cross-entropy", Loss::cross_entropy},
         {"mse", Loss::mean_squared_error},
         {"l1", Loss::l1}},
        "what is made small"
    );
    add_choice<Precision>(
        app, "--precision", options.precision,
        {{"double", Precision::float64},
         {"single", Precision::float32},
         {"bfloat16", Precision::bfloat16},
         {"half", Precision::half}},
        "of weights, activations and gradients; 16 bits have a copy of the weights in single"
    );
    app.add_option(
           "--loss-scale", options.loss_scale, "with 16 bits: a factor for gradients at the start"
    )
        ->check(CLI::Range(1.0, 0x1p24))
        ->type_name("FACTOR")
        ->capture_default_str();
    add_count(
        app, "--keep-every", options.keep_every, 4096,
        "keep the input of every so many layers, compute the others anew"
    );
}

void add_optimizer_options(CLI::App& app, TrainingOptions& options) {
    add_choice<Method>(
        app, "--optimizer", options.optimizer.method,
        {{"sgd", Method::sgd}, {"rmsprop", Method::rmsprop}, {"adam", Method::adam}},
        "how weights follow gradients"
    );
    app.add_option("--momentum", options.optimizer.momentum, "of sgd")
        ->check(CLI::Range(0.0, 0.9999))
        ->type_name("FACTOR")
        ->capture_default_str();
    app.add_option("--rate", options.rate, "the learning rate")
        ->check(CLI::Range(1e-9, 100.0))
        ->type_name("RATE")
        ->capture_default_str();
    add_choice<Schedule>(
        app, "--schedule", options.schedule,
        {{"constant", Schedule::constant},
         {"step", Schedule::step},
         {"exponential", Schedule::exponential},
         {"cosine", Schedule::cosine},
         {"warmup", Schedule::warmup}},
        "of the learning rate"
    );
}

void add_run_options(CLI::App& app, TrainingOptions& options) {
    add_count(app, "--epochs", options.epochs, 100'000, "how often each sample is seen");
    add_count(app, "--samples", options.samples, 1'000'000, "how many there are");
    add_count(app, "--batch", options.batch, 1'000'000, "samples in a step of all ranks");
    add_count(
        app, "--micro-batches", options.micro_batches, 1'000'000,
        "parts in which a rank takes its share of a batch"
    );
    app.add_option(
           "--bucket-bytes", options.bucket_bytes, "gradients that make one all-reduce, at least"
    )
        ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 30))
        ->type_name("BYTES")
        ->capture_default_str();
    app.add_option("--seed", options.seed, "of everything that is random")
        ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 32))
        ->type_name("NUMBER")
        ->capture_default_str();
    app.add_flag("--memory", options.is_memory_shown, "a table: memory predicted and measured");
    app.add_option("--memory-svg", options.memory_picture_file, "a picture: memory over a step")
        ->type_name("FILE");
    app.add_option("--output", options.weights_file, "writes the weights, one a line")
        ->type_name("FILE");
}

/// Looks at what no option can tell alone.
void check(const CLI::App& app, const TrainingOptions& options, std::size_t ranks) {
    const std::size_t parts = ranks * options.micro_batches;
    if (options.batch % parts != 0) {
        throw UsageError(fmt::format(
            "--batch is {}; it must be a multiple of ranks times micro-batches ({} x {}), such as "
            "{}",
            options.batch, ranks, options.micro_batches, (options.batch / parts + 1) * parts
        ));
    }
    if (options.samples % options.batch != 0) {
        throw UsageError(fmt::format(
            "--samples is {}; it must be a multiple of --batch ({}), such as {}", options.samples,
            options.batch, (options.samples / options.batch + 1) * options.batch
        ));
    }
    const bool is_low = options.precision == Precision::bfloat16 ||
                        options.precision == Precision::half;
    if (app.count("--loss-scale") != 0 && !is_low) {
        throw UsageError("--loss-scale goes with --precision bfloat16 and half only");
    }
    if (app.count("--momentum") != 0 && options.optimizer.method != Method::sgd) {
        throw UsageError("--momentum goes with --optimizer sgd only");
    }
}

}  // namespace

int main(int count, char** values) {
    dlrt::Session session;
    const dlrt::Communicator& world = session.world;
    // What every rank finds out by itself, one of them says; what one finds out alone ends the job.
    const bool is_speaker = world.rank() == 0;
    TrainingOptions options;
    CLI::App app("Trains a multi-layer perceptron to read digits, data parallel.", "train_mlp");
    add_network_options(app, options);
    add_optimizer_options(app, options);
    add_run_options(app, options);
    try {
        app.parse(count, values);
        check(app, options, static_cast<std::size_t>(world.size()));
        return train_network(world, options) ? 0 : 1;
    } catch (const CLI::CallForHelp&) {
        if (is_speaker) fmt::print("{}", app.help());
        return 0;
    } catch (const CLI::ParseError& error) {
        if (is_speaker) fmt::print(stderr, "train_mlp: {}\n{}", error.what(), app.help());
        return 2;
    } catch (const UsageError& error) {
        if (is_speaker) fmt::print(stderr, "train_mlp: {}\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        dlrt::abort(1, std::string("train_mlp: ") + error.what());
    }
}
