// Any bytes as the command line of build/match, one word a line. A message comes with every
// refusal, and what is accepted makes a match.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/str.h"
#include "worker/match_cli/args.h"

enum { WORDS_MAX = 512 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const MatchArgs *args) {
    if (args->engine_count < 2 || args->seeds < 1)
        abort();
    for (int i = 0; i < args->engine_count; i++) {
        const EngineArgs *engine = &args->engines[i];
        if (!engine->argv[0] || !engine->name || engine->threads < 1 ||
            engine->option_count > MATCH_ENGINE_OPTIONS_MAX || engine->limit.base_ms < 0)
            abort();
    }
    if (args->games < 1 || args->games > 2 || args->rounds < 1 || args->slots < 1)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    scope(free_ptr) char *copy = xstrndup((const char *)data, size);
    const char *words[WORDS_MAX];
    int count = 0;
    for (char *rest = copy, *word; count < WORDS_MAX && (word = strsep(&rest, "\n"));)
        words[count++] = word;
    scope(match_args_release) MatchArgs args;
    Error err = {0};
    bool fine = match_args_parse(&args, count, words, &err);
    if (!fine && !err.message[0])
        abort();
    if (fine && !args.help && !args.version)
        check(&args);
    return 0;
}
