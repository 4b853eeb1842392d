// `train`: from game files to a net. It reads the options and the games, trains, and writes the
// net. A run can be continued after any complete epoch.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpus.h"
#include "commands/commands.h"
#include "eval/eval.h"
#include "learn/meter.h"
#include "learn/train_checkpoint.h"
#include "learn/train_finish.h"
#include "learn/train_output.h"
#include "search/timer.h"

typedef struct TrainOptions {
    TrainSettings settings;
    TrainSetOptions set;
    const char *folders[TRAIN_FOLDERS_MAX];
    const char *out, *from;
    int64_t validation;
    bool resume;
} TrainOptions;

const char TRAIN_USAGE[] =
    "usage: train --data DIR… --out DIR [OPTION…]\n"
    "Trains a net on games.\n"
    "  --data DIR…        folders of game files (*.anvil) of datagen\n"
    "  --out DIR          folder for the net, the checkpoint and the loss curves\n"
    "  --from NET         starts from this compact net instead of random weights\n"
    "  --buckets N        king buckets: 1, 2, 4, 8 or 16 (4); use 8 from about 50 million "
    "positions\n"
    "  --epochs N         number of epochs; each uses every position once (20)\n"
    "  --batch N          positions in a step (4096)\n"
    "  --lr X             highest learning rate (0.001)\n"
    "  --lambda X         share of the score in the target; the result has the rest (1)\n"
    "  --trace X          share of the next position's target in a position's target (0.6)\n"
    "  --scale X          units (208 are a pawn) that mean a winning chance of 73 % (361)\n"
    "  --decay X          weight decay (0.01)\n"
    "  --threads N        number of threads (the number of CPUs)\n"
    "  --seed N           seed of the first weights and of the order of positions (1)\n"
    "  --limit N          largest number of positions (0: no limit)\n"
    "  --validation N     percentage of games used for validation only (3)\n"
    "  --correlation X    lowest allowed correlation of scores and results (0.4)\n"
    "  --resume           continues the same command after its last complete epoch; without a\n"
    "                     checkpoint it starts from the beginning\n";

// ---- options -----------------------------------------------------------------------------------

static bool read_real(const char *text, double least, double most, double *out) {
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (end == text || *end || errno || !(value >= least && value <= most))
        return false;
    *out = value;
    return true;
}

static bool read_whole(const char *text, int64_t least, int64_t most, int64_t *out) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end || errno || value < least || value > most)
        return false;
    *out = value;
    return true;
}

static bool refuse_value(const char *name, const char *value, double least, double most) {
    fprintf(stderr, "anvil: train: %s %.40s: give a number from %.10g to %.10g\n", name, value,
            least, most);
    return false;
}

static bool read_option(TrainOptions *options, const char *name, const char *value) {
    TrainSettings *settings = &options->settings;
    int64_t seed = (int64_t)settings->seed;
    const struct {
        const char *name;
        int64_t least, most;
        int64_t *out;
    } wholes[] = {
        {"--buckets", 1, NET_BUCKETS_MAX, &settings->buckets},
        {"--epochs", 1, TRAIN_EPOCHS_MAX, &settings->epochs},
        {"--batch", 1, 1 << 24, &settings->batch},
        {"--threads", 1, CREW_MAX, &settings->threads},
        {"--seed", 0, INT32_MAX, &seed},
        {"--limit", 0, INT32_MAX, &options->set.limit},
        {"--validation", 1, 50, &options->validation},
    };
    const struct {
        const char *name;
        double least, most;
        double *out;
    } reals[] = {
        {"--lr", 0, 1, &settings->rate},
        {"--lambda", 0, 1, &settings->lambda},
        {"--scale", 1, 10000, &settings->scale},
        {"--decay", 0, 1, &settings->decay},
        {"--trace", 0, 0.99, &options->set.trace},
        {"--correlation", -1, 1, &options->set.correlation},
    };
    bool good = false;
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++)
        if (strcmp(name, wholes[i].name) == 0)
            good = read_whole(value, wholes[i].least, wholes[i].most, wholes[i].out) ||
                   refuse_value(name, value, (double)wholes[i].least, (double)wholes[i].most);
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        if (strcmp(name, reals[i].name) == 0)
            good = read_real(value, reals[i].least, reals[i].most, reals[i].out) ||
                   refuse_value(name, value, reals[i].least, reals[i].most);
    settings->seed = (uint64_t)seed;
    options->set.seed = settings->seed;
    return good;
}

// Reads the option at argv[0] and returns how many words it takes; 0 if it is not a valid option.
static int read_words(TrainOptions *options, int argc, char **argv) {
    if (strcmp(argv[0], "--resume") == 0) {
        options->resume = true;
        return 1;
    }
    if (strcmp(argv[0], "--data") == 0) {
        int words = 1;
        while (words < argc && strncmp(argv[words], "--", 2) != 0) {
            if (options->set.folder_count == TRAIN_FOLDERS_MAX)
                return 0;
            options->folders[options->set.folder_count++] = argv[words++];
        }
        return words > 1 ? words : 0;
    }
    if (argc < 2)
        return 0;
    if (strcmp(argv[0], "--out") == 0)
        options->out = argv[1];
    else if (strcmp(argv[0], "--from") == 0)
        options->from = argv[1];
    else if (!read_option(options, argv[0], argv[1]))
        return 0;
    return 2;
}

static bool read_options(TrainOptions *options, int argc, char **argv) {
    *options = (TrainOptions){.settings = {.buckets = 4,
                                           .epochs = 20,
                                           .batch = 4096,
                                           .threads = cpus_usable(CREW_MAX),
                                           .seed = 1,
                                           .rate = 0.001,
                                           .lambda = 1,
                                           .scale = 361,
                                           .decay = 0.01},
                              .set = {.seed = 1, .trace = 0.6, .correlation = 0.4},
                              .validation = 3};
    for (int i = 0, words; i < argc; i += words)
        if ((words = read_words(options, argc - i, argv + i)) == 0) {
            fprintf(stderr, "anvil: train: unknown option or wrong value: %s\n", argv[i]);
            return false;
        }
    const char *wrong =
        !train_buckets((int)options->settings.buckets) ? "--buckets must be 1, 2, 4, 8 or 16"
        : !options->out || !options->set.folder_count  ? "--data and --out are needed"
                                                       : NULL;
    if (wrong) {
        fprintf(stderr, "anvil: train: %s\n", wrong);
        return false;
    }
    options->set.folders = options->folders;
    options->set.scale = options->settings.scale;
    options->set.validation = (int)options->validation;
    return true;
}

// ---- output ------------------------------------------------------------------------------------

static void print_set(const TrainSet *set) {
    printf("%" PRId64 " files (%" PRId64 " damaged), %" PRId64 " games, %" PRId64 " plies\n",
           set->files, set->damaged, set->games, set->plies);
    for (int i = 0; i < DROP_NB; i++)
        printf("  %12" PRId64 "  %5.1f %%  %s\n", set->dropped[i],
               set->plies ? 100.0 * (double)set->dropped[i] / (double)set->plies : 0,
               train_drop_texts[i]);
    printf("correlation of scores and results: %.3f\n", correlation_of(&set->sums));
    printf("%zu positions for training, %zu for validation\n", set->training.count,
           set->validation.count);
}

typedef struct TrainRun {
    TrainOptions options;
    CompactNet from; // the net of --from, otherwise empty
    TrainSet set;
    Trainer trainer;
    TrainHistory history;
    uint64_t fingerprint;
    int64_t begun_us, shown_us; // start of this epoch, and time of the last progress line
} TrainRun;

// The time until the last epoch ends, when `done` positions of the current epoch are done.
static char *time_left(const TrainRun *run, int64_t done, double speed, char out[METER_TEXT_MAX]) {
    int64_t epochs = run->options.settings.epochs - run->trainer.epoch;
    double positions = (double)run->set.training.count * (double)epochs - (double)done;
    return meter_duration((uint64_t)(positions / speed), out);
}

// Shows a progress line on a terminal. It is overwritten each time, and erased after the epoch.
static void show_progress(int64_t done, int64_t total, void *where) {
    TrainRun *run = where;
    char left[METER_TEXT_MAX], speed_text[METER_TEXT_MAX];
    int64_t now_us = clock_now_us();
    double speed = 1e6 * (double)done / (double)(now_us - run->begun_us + 1);
    if (done == total)
        fputs("\r\x1b[K", stderr);
    else if (now_us - run->shown_us >= 500000)
        fprintf(stderr, "\repoch %" PRId64 "/%" PRId64 ": %d %%, %s positions/s, %s left\x1b[K",
                run->trainer.epoch + 1, run->options.settings.epochs, (int)(100 * done / total),
                meter_count((uint64_t)speed, speed_text), time_left(run, done, speed, left));
    else
        return;
    run->shown_us = now_us;
}

static void print_row(const TrainRun *run) {
    const TrainHistory *history = &run->history;
    const TrainRow *row = &history->rows[history->count - 1];
    char left[METER_TEXT_MAX];
    printf("epoch %" PRId64 "/%" PRId64 ": step %" PRId64 ", rate %.6f, %.0f positions/s, training "
           "loss %.6f, validation loss %.6f (classical evaluation %.6f, constant %.6f), %s left\n",
           row->epoch, run->options.settings.epochs, row->steps, row->rate, row->speed,
           row->training, row->validation, history->classical, history->constant,
           time_left(run, 0, row->speed, left));
}

// ---- the run -----------------------------------------------------------------------------------

static bool write_history(const TrainRun *run, Refusal *err) {
    size_t csv_size, svg_size;
    char *csv = history_csv(&run->history, &csv_size);
    char *svg = history_svg(&run->history, &svg_size);
    bool good = output_write(run->options.out, "loss.csv", csv, csv_size, err) &&
                output_write(run->options.out, "loss.svg", svg, svg_size, err);
    free(csv);
    free(svg);
    return good;
}

static bool run_epoch(TrainRun *run, Refusal *err) {
    Trainer *trainer = &run->trainer;
    run->begun_us = clock_now_us();
    double training = trainer_epoch(trainer, &run->set.training);
    double seconds = 1e-6 * (double)(clock_now_us() - run->begun_us + 1);
    int64_t steps = trainer->optimiser.steps;
    int64_t total =
        trainer_steps(&trainer->settings, run->set.training.count) * trainer->settings.epochs;
    run->history.rows[run->history.count++] =
        (TrainRow){.epoch = trainer->epoch,
                   .steps = steps,
                   .rate = optimiser_schedule(trainer->settings.rate, steps - 1, total),
                   .training = training,
                   .validation = trainer_loss(trainer, &run->set.validation),
                   .speed = (double)run->set.training.count / seconds};
    print_row(run);
    return checkpoint_write(run->options.out, trainer, run->fingerprint, &run->history, err) &&
           write_history(run, err);
}

static void begin_from(TrainRun *run) {
    train_dequantise(&run->from, run->trainer.bucket_of, &run->trainer.optimiser.learned);
    trainer_refold(&run->trainer);
    printf("starting from %s: validation loss %.6f\n", run->options.from,
           trainer_loss(&run->trainer, &run->set.validation));
}

// Reads the net of --from. This is done before the games are read, because reading them takes long
// and a wrong name should be reported early.
static bool read_from(TrainRun *run, Refusal *err) {
    Refusal reason;
    if (!run->options.from)
        return true;
    return compact_load(&run->from, run->options.from, &reason) ||
           refused(err, "%.60s: %s", run->options.from, reason.message);
}

static bool run_begin(TrainRun *run, Refusal *err) {
    trainer_init(&run->trainer, &run->options.settings);
    run->fingerprint = train_set_fingerprint(&run->set);
    TrainBaselines baselines = trainer_baselines(&run->trainer, &run->set);
    run->history.constant = baselines.constant;
    run->history.classical = baselines.classical;
    bool is_there = checkpoint_exists(run->options.out);
    if (is_there && !run->options.resume)
        fprintf(stderr,
                "anvil: train: the first epoch will replace the checkpoint in %s; --resume "
                "continues from it\n",
                run->options.out);
    if (!is_there || !run->options.resume) {
        if (run->options.from)
            begin_from(run);
        return true;
    }
    if (!checkpoint_read(run->options.out, &run->trainer, run->fingerprint, &run->history, err))
        return false;
    printf("continuing after epoch %" PRId64 "\n", run->trainer.epoch);
    return true;
}

static bool run_all(TrainRun *run, Refusal *err) {
    if (!output_folder(run->options.out, err) || !read_from(run, err) ||
        !train_set_load(&run->set, &run->options.set, err))
        return false;
    print_set(&run->set);
    if (!run_begin(run, err))
        return false;
    if (isatty(STDERR_FILENO)) {
        run->trainer.progress = show_progress;
        run->trainer.progress_where = run;
    }
    while (run->trainer.epoch < run->options.settings.epochs)
        if (!run_epoch(run, err))
            return false;
    return train_finish(&run->trainer, &run->set, run->options.out, err);
}

int command_train(int argc, char **argv) {
    TrainRun *run = calloc(1, sizeof *run);
    Refusal err = {"out of memory"};
    if (run && !read_options(&run->options, argc, argv)) {
        free(run);
        return COMMAND_MISUSED;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    rules_init();
    eval_init();
    bool good = run && run_all(run, &err);
    if (!good)
        fprintf(stderr, "anvil: train: %s\n", err.message);
    if (run) {
        trainer_release(&run->trainer);
        train_set_release(&run->set);
        compact_release(&run->from);
    }
    free(run);
    return good ? 0 : 1;
}
