// Who signed a batch. See ledger.h.
#include "server/common/batch_signature.h"
#include "server/common/str.h"
#include "server/ledger/ledger.h"
#include "sql/ledger.h"

static bool is_bad(Error *err, const char *field, const char *why) {
    return error_field(err, 422, "bad_signature", field, "%s", why);
}

// A task that is not the machine's is left to ledger_batch(), which says so.
bool ledger_batch_signed(Turn *reader, Batch *batch, Error *err) {
    SqlLedgerSigner signer scope(sql_row_free) = {0};
    if (!sql_ledger_signer(reader->db, &signer, .public_key = batch->public_key,
                           .task = batch->task, .worker = batch->worker))
        return true;
    if (!signer.key)
        return is_bad(err, "key",
                      "this machine did not register with this key: register again, and sign with "
                      "the key that you name then");
    SignedBatch what = {.installation = signer.installation,
                        .test = signer.test,
                        .task = batch->task,
                        .seq = batch->seq,
                        .games_sha256 = batch->games_sha256,
                        .tc = batch->tc,
                        .thought = batch->thought,
                        .result = batch->result};
    char *text scope(free_ptr) = signed_text(&what);
    if (!text || !signature_fits(batch->public_key, text, batch->signature))
        return is_bad(err, "signature",
                      "the signature does not fit: it must be of exactly this batch of this test "
                      "on this server, by the key that the batch names");
    batch->key = signer.key;
    return true;
}
