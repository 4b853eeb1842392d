// `tune`: learns the values of the classical evaluation from games and writes them as C source.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "commands/commands.h"
#include "eval/eval.h"
#include "learn/cpus.h"
#include "learn/tune.h"

enum { THREADS_MAX = 1024 };

const char TUNE_USAGE[] =
    "usage: tune --data DIR… --out FILE [OPTION…]\n"
    "  --data DIR…        games of `engine datagen`: folders, or files\n"
    "  --out FILE         where the values go; it is to replace engine/eval/values.c\n"
    "  --epochs N         times that every position is seen (30)\n"
    "  --positions N      quiet positions to take at most (2000000), some 350 bytes of memory "
    "each\n"
    "  --threads N        (all processors)\n"
    "  --k X              how steeply chances rise with the score (fitted to the present values)\n"
    "  --anchor N         keep values as if N positions spoke for what they are (2000)\n"
    "  --print            instead: print the values that the engine plays with\n";

typedef struct Wish {
    char **data;
    int data_count;
    int64_t epochs, positions, threads, anchor;
    double k;
    const char *out;
    bool print;
} Wish;

static bool read_k(const char *value, double *out) {
    char *end;
    *out = strtod(value, &end);
    return end != value && *end == '\0' && *out > 0.01 && *out < 100;
}

static bool read_number(Wish *wish, const char *name, const char *value) {
    const struct {
        const char *name;
        int64_t least, most;
        int64_t *out;
    } options[] = {
        {"--epochs", 0, 100000, &wish->epochs},
        {"--positions", 1, UINT32_MAX, &wish->positions},
        {"--threads", 1, THREADS_MAX, &wish->threads},
        {"--anchor", 0, UINT32_MAX, &wish->anchor},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(name, options[i].name) == 0)
            return word_to_int((Word){value, strlen(value)}, options[i].least, options[i].most,
                               options[i].out);
    return false;
}

// Reads the option at argv[0]; returns how many words it takes, 0 if it is none.
static int read_option(Wish *wish, int argc, char **argv) {
    if (strcmp(argv[0], "--print") == 0) {
        wish->print = true;
        return 1;
    }
    if (argc < 2)
        return 0;
    if (strcmp(argv[0], "--data") == 0) {
        int count = 1;
        while (count < argc && strncmp(argv[count], "--", 2) != 0)
            count++;
        wish->data = argv + 1;
        wish->data_count = count - 1;
        return wish->data_count ? count : 0;
    }
    if (strcmp(argv[0], "--out") == 0) {
        wish->out = argv[1];
        return 2;
    }
    if (strcmp(argv[0], "--k") == 0)
        return read_k(argv[1], &wish->k) ? 2 : 0;
    return read_number(wish, argv[0], argv[1]) ? 2 : 0;
}

static bool read_wish(Wish *wish, int argc, char **argv) {
    for (int words; argc > 0; argc -= words, argv += words)
        if ((words = read_option(wish, argc, argv)) == 0) {
            fprintf(stderr, "anvil: tune: cannot read %s\n", argv[0]);
            return false;
        }
    if (wish->print || (wish->data_count && wish->out))
        return true;
    fputs("anvil: tune: --data and --out are needed\n", stderr);
    return false;
}

static void print_losses(const char *when, const TuneData *data, const TuneWeights *weights,
                         const Wish *wish) {
    int threads = (int)wish->threads;
    printf("%-8s training %.6f  validation %.6f\n", when,
           tune_loss(&data->training, weights, wish->k, threads),
           tune_loss(&data->validation, weights, wish->k, threads));
}

static bool load(TuneData *data, const Wish *wish) {
    Refusal err;
    for (int i = 0; i < wish->data_count; i++)
        if (!tune_data_load(data, wish->data[i], (size_t)wish->positions, &err)) {
            fprintf(stderr, "anvil: tune: %s\n", err.message);
            return false;
        }
    printf("%" PRIu64 " games, %" PRIu64 " positions, quiet: %zu to learn from, %zu to check\n",
           data->games, data->seen, data->training.count, data->validation.count);
    if (data->training.count)
        return true;
    fputs("anvil: tune: no quiet position in these games\n", stderr);
    return false;
}

static int learn(const TuneData *data, Wish *wish) {
    TuneWeights weights;
    EvalValues values;
    Refusal err;
    tune_weights_init(&weights, &EVAL);
    if (!wish->k)
        wish->k = tune_fit_k(&data->training, &weights, (int)wish->threads);
    printf("k %.4f\n", wish->k);
    printf("%-8s training %.6f  validation %.6f\n", "constant",
           tune_loss_of_constant(&data->training), tune_loss_of_constant(&data->validation));
    print_losses("before", data, &weights, wish);
    fflush(stdout);
    TunePlan plan = {.epochs = (int)wish->epochs,
                     .threads = (int)wish->threads,
                     .k = wish->k,
                     .anchor = (double)wish->anchor,
                     .progress = stderr};
    tune_learn(data, &plan, &weights);
    // What is written is whole numbers; their loss is what counts.
    tune_weights_round(&weights, &values);
    tune_weights_init(&weights, &values);
    print_losses("after", data, &weights, wish);
    if (wish->epochs && memcmp(&values, &EVAL, sizeof values) == 0)
        fputs("anvil: tune: no epoch did better on the games kept apart; it takes more games\n",
              stderr);
    if (values_write(wish->out, &values, &err))
        return 0;
    fprintf(stderr, "anvil: tune: %s\n", err.message);
    return 1;
}

int command_tune(int argc, char **argv) {
    Wish wish = {
        .epochs = 30, .positions = 2000000, .anchor = 2000, .threads = cpus_usable(THREADS_MAX)};
    if (!read_wish(&wish, argc, argv))
        return COMMAND_MISUSED;
    if (wish.print) {
        values_print(stdout, &EVAL);
        return 0;
    }
    rules_init();
    eval_init();
    TuneData data = {0};
    int status = load(&data, &wish) ? learn(&data, &wish) : 1;
    tune_data_release(&data);
    return status;
}
