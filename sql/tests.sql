-- Queries of submitting, approving, changing and merging tests. What workers do is in ledger.sql.

-- name: test_add
INSERT INTO tests (engine_id, author_id, title, description, created, base_commit, new_commit,
                   base_options, new_options, kind, model, elo0, elo1, alpha, beta, tc, threads,
                   book_id, seed, variant, adjudication, batch_pairs, pairs_max, priority, state,
                   retest_of)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20,
        ?21, ?22, ?23, ?24, 'pending', nullif(?25, 0))

-- name: test_for_change
SELECT t.id, t.engine_id, e.name AS engine, e.branch, e.baseline, t.author_id, t.title,
       t.description, t.base_commit, t.new_commit, t.base_options, t.new_options, t.kind, t.model,
       t.elo0, t.elo1, t.alpha, t.beta, t.tc, t.threads, t.book_id, b.name AS book, t.seed,
       t.variant, t.adjudication AS adjudication_json, t.batch_pairs, t.pairs_max, t.priority,
       t.state, t.result, t.merged_commit, t.next_pair, t.wins + t.losses + t.draws AS games
FROM tests t JOIN engines e ON e.id = t.engine_id JOIN books b ON b.id = t.book_id
WHERE t.id = ?1

-- name: test_modify
UPDATE tests SET title = ?2, description = ?3, base_options = ?4, new_options = ?5, model = ?6,
                 elo0 = ?7, elo1 = ?8, alpha = ?9, beta = ?10, tc = ?11, threads = ?12,
                 book_id = ?13, seed = ?14, variant = ?15, adjudication = ?16, batch_pairs = ?17,
                 pairs_max = ?18, priority = ?19
WHERE id = ?1

-- Everything that will run on the machines of others, and the bounds that end it.
-- name: test_approval
SELECT e.name AS engine, e.build, t.base_commit, t.new_commit, cb.snapshot AS base_snapshot,
       cn.snapshot AS new_snapshot, nullif(cb.files, '[]') AS base_files, nullif(cn.files, '[]') AS new_files,
       t.base_options, t.new_options, t.kind, t.model, t.elo0, t.elo1,
       t.alpha, t.beta, t.tc, t.threads, b.blob AS book, t.seed, t.variant, t.adjudication,
       t.batch_pairs
FROM tests t JOIN engines e ON e.id = t.engine_id JOIN books b ON b.id = t.book_id
     JOIN commits cb ON cb.engine_id = t.engine_id AND cb.sha = t.base_commit
     JOIN commits cn ON cn.engine_id = t.engine_id AND cn.sha = t.new_commit
WHERE t.id = ?1

-- name: test_merged
UPDATE tests SET merged_commit = ?2, merged = ?3 WHERE id = ?1

-- name: test_commit
SELECT new_commit FROM tests WHERE id = ?1 AND engine_id = ?2

-- name: test_retest
SELECT coalesce(max(id), 0) FROM tests WHERE retest_of = ?1 AND base_commit = ?2

-- name: book_by_name
SELECT id, chess960 FROM books WHERE engine_id = ?1 AND name = ?2

-- name: book_default
SELECT id, name FROM books WHERE engine_id = ?1 AND chess960 = ?2 ORDER BY id LIMIT 1

-- name: book_names
SELECT coalesce(group_concat(name, ', '), '') FROM (SELECT name FROM books WHERE engine_id = ?1 ORDER BY id)

-- name: preset_by_name
SELECT fields AS fields_json FROM presets WHERE engine_id = ?1 AND name = ?2
