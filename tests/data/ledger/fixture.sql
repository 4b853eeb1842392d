-- A small installation: one engine, a base and a new commit, a book, three users, four machines
-- (1 and 2 of one user, 3 of another, 4 of nobody), and one test that waits for approval.
INSERT INTO users (id, name, password, created) VALUES (1, 'ada', 'x', 1), (2, 'ben', 'x', 1), (3, 'cyd', 'x', 1);
INSERT INTO engines (id, name, title, baseline, build, reference_commit, reference_speed, created) VALUES
    (1, 'anvil', 'Anvil', '1111111111111111111111111111111111111111',
     '{"directory":".","command":"make EXE=anvil","binary":"anvil","env":{},"bench_args":["bench"]}',
     '1111111111111111111111111111111111111111', 1000000, 1);
INSERT INTO blobs (sha256, size, kind, created) VALUES
    ('cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc', 10, 'book', 1),
    ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 10, 'net', 1);
INSERT INTO commits (engine_id, sha, snapshot, subject, author, created) VALUES
    (1, '1111111111111111111111111111111111111111', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'base', 'ada', 1),
    (1, '2222222222222222222222222222222222222222', 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb', 'new', 'ada', 1);
INSERT INTO trees (engine_id, snapshot, bench) VALUES
    (1, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 2345678);
INSERT INTO books (id, engine_id, name, blob, format, openings, created) VALUES
    (1, 1, 'book', 'cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc', 'epd', 1000, 1);
INSERT INTO workers (id, machine_key_hash, token_hash, user_id, name, version, host, cores, address, created, last_seen) VALUES
    (1, 'k1', 't1', 1, 'one', '1.0', '{}', 4, '10.0.0.1', 1, 0),
    (2, 'k2', 't2', 1, 'two', '1.0', '{}', 4, '10.0.0.1', 1, 0),
    (3, 'k3', 't3', 2, 'three', '1.0', '{}', 4, '10.0.0.3', 1, 0),
    (4, 'k4', 't4', NULL, 'four', '1.0', '{}', 4, '10.0.0.4', 1, 0);
INSERT INTO tests (id, engine_id, author_id, title, created, workload, parameters, book_id, seed, variant, adjudication,
                   batch_pairs, pairs_max, state) VALUES
    (1, 1, 1, 'first', 1, 'sprt', '{"alpha":0.05,"beta":0.05,"elo0":0.0,"elo1":2.0,"model":"normalized"}', 1, 42, 'standard', '{}',
     4, 400000, 'pending');
INSERT INTO sides (test_id, side, engine_id, sha, options, tc, threads, margin_ms) VALUES
    (1, 'new', 1, '2222222222222222222222222222222222222222', 'Hash=16', '10+0.1', 1, 200),
    (1, 'base', 1, '1111111111111111111111111111111111111111', 'Hash=16', '10+0.1', 1, 200);
