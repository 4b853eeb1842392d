// A checkpoint has a header, the rows of the loss history, the weights and both moments as in
// memory, and a CRC-32 of everything before it.
#include "learn/train_checkpoint.h"

#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "learn/train_output.h"

static const char NAME[] = "checkpoint";
static const char CHECKPOINT_MAGIC[24] = "anvil checkpoint 1\n";

typedef struct Head {
    char magic[sizeof CHECKPOINT_MAGIC];
    TrainSettings settings;
    uint64_t fingerprint; // of the positions
    int64_t epoch, steps; // done
    int64_t rows;         // of the history
    double constant, classical;
    int64_t weights; // number of floats in each of the three sets
} Head;

typedef struct Layout {
    size_t rows, weights[3], sum; // offsets
    size_t size;
} Layout;

static Layout layout_of(const Head *head) {
    size_t rows = (size_t)head->rows * sizeof(TrainRow);
    size_t weights = (size_t)head->weights * sizeof(float);
    Layout layout = {.rows = sizeof(Head)};
    for (size_t i = 0; i < 3; i++)
        layout.weights[i] = layout.rows + rows + i * weights;
    layout.sum = layout.weights[2] + weights;
    layout.size = layout.sum + sizeof(uint32_t);
    return layout;
}

// ---- writing -----------------------------------------------------------------------------------

bool checkpoint_write(const char *folder, const Trainer *trainer, uint64_t fingerprint,
                      const TrainHistory *history, Refusal *err) {
    const Optimiser *optimiser = &trainer->optimiser;
    const Weights *sets[3] = {&optimiser->learned, &optimiser->mean, &optimiser->square};
    Head head;
    memset(&head, 0, sizeof head);
    memcpy(head.magic, CHECKPOINT_MAGIC, sizeof CHECKPOINT_MAGIC);
    head.settings = trainer->settings;
    head.fingerprint = fingerprint;
    head.epoch = trainer->epoch;
    head.steps = optimiser->steps;
    head.rows = history->count;
    head.constant = history->constant;
    head.classical = history->classical;
    head.weights = (int64_t)optimiser->learned.count;

    Layout layout = layout_of(&head);
    uint8_t *bytes = malloc(layout.size);
    if (!bytes)
        return refused(err, "out of memory for a checkpoint");
    memcpy(bytes, &head, sizeof head);
    memcpy(bytes + layout.rows, history->rows, layout.weights[0] - layout.rows);
    for (int i = 0; i < 3; i++)
        memcpy(bytes + layout.weights[i], sets[i]->all, sets[i]->count * sizeof(float));
    uint32_t sum = checksum_crc32(0, bytes, layout.sum);
    memcpy(bytes + layout.sum, &sum, sizeof sum);
    bool good = output_write(folder, NAME, bytes, layout.size, err);
    free(bytes);
    return good;
}

// ---- reading -----------------------------------------------------------------------------------

// Refuses a checkpoint of a run with other settings.
static bool settings_agree(const TrainSettings *have, const TrainSettings *want, Refusal *err) {
    const struct {
        const char *name;
        double have, want;
    } rows[] = {
        {"--buckets", (double)have->buckets, (double)want->buckets},
        {"--epochs", (double)have->epochs, (double)want->epochs},
        {"--batch", (double)have->batch, (double)want->batch},
        {"--seed", (double)have->seed, (double)want->seed},
        {"--lr", have->rate, want->rate},
        {"--lambda", have->lambda, want->lambda},
        {"--scale", have->scale, want->scale},
        {"--decay", have->decay, want->decay},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].have != rows[i].want)
            return refused(err, "the checkpoint belongs to a run with %s %g, not %g", rows[i].name,
                           rows[i].have, rows[i].want);
    return true;
}

static bool head_is_whole(const uint8_t *bytes, size_t size, const Head *head, Refusal *err) {
    if (memcmp(head->magic, CHECKPOINT_MAGIC, sizeof CHECKPOINT_MAGIC) != 0)
        return refused(err, "the file checkpoint is not a checkpoint of this version");
    if (head->rows < 0 || head->rows > TRAIN_EPOCHS_MAX || head->weights < 0 ||
        head->weights > INT32_MAX || layout_of(head).size != size)
        return refused(err, "the checkpoint has %zu bytes, which is a wrong size", size);
    uint32_t sum;
    memcpy(&sum, bytes + layout_of(head).sum, sizeof sum);
    if (sum != checksum_crc32(0, bytes, layout_of(head).sum))
        return refused(err, "the checkpoint is damaged: its CRC-32 is wrong");
    return true;
}

static bool head_agrees(const Head *head, const Trainer *trainer, uint64_t fingerprint,
                        Refusal *err) {
    if (!settings_agree(&head->settings, &trainer->settings, err))
        return false;
    if (head->fingerprint != fingerprint)
        return refused(err,
                       "the checkpoint belongs to a run with other positions: use another --out, "
                       "or do not use --resume");
    if (head->weights != (int64_t)trainer->optimiser.learned.count)
        return refused(err, "the checkpoint belongs to a net of another size");
    return true;
}

static void take(const uint8_t *bytes, const Head *head, Trainer *trainer, TrainHistory *history) {
    Optimiser *optimiser = &trainer->optimiser;
    Weights *sets[3] = {&optimiser->learned, &optimiser->mean, &optimiser->square};
    Layout layout = layout_of(head);
    for (int i = 0; i < 3; i++)
        memcpy(sets[i]->all, bytes + layout.weights[i], sets[i]->count * sizeof(float));
    optimiser->steps = head->steps;
    trainer->epoch = head->epoch;
    trainer_refold(trainer);
    history->count = head->rows;
    history->constant = head->constant;
    history->classical = head->classical;
    memcpy(history->rows, bytes + layout.rows, layout.weights[0] - layout.rows);
}

bool checkpoint_exists(const char *folder) {
    return output_exists(folder, NAME);
}

bool checkpoint_read(const char *folder, Trainer *trainer, uint64_t fingerprint,
                     TrainHistory *history, Refusal *err) {
    size_t size = 0;
    uint8_t *bytes = output_read(folder, NAME, &size, err);
    if (!bytes)
        return false;
    Head head = {.epoch = 0};
    bool good = size >= sizeof head || refused(err, "the checkpoint has only %zu bytes", size);
    if (good)
        memcpy(&head, bytes, sizeof head);
    good = good && head_is_whole(bytes, size, &head, err) &&
           head_agrees(&head, trainer, fingerprint, err);
    if (good)
        take(bytes, &head, trainer, history);
    free(bytes);
    return good;
}
