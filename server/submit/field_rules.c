// See field_rules.h.
#include "server/submit/field_rules.h"

#include <string.h>

#include "server/ledger/workload.h"
#include "server/patch/patch.h"

// The fields of every test, in the order of the form. A workload has fields of its own
// (ledger/workload.h).
static const CommonField common_fields[] = {
    {{.name = "title", .kind = FIELD_LINE, .change = CHANGE_FREELY, .low = 1, .high = 120},
     .part = "change",
     .label = "Title",
     .flags = SHOW_FULL,
     .hint = "What the patch changes, in a few words. If it is empty, the subject of the "
             "mailed patch or of the commit becomes the title."},
    {{.name = "description",
      .kind = FIELD_TEXT,
      .change = CHANGE_FREELY,
      .high = 10000,
      .fallback = ""},
     .part = "change",
     .label = "Why",
     .flags = SHOW_FULL | SHOW_OPTIONAL,
     .hint = "What you expect of the patch, and what led you to it. The text becomes the "
             "body of the commit message."},
    {{.name = "engine", .kind = FIELD_LINE, .change = CHANGE_NEVER, .low = 1, .high = 40},
     .part = NULL},
    {{.name = "preset", .kind = FIELD_LINE, .change = CHANGE_NEVER, .low = 1, .high = 60},
     .part = NULL},
    {{.name = "patch", .kind = FIELD_TEXT, .change = CHANGE_NEVER, .high = PATCH_BYTES_MAX * 2},
     .part = "change",
     .label = "Patch",
     .flags = SHOW_FULL | SHOW_CODE,
     .hint = "The output of `git diff`, `git format-patch` (also several mails) or `diff "
             "-u` against the base below. The patch must apply exactly: the server does "
             "not search for offsets. The command that gets the source is at the foot of "
             "this page."},
    {{.name = "commit", .kind = FIELD_LINE, .change = CHANGE_NEVER, .low = 1, .high = 200},
     .part = "change",
     .label = "… or a commit",
     .flags = SHOW_CODE,
     .hint = "Instead of a patch, name a branch or commit of the repository on this "
             "server, or the commit of another test: `test:42`."},
    {{.name = "base",
      .kind = FIELD_LINE,
      .change = CHANGE_NEVER,
      .low = 1,
      .high = 200,
      .fallback = "baseline"},
     .part = "against",
     .label = "Base",
     .flags = SHOW_CODE,
     .hint = "The patch plays against this commit: `baseline` (now {baseline}), a branch, "
             "a commit, or the commit of another test: `test:42`."},
    {{.name = "bench", .kind = FIELD_WHOLE, .change = CHANGE_NEVER, .low = 1, .high = 1e15},
     .part = "against",
     .label = "Bench",
     .hint = "The number of nodes that `bench` prints with the patch. It is the same on "
             "every machine, so workers check their builds by it. If it is empty, the "
             "server takes the last line `Bench: N` of the message. Without such a line, "
             "the first workers that build the patch establish it."},
    {{.name = "workload", .kind = FIELD_WORKLOAD, .change = CHANGE_NEVER, .fallback = "sprt"},
     .part = "decides",
     .label = "Kind",
     .hint = "An SPRT ends as soon as the result is clear. A fixed test plays all its "
             "games and estimates the difference. A test that stops at ± Elo ends when it "
             "knows the difference with that error."},
    {{.name = "tc", .kind = FIELD_TC, .change = CHANGE_EARLY, .fallback = "10+0.1"},
     .part = "decides",
     .label = "Time control",
     .hint = "Seconds and increment: `10+0.1`. Also `40/10+0.1`, `st=0.1`, `nodes=20000` "
             "and `depth=8`. Clocks are scaled to the speed of each machine."},
    {{.name = "pairs_max",
      .kind = FIELD_WHOLE,
      .change = CHANGE_FREELY,
      .low = 1,
      .high = 10000000},
     .part = NULL},
    {{.name = "games", .kind = FIELD_WHOLE, .change = CHANGE_FREELY, .low = 2, .high = 20000000},
     .part = "decides",
     .label = "Games at most",
     .hint = "A fixed test plays this number of games. Another test ends there if it is "
             "still undecided. If the field is empty: {lengths}."},
    {{.name = "new_options",
      .kind = FIELD_OPTIONS,
      .change = CHANGE_EARLY,
      .high = 1000,
      .fallback = "Hash=16"},
     .part = "more",
     .label = "Options of the patch",
     .hint = "UCI options as `Name=value`, separated by blanks. A name or a value with "
             "blanks stands in quotes: `\"Move Overhead\"=10`. The field Threads below sets "
             "the threads."},
    {{.name = "base_options",
      .kind = FIELD_OPTIONS,
      .change = CHANGE_EARLY,
      .high = 1000,
      .fallback = "Hash=16"},
     .part = "more",
     .label = "Options of the base",
     .hint = "The same as for the patch, unless the test compares options."},
    {{.name = "threads",
      .kind = FIELD_WHOLE,
      .change = CHANGE_EARLY,
      .low = 1,
      .high = 1024,
      .fallback = "1"},
     .part = "more",
     .label = "Threads",
     .hint = "The threads of each engine. A game uses as many cores as one engine has "
             "threads."},
    {{.name = "book", .kind = FIELD_LINE, .change = CHANGE_UNDEALT, .low = 1, .high = 100},
     .part = "more",
     .label = "Book",
     .hint = "Both games of a pair start from the same opening, with colours exchanged. No "
             "opening is used again before all others of the book were used."},
    {{.name = "variant",
      .kind = FIELD_CHOICE,
      .change = CHANGE_UNDEALT,
      .fallback = "standard",
      .choices = "standard|chess960"},
     .part = "more",
     .label = "Variant",
     .hint = "Chess960 needs a book with openings of Chess960."},
    {{.name = "priority",
      .kind = FIELD_WHOLE,
      .change = CHANGE_FREELY,
      .low = -1000,
      .high = 1000,
      .fallback = "0"},
     .part = "more",
     .label = "Priority",
     .hint = "A test of higher priority gets machines first. 0 is the usual priority."},
    {{.name = "batch_pairs", .kind = FIELD_WHOLE, .change = CHANGE_UNDEALT, .low = 1, .high = 1000},
     .part = "more",
     .label = "Pairs in a batch",
     .hint = "A worker reports this number of pairs at once. If the field is empty, the "
             "time control decides: 16 pairs for short games, 1 for long ones."},
    {{.name = "base_bench", .kind = FIELD_WHOLE, .change = CHANGE_NEVER, .low = 1, .high = 1e15},
     .part = "more",
     .label = "Bench of the base",
     .hint = "Needed only if the bench of the base is not known yet."},
    {{.name = "adjudication",
      .kind = FIELD_CHOICE,
      .change = CHANGE_EARLY,
      .fallback = "on",
      .choices = "on|off"},
     .part = "adjudication",
     .label = "Adjudication",
     .hint = "If it is off, every game is played to its end by the rules of chess."},
    {{.name = "resign",
      .kind = FIELD_CHOICE,
      .change = CHANGE_EARLY,
      .fallback = "on",
      .choices = "on|off"},
     .part = "adjudication",
     .label = "Resigning",
     .hint = "An engine loses the game if its own scores stay as low as the next fields "
             "say."},
    {{.name = "resign_score",
      .kind = FIELD_WHOLE,
      .change = CHANGE_EARLY,
      .low = 1,
      .high = 100000,
      .fallback = "600"},
     .part = "adjudication",
     .label = "… at centipawns",
     .hint = "The engine's score is this far below zero, or further."},
    {{.name = "resign_count",
      .kind = FIELD_WHOLE,
      .change = CHANGE_EARLY,
      .high = 1000,
      .fallback = "3"},
     .part = "adjudication",
     .label = "… for moves",
     .hint = "The number of consecutive moves of the engine with such a score."},
    {{.name = "resign_two_sided",
      .kind = FIELD_CHOICE,
      .change = CHANGE_EARLY,
      .fallback = "off",
      .choices = "on|off"},
     .part = "adjudication",
     .label = "… both must agree",
     .hint = "If it is on, the opponent's scores must show the win as well. If it is off, "
             "the scores of the losing engine are enough."},
    {{.name = "draw",
      .kind = FIELD_CHOICE,
      .change = CHANGE_EARLY,
      .fallback = "on",
      .choices = "on|off"},
     .part = "adjudication",
     .label = "Draws",
     .hint = "The game is a draw if the scores of both engines stay near zero."},
    {{.name = "draw_move",
      .kind = FIELD_WHOLE,
      .change = CHANGE_EARLY,
      .high = 1000,
      .fallback = "34"},
     .part = "adjudication",
     .label = "… after move",
     .hint = "Games are not drawn before this move."},
    {{.name = "draw_score",
      .kind = FIELD_WHOLE,
      .change = CHANGE_EARLY,
      .high = 100000,
      .fallback = "20"},
     .part = "adjudication",
     .label = "… within centipawns",
     .hint = "The scores of both engines are at most this far from zero."},
    {{.name = "draw_count",
      .kind = FIELD_WHOLE,
      .change = CHANGE_EARLY,
      .high = 1000,
      .fallback = "8"},
     .part = "adjudication",
     .label = "… for moves",
     .hint = "The number of consecutive moves of each engine with such a score."},
    {{.name = "max_moves",
      .kind = FIELD_WHOLE,
      .change = CHANGE_EARLY,
      .high = 5000,
      .fallback = "0"},
     .part = "adjudication",
     .label = "Longest game",
     .hint = "A game with this many moves after its opening is drawn. 0 means that there "
             "is no limit."},
};

enum { COMMON_FIELDS = sizeof common_fields / sizeof *common_fields };

const CommonField *common_field_at(int index) {
    return index < COMMON_FIELDS ? &common_fields[index] : NULL;
}

const FieldRule *submit_rule_at(int index) {
    if (index < COMMON_FIELDS)
        return &common_fields[index].rule;
    index -= COMMON_FIELDS;
    for (int w = 0; w < workload_count(); w++)
        for (const WorkloadField *field = workload_at(w)->fields; field->rule.name; field++)
            if (index-- == 0)
                return &field->rule;
    return NULL;
}

const FieldRule *submit_rule(const char *name) {
    const FieldRule *rule;
    for (int i = 0; (rule = submit_rule_at(i)); i++)
        if (strcmp(rule->name, name) == 0)
            return rule;
    return NULL;
}

bool submit_rule_fits(const FieldRule *rule, const char *workload) {
    const Workload *of = workload_named(workload);
    const WorkloadField *field = workload_field(rule->name);
    if (!field || !of)
        return !field;
    for (const WorkloadField *own = of->fields; own->rule.name; own++)
        if (own == field)
            return true;
    return false;
}
