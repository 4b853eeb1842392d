// The end of a training run.
#include "learn/train_finish.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sha256.h"
#include "learn/train_output.h"

// A larger compact net is too large for the repository.
enum { COMPACT_MOST = 2 << 20 };

int train_agreement(const CompactNet *compact, const Network *net, const TrainSet *set) {
    int agree = 0, unused = 0;
    for (int i = 0; i < set->probe_count; i++) {
        TrainPosition packed;
        TrainFeatures features;
        train_position_pack(&set->probes[i], 0, 1, &packed);
        train_position_features(&packed, compact->bucket_of, &features);
        agree +=
            train_quantised(compact, &features, &unused) == network_evaluate(net, &set->probes[i]);
    }
    return agree;
}

// Reads the written net in the same way as the engine, and compares.
static bool bytes_agree(const char *name, const uint8_t *bytes, size_t size,
                        const CompactNet *compact, const TrainSet *set, Refusal *err) {
    Network net;
    Refusal why;
    if (!network_parse(&net, bytes, size, &why))
        return refused(err, "the new file %s cannot be read: %s", name, why.message);
    int agree = train_agreement(compact, &net, set);
    network_release(&net);
    printf("%s: trainer and engine agree on %d of %d positions\n", name, agree, set->probe_count);
    if (agree == set->probe_count)
        return true;
    return refused(err, "%s: trainer and engine disagree on %d positions of %d", name,
                   set->probe_count - agree, set->probe_count);
}

static bool write_compact(const CompactNet *compact, const TrainSet *set, const char *folder,
                          Refusal *err) {
    size_t size;
    char name[SHA256_TEXT_SIZE], line[SHA256_TEXT_SIZE + 1];
    uint8_t *bytes = compact_write(compact, &size);
    sha256_text(bytes, size, name);
    int length = snprintf(line, sizeof line, "%s\n", name);
    bool good = output_write(folder, "net.compact", bytes, size, err) &&
                output_write(folder, name, bytes, size, err) &&
                output_write(folder, "net", line, (size_t)length, err);
    if (good) {
        printf("%s/net.compact: %zu bytes, SHA-256 %s\n", folder, size, name);
        if (size > COMPACT_MOST)
            printf("  the repository accepts at most %d bytes: use fewer buckets\n", COMPACT_MOST);
        good = bytes_agree("net.compact", bytes, size, compact, set, err);
    }
    free(bytes);
    return good;
}

static bool write_published(const CompactNet *compact, const TrainSet *set, const char *folder,
                            Refusal *err) {
    Network net;
    size_t size;
    compact_expand(compact, &net);
    uint8_t *bytes = network_write(&net, &size);
    network_release(&net);
    bool good = output_write(folder, "net.nnue", bytes, size, err);
    if (good) {
        printf("%s/net.nnue: %zu bytes\n", folder, size);
        good = bytes_agree("net.nnue", bytes, size, compact, set, err);
    }
    free(bytes);
    return good;
}

static void print_losses(Trainer *trainer, const CompactNet *compact, const TrainSet *set) {
    int most = 0;
    double validation = trainer_quantised_loss(trainer, compact, &set->validation, &most);
    printf("quantised: validation loss %.6f (unquantised %.6f), largest accumulator %d of 32767\n",
           validation, trainer_loss(trainer, &set->validation), most);
}

bool train_finish(Trainer *trainer, const TrainSet *set, const char *folder, Refusal *err) {
    CompactNet compact;
    train_quantise(&trainer->running, trainer->bucket_of, &compact);
    print_losses(trainer, &compact, set);
    bool good =
        write_compact(&compact, set, folder, err) && write_published(&compact, set, folder, err);
    compact_release(&compact);
    return good;
}
