-- Version 4: who is behind what arrives.

-- ---- owners and machines

-- The network that a machine last came from, as address_network() writes it: an IPv4 address, or an IPv6 /64.
ALTER TABLE workers ADD COLUMN network TEXT NOT NULL DEFAULT '';
UPDATE workers SET network = address;
-- An owner is an account, or the network of machines without one.
ALTER TABLE workers ADD COLUMN owner TEXT
    GENERATED ALWAYS AS (coalesce('user ' || user_id, 'network ' || network)) VIRTUAL;
CREATE INDEX workers_network ON workers (network, created);
CREATE INDEX workers_owner ON workers (owner);
-- Whose machine it was when the batch arrived; a machine may change hands.
ALTER TABLE batches ADD COLUMN owner TEXT NOT NULL DEFAULT '';
UPDATE batches SET owner = (SELECT owner FROM workers w WHERE w.id = batches.worker_id);

-- ---- accounts

-- ---- approvals and commits

-- ---- games and disk
