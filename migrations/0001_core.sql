-- Up Migration
-- The facts of Genlock. Every table carries its tenant, row-level security is forced on every one, and the
-- roles below own nothing: a program with a role's password can do what its grants say and nothing more.

-- Roles. `genlock_owner` owns every object and nobody logs in as it; the others log in once `genlock migrate`
-- has given them a password from the configuration.
do $$
declare r text;
begin
  foreach r in array array['genlock_owner', 'genlock_api', 'genlock_worker', 'genlock_operator'] loop
    begin
      execute format('create role %I nologin nosuperuser nobypassrls nocreatedb nocreaterole', r);
    exception when duplicate_object or unique_violation then null;
    end;
  end loop;
  if not pg_has_role(current_user, 'genlock_owner', 'set') then
    execute format('grant genlock_owner to %I with set true', current_user);
  end if;
end $$;

create schema if not exists genlock authorization genlock_owner;
grant usage on schema genlock to genlock_api, genlock_worker, genlock_operator;
set local role genlock_owner;
set local search_path = genlock;

-- Shared shapes ---------------------------------------------------------------------------------------------
create domain tenant_id as text check (value <> '');
create domain digest as text check (value ~ '^sha256:[0-9a-f]{64}$');

create function current_tenant() returns text language sql stable as
  $$ select nullif(current_setting('genlock.tenant', true), '') $$;

-- Tenants, servers, policy ------------------------------------------------------------------------------------
-- server '' is the tenant's own row. The incarnation is random, since a restored backup repeats numbers.
create table fence (
  tenant tenant_id not null,
  server text not null,
  version bigint not null default 1,
  incarnation uuid not null default gen_random_uuid(),
  primary key (tenant, server)
);

create table policy_epoch (
  tenant tenant_id not null,
  epoch integer not null check (epoch > 0),
  bundle text not null,
  bundle_digest digest not null,
  published_at timestamptz not null default clock_timestamp(),
  published_by text not null,
  receipt text not null,
  primary key (tenant, epoch)
);

create table server (
  tenant tenant_id not null,
  name text not null,
  namespace text not null,
  source jsonb not null,
  trust jsonb not null,
  trust_version integer not null default 1,
  limits jsonb not null,
  contract jsonb not null,
  freshness jsonb not null,
  refresh_seconds integer not null check (refresh_seconds >= 0),
  closed_reason text,
  registered_at timestamptz not null default clock_timestamp(),
  primary key (tenant, name),
  unique (tenant, namespace)
);

-- S6: the credential of a scan belongs to its audience. Only a reference is kept, never a value.
create table server_audience (
  tenant tenant_id not null,
  server text not null,
  audience text not null,
  credential jsonb not null,
  primary key (tenant, server, audience),
  foreign key (tenant, server) references server (tenant, name)
);

-- Scans ---------------------------------------------------------------------------------------------------------
create table scan (
  tenant tenant_id not null,
  id text not null,
  server text not null,
  audience text not null,
  workflow_id text not null,
  run_id text not null,
  round integer not null,
  segment integer not null,
  attempt integer not null,
  worker text not null,
  state text not null default 'DISCOVERING' check (state in ('DISCOVERING', 'VALIDATING', 'SNAPSHOT_PROVEN',
    'ELIGIBLE', 'UNVERSIONED_OBSERVATION', 'INCOMPLETE', 'QUARANTINED', 'RETIRED')),
  reason text,
  evidence jsonb,
  policy_epoch integer not null,
  trust_version integer not null,
  base_pointer_version bigint not null,
  -- The identity that answered for the server when the scan began (D8); null where none was accepted yet.
  base_identity digest,
  protocol text,
  source_evidence jsonb,
  identity digest,
  revision jsonb,
  page_root digest,
  content_root digest,
  tools integer,
  credential jsonb not null,
  -- Keyed digest of the secret that scanned, and when that ends; null where there is none or it does not say.
  credential_fingerprint digest,
  credential_expires timestamptz,
  started_at timestamptz not null default clock_timestamp(),
  deadline timestamptz not null,
  -- When the source was last asked again and still had the revision of the pages: what freshness counts from (S7).
  tail_at timestamptz,
  -- Ids of the acceptances that its checks rest on.
  acceptances text[] not null default '{}',
  -- What is worth telling of the catalog as a whole, beside the verdicts of its tools.
  findings jsonb not null default '[]',
  ended_at timestamptz,
  primary key (tenant, id),
  foreign key (tenant, server, audience) references server_audience (tenant, server, audience)
);
create index scan_latest on scan (tenant, server, audience, started_at desc);

-- The bytes of pages with the tools that were read in them, each kept once: a refresh that gets the same bytes again
-- stores none. `reading` is all that the reading depends on beside the bytes.
create table page_text (
  tenant tenant_id not null,
  raw_digest digest not null,
  reading digest not null,
  raw bytea not null,
  -- [name, descriptor digest, digest of the source text] in list order
  tools jsonb not null,
  primary key (tenant, raw_digest, reading)
);

create table page (
  tenant tenant_id not null,
  scan text not null,
  n integer not null check (n >= 0),
  request_cursor text,
  next_cursor text,
  null_cursor boolean not null,
  result_digest digest not null,
  raw_digest digest not null,
  reading digest not null,
  bytes integer not null,
  tools integer not null,
  revision jsonb,
  identity digest not null,
  worker text not null,
  fetched_at timestamptz not null default clock_timestamp(),
  primary key (tenant, scan, n),
  foreign key (tenant, scan) references scan (tenant, id),
  foreign key (tenant, raw_digest, reading) references page_text (tenant, raw_digest, reading)
);

-- The session that a scan's pages are read in, for the attempt that goes on with it (D6): encrypted with a key that no database
-- has, bound to tenant and scan. Gone with the last page or the end of the scan. Operators read no sessions.
create table scan_session (
  tenant tenant_id not null,
  scan text not null,
  sealed text not null,
  primary key (tenant, scan),
  foreign key (tenant, scan) references scan (tenant, id)
);

-- Descriptors, by the digest of their source text. Tenant-scoped: two tenants share no row (S4).
create table descriptor (
  tenant tenant_id not null,
  raw_digest digest not null,
  source text not null,
  primary key (tenant, raw_digest)
);

-- Verdicts, kept by what was judged and by which rules, so that an unchanged descriptor is judged once.
create table descriptor_check (
  tenant tenant_id not null,
  raw_digest digest not null,
  ruleset digest not null,
  result jsonb not null,
  primary key (tenant, raw_digest, ruleset)
);

create table candidate_tool (
  tenant tenant_id not null,
  scan text not null,
  name text not null,
  position integer not null,
  descriptor digest not null,
  raw_digest digest not null,
  contract_digest digest not null,
  hints_digest digest not null,
  text_digest digest not null,
  input jsonb,
  output jsonb,
  verdict jsonb not null,
  contract_version integer,
  tool_id text,
  effect_class text check (effect_class in ('READ', 'RESERVATION', 'WRITE', 'DESTRUCTIVE', 'UNKNOWN')),
  primary key (tenant, scan, name),
  foreign key (tenant, scan) references scan (tenant, id)
);
-- The scan stands last, so that no plan takes this index for a look-up by scan and name, which then reads the whole scan.
create index candidate_tool_id on candidate_tool (tenant, tool_id, scan);

-- Every descriptor under which a tool id was ever active, in whatever audience of its server: a policy permits the id for all
-- of them (V6). The one that became active last has the highest number.
create table seen_tool (
  tenant tenant_id not null,
  tool_id text not null,
  descriptor digest not null,
  n bigint generated by default as identity,
  raw_digest digest not null,
  hints_digest digest not null,
  text_digest digest not null,
  primary key (tenant, tool_id, descriptor)
);
create index seen_tool_last on seen_tool (tenant, tool_id, n desc);

-- Contract versions of a tool name, never reused (S2).
create table contract_counter (
  tenant tenant_id not null,
  server text not null,
  name text not null,
  last integer not null,
  primary key (tenant, server, name)
);

-- Generations ---------------------------------------------------------------------------------------------------
create table generation_counter (
  tenant tenant_id not null,
  server text not null,
  audience text not null,
  last integer not null,
  primary key (tenant, server, audience)
);

create table generation (
  tenant tenant_id not null,
  server text not null,
  audience text not null,
  generation integer not null,
  scan text not null,
  snapshot digest,
  artifact bytea,
  state text not null default 'SNAPSHOT_PROVEN'
    check (state in ('SNAPSHOT_PROVEN', 'ELIGIBLE', 'QUARANTINED', 'RETIRED')),
  expires timestamptz,
  promoted_at timestamptz,
  receipt text,
  superseded_by integer,
  superseded_at timestamptz,
  primary key (tenant, server, audience, generation),
  unique (tenant, scan),
  foreign key (tenant, scan) references scan (tenant, id)
);

-- The one acceptance point (P1).
create table active_pointer (
  tenant tenant_id not null,
  server text not null,
  identity digest not null,
  audience text not null,
  version bigint not null,
  generation integer not null,
  scan text not null,
  snapshot digest not null,
  policy_epoch integer not null,
  trust_version integer not null,
  revision jsonb not null,
  content_root digest not null,
  fresh_until timestamptz not null,
  closed_at timestamptz,
  -- How many reviews were decided beside it: what is kept of a tool is kept under this number too.
  reviews bigint not null default 0,
  primary key (tenant, server, identity, audience),
  foreign key (tenant, server, audience, generation) references generation (tenant, server, audience, generation)
);
create unique index active_pointer_open on active_pointer (tenant, server, audience) where closed_at is null;

create table freshness (
  tenant tenant_id not null,
  server text not null,
  audience text not null,
  generation integer not null,
  scan text not null,
  snapshot digest not null,
  revision jsonb not null,
  verified_at timestamptz not null,
  expires timestamptz not null,
  primary key (tenant, scan)
);

-- What an operator accepted of a scan that is held (D5, D9). The next scan reads it; nothing leaves QUARANTINED. It counts
-- beside the pointer that the held scan was judged by, and for one promotion.
create table acceptance (
  tenant tenant_id not null,
  id text not null,
  discovery text not null,
  server text not null,
  audience text not null,
  kind text not null check (kind in ('SHRUNK', 'ROLLBACK', 'NEW_INCARNATION', 'FAST_FORWARD', 'IDENTITY_CHANGED')),
  identity digest not null,
  revision jsonb not null,
  content_root digest not null,
  pointer_version bigint not null,
  reason text not null,
  accepted_by text not null,
  accepted_at timestamptz not null default clock_timestamp(),
  receipt text not null,
  -- The scan whose promotion rests on it.
  used_by text,
  used_at timestamptz,
  primary key (tenant, id),
  unique (tenant, discovery),
  foreign key (tenant, discovery) references scan (tenant, id)
);
create index acceptance_unused on acceptance (tenant, server, audience) where used_by is null;

-- What reviewers decided of a changed text or hint (V6). One that nobody has decided yet is no row: it stands in the view
-- open_review. The last accepted ones of a tool id, one for each audience, say how the tool is approved.
create table review (
  tenant tenant_id not null,
  id text not null,
  n bigint generated by default as identity,
  server text not null,
  audience text not null,
  generation integer not null,
  -- Where the tool stands as it was decided upon.
  scan text not null,
  name text not null,
  tool_id text not null,
  effect_class text not null,
  before digest not null,
  before_raw digest not null,
  after digest not null,
  after_raw digest not null,
  changed jsonb not null,
  state text not null check (state in ('accepted', 'refused')),
  reason text not null,
  decided_by text not null,
  decided_at timestamptz not null default clock_timestamp(),
  receipt text not null,
  primary key (tenant, id),
  foreign key (tenant, scan, name) references candidate_tool (tenant, scan, name)
);
create index review_accepted on review (tenant, server, tool_id, audience, n desc) where state = 'accepted';

-- Admission -------------------------------------------------------------------------------------------------------
create table revocation (
  tenant tenant_id not null,
  id text not null,
  kind text not null check (kind in ('tool-name', 'tool-id', 'server', 'subject')),
  server text not null,
  target text not null,
  reason text not null,
  revoked_by text not null,
  revoked_at timestamptz not null default clock_timestamp(),
  receipt text not null,
  lifted_at timestamptz,
  lifted_by text,
  lift_receipt text,
  primary key (tenant, id)
);
create index revocation_open on revocation (tenant, server) where lifted_at is null;

create table lease (
  tenant tenant_id not null,
  jti text not null,
  server text not null,
  audience text not null,
  subject text not null,
  tool_id text not null,
  descriptor digest not null,
  generation integer not null,
  policy_epoch integer not null,
  tenant_fence text not null,
  server_fence text not null,
  resource text not null,
  args_digest digest not null,
  effect_class text not null,
  jkt text not null,
  expires timestamptz not null,
  issued_at timestamptz not null default clock_timestamp(),
  primary key (tenant, jti)
);

create table receipt (
  tenant tenant_id not null,
  id text not null,
  kind text not null check (kind in ('catalog', 'admission', 'operator')),
  at timestamptz not null default clock_timestamp(),
  subject text not null,
  server text,
  identity digest,
  audience text,
  generation integer,
  page_root digest,
  tool_id text,
  descriptor digest,
  policy_epoch integer,
  fence text,
  decision text not null,
  code text,
  reason text,
  lease text,
  args_digest digest,
  resource text,
  credential text,
  jws text not null,
  primary key (tenant, id)
);
create index receipt_by_time on receipt (tenant, at desc, id);

-- A proof is used once. Rows go when the proof could no longer be accepted anyway.
create table dpop_proof (
  tenant tenant_id not null,
  jkt text not null,
  jti text not null,
  expires timestamptz not null,
  primary key (tenant, jkt, jti)
);
create index dpop_proof_expiry on dpop_proof (expires);

-- The second wall ---------------------------------------------------------------------------------------------------
do $$
declare t text;
begin
  for t in select tablename from pg_tables where schemaname = 'genlock' loop
    execute format('alter table genlock.%I enable row level security', t);
    execute format('alter table genlock.%I force row level security', t);
    execute format('create policy tenant_wall on genlock.%I using (tenant = genlock.current_tenant()) with check (tenant = genlock.current_tenant())', t);
  end loop;
end $$;

grant select on fence, policy_epoch, server, server_audience, scan, scan_session, page, page_text, descriptor, descriptor_check,
  candidate_tool, contract_counter, generation_counter, generation, active_pointer, freshness, acceptance to genlock_worker;
-- Scans, pages, numbers and the pointer are written by the fenced functions of 0002 alone.
grant insert on descriptor, descriptor_check, candidate_tool to genlock_worker;
grant update (tool_id, effect_class, verdict) on candidate_tool to genlock_worker;
grant update (snapshot, artifact, expires) on generation to genlock_worker;

grant select on fence, policy_epoch, server, server_audience, scan, page, page_text, descriptor, candidate_tool, generation,
  active_pointer, freshness, acceptance, review, revocation, receipt to genlock_operator;
-- genlock_api has no table at all: it calls the functions of 0002, which read through the pointer (P3).

-- The row that records this migration is written by the administrator.
reset role;
