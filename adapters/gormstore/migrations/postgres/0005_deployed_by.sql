-- '' where it is not known: of what was deployed or routed before.
ALTER TABLE deployments ADD COLUMN deployed_by TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE routes ADD COLUMN previous_hash TEXT COLLATE "C" NOT NULL DEFAULT '';
