// `tune`: learns the values of the classical evaluation from games and writes them as C source.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "base/words.h"
#include "commands/commands.h"
#include "eval/eval.h"
#include "learn/tune.h"

enum { THREADS_MAX = 1024 };

const char TUNE_USAGE[] =
    "usage: tune --data DIR… --out FILE [OPTION…]\n"
    "Learns the values of the classical evaluation from games.\n"
    "  --data DIR…        games of datagen: folders or files\n"
    "  --out FILE         file for the values; it can replace engine/eval/values.c\n"
    "  --epochs N         number of epochs; each uses every position once (30)\n"
    "  --positions N      largest number of positions, each about 350 bytes of memory (2000000)\n"
    "  --threads N        number of threads (the number of CPUs)\n"
    "  --k X              k in the chance 1 / (1 + 10^(-k * score / 400)) (fitted to the values)\n"
    "  --anchor N         keeps values near the old ones, as if N positions supported them (2000)\n"
    "  --print            prints the values of this engine, and learns nothing\n";

typedef struct TuneOptions {
    char **data;
    int data_count;
    int64_t epochs, positions, threads, anchor;
    double k;
    const char *out;
    bool print;
} TuneOptions;

static bool read_k(const char *value, double *out) {
    char *end;
    *out = strtod(value, &end);
    return end != value && *end == '\0' && *out > 0.01 && *out < 100;
}

static bool read_number(TuneOptions *options, const char *name, const char *value) {
    const struct {
        const char *name;
        int64_t least, most;
        int64_t *out;
    } rows[] = {
        {"--epochs", 0, 100000, &options->epochs},
        {"--positions", 1, UINT32_MAX, &options->positions},
        {"--threads", 1, THREADS_MAX, &options->threads},
        {"--anchor", 0, UINT32_MAX, &options->anchor},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(name, rows[i].name) == 0)
            return word_to_int((Word){value, strlen(value)}, rows[i].least, rows[i].most,
                               rows[i].out);
    return false;
}

// Reads the option at argv[0] and returns how many words it takes; 0 if it is not an option.
static int read_option(TuneOptions *options, int argc, char **argv) {
    if (strcmp(argv[0], "--print") == 0) {
        options->print = true;
        return 1;
    }
    if (argc < 2)
        return 0;
    if (strcmp(argv[0], "--data") == 0) {
        int count = 1;
        while (count < argc && strncmp(argv[count], "--", 2) != 0)
            count++;
        options->data = argv + 1;
        options->data_count = count - 1;
        return options->data_count ? count : 0;
    }
    if (strcmp(argv[0], "--out") == 0) {
        options->out = argv[1];
        return 2;
    }
    if (strcmp(argv[0], "--k") == 0)
        return read_k(argv[1], &options->k) ? 2 : 0;
    return read_number(options, argv[0], argv[1]) ? 2 : 0;
}

static bool read_options(TuneOptions *options, int argc, char **argv) {
    for (int words; argc > 0; argc -= words, argv += words)
        if ((words = read_option(options, argc, argv)) == 0) {
            fprintf(stderr, "anvil: tune: unknown option or wrong value: %s\n", argv[0]);
            return false;
        }
    if (options->print || (options->data_count && options->out))
        return true;
    fputs("anvil: tune: --data and --out are needed\n", stderr);
    return false;
}

static void print_losses(const char *when, const TuneData *data, const TuneWeights *weights,
                         const TuneOptions *options) {
    int threads = (int)options->threads;
    printf("%-8s training %.6f  validation %.6f\n", when,
           tune_loss(&data->training, weights, options->k, threads),
           tune_loss(&data->validation, weights, options->k, threads));
}

static bool load(TuneData *data, const TuneOptions *options) {
    Refusal err;
    for (int i = 0; i < options->data_count; i++)
        if (!tune_data_load(data, options->data[i], (size_t)options->positions, &err)) {
            fprintf(stderr, "anvil: tune: %s\n", err.message);
            return false;
        }
    printf("%" PRIu64 " games, %" PRIu64
           " positions, quiet: %zu for training, %zu for validation\n",
           data->games, data->seen, data->training.count, data->validation.count);
    if (data->training.count)
        return true;
    fputs("anvil: tune: these games have no quiet position for training\n", stderr);
    return false;
}

static int learn(const TuneData *data, TuneOptions *options) {
    TuneWeights weights;
    EvalValues values;
    Refusal err;
    tune_weights_init(&weights, &EVAL);
    if (!options->k)
        options->k = tune_fit_k(&data->training, &weights, (int)options->threads);
    printf("k %.4f\n", options->k);
    printf("%-8s training %.6f  validation %.6f\n", "constant",
           tune_loss_of_constant(&data->training), tune_loss_of_constant(&data->validation));
    print_losses("before", data, &weights, options);
    fflush(stdout);
    TunePlan plan = {.epochs = (int)options->epochs,
                     .threads = (int)options->threads,
                     .k = options->k,
                     .anchor = (double)options->anchor,
                     .progress = stderr};
    tune_learn(data, &plan, &weights);
    // The output has whole numbers, so the printed loss is that of the rounded values.
    tune_weights_round(&weights, &values);
    tune_weights_init(&weights, &values);
    print_losses("after", data, &weights, options);
    if (options->epochs && memcmp(&values, &EVAL, sizeof values) == 0)
        fputs("anvil: tune: no epoch improved the validation loss; use more games\n", stderr);
    if (values_write(options->out, &values, &err))
        return 0;
    fprintf(stderr, "anvil: tune: %s\n", err.message);
    return 1;
}

int command_tune(int argc, char **argv) {
    TuneOptions options = {
        .epochs = 30, .positions = 2000000, .anchor = 2000, .threads = cpus_usable(THREADS_MAX)};
    if (!read_options(&options, argc, argv))
        return COMMAND_MISUSED;
    if (options.print) {
        values_print(stdout, &EVAL);
        return 0;
    }
    rules_init();
    eval_init();
    TuneData data = {0};
    int status = load(&data, &options) ? learn(&data, &options) : 1;
    tune_data_release(&data);
    return status;
}
