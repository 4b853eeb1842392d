-- Queries of the pages and the routes of books.

-- The decisive pairs are those in which one side made more points. They are sums of the totals that each test keeps.
-- name: books_listed array
-- types: pairs int, decisive int, :book int, chess960 bool
WITH played AS (SELECT t.book_id, count(*) AS tests, sum(json_extract(t.counts, '$.ptnml[0]') + json_extract(t.counts, '$.ptnml[1]')
                       + json_extract(t.counts, '$.ptnml[3]') + json_extract(t.counts, '$.ptnml[4]')) AS decisive,
                       sum(json_extract(t.counts, '$.ptnml[0]') + json_extract(t.counts, '$.ptnml[1]') + json_extract(t.counts, '$.ptnml[2]')
                       + json_extract(t.counts, '$.ptnml[3]') + json_extract(t.counts, '$.ptnml[4]')) AS pairs
                FROM tests t GROUP BY t.book_id)
SELECT o.id, e.name AS engine, o.name, o.format, o.openings, o.duplicates, o.chess960, o.blob AS sha256, b.size, u.name AS user, o.created,
       coalesce(p.tests, 0) AS tests, coalesce(p.pairs, 0) AS pairs, coalesce(p.decisive, 0) AS decisive
FROM books o JOIN engines e ON e.id = o.engine_id JOIN blobs b ON b.sha256 = o.blob LEFT JOIN users u ON u.id = o.user_id
     LEFT JOIN played p ON p.book_id = o.id
WHERE :book = 0 OR o.id = :book ORDER BY o.id

-- The results of the pairs that were played from a book, of the newest tests first.
-- name: page_book_batches rows
-- types: first int, outcomes text, seed int
SELECT coalesce(t.seed, 0) AS seed, k.first_pair + b.seq * t.batch_pairs AS first, b.outcomes AS outcomes
FROM tests t JOIN counted_batches b ON b.test_id = t.id JOIN tasks k ON k.id = b.task_id
WHERE t.book_id = :book AND b.outcomes IS NOT NULL ORDER BY t.id DESC

-- name: page_book_engines array
SELECT id, name, title FROM engines ORDER BY id
