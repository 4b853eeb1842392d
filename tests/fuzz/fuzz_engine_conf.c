// Any bytes as cutechess's engines.json: refused with a reason, or an engine with a program.
#include <stdint.h>
#include <stdlib.h>

#include "server/common/str.h"
#include "worker/match_cli/args.h"
#include "worker/match_cli/engine_conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    scope(match_args_release) MatchArgs args = {0};
    EngineArgs engine = {.threads = 1};
    Error err = {0};
    bool fine = engine_conf_parse(&args, &engine, (const char *)data, size, "A", &err);
    if (!fine && !err.message[0])
        abort();
    if (fine && (!engine.command || engine.argc > MATCH_ENGINE_ARGS_MAX || engine.threads < 1 ||
                 engine.option_count > MATCH_ENGINE_OPTIONS_MAX))
        abort();
    return 0;
}
