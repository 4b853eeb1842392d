// See submission.h.
#include "server/submit/submission.h"

#include <stdlib.h>

#include "server/submit/in_progress.h"

void submission_free(void *submission) {
    Submission *s = submission;
    if (!s)
        return;
    json_decref(s->fields);
    sql_row_free(&s->engine);
    git_repository_free(s->repo); // before the draft, which it writes to
    draft_free(s->draft);
    commit_record_release(&s->base_record);
    commit_record_release(&s->new_record);
    submission_end(s);
    free(s);
}

bool submission_problem(json_t *problems, const Error *err) {
    int status = err->status;
    if (!status || status == 401 || status == 403 || status == 429 || status >= 500)
        return false;
    json_array_append_new(problems,
                          json_pack("{s:s, s:s?, s:s}", "code", err->code, "field",
                                    *err->field ? err->field : NULL, "message", err->message));
    return true;
}

bool submission_goes_on(Submission *s, const Error *err) {
    return s->problems && submission_problem(s->problems, err);
}

void submission_end(Submission *s) {
    if (s->submitter)
        in_progress_end(s->submitter);
    s->submitter = 0;
}
