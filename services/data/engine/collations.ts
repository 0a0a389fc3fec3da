import type pg from 'pg';
import type { Log } from '../../contracts/service.ts';

/** Time that the start of the service waits for another session with a lock on a table. */
const lockTimeout = '5s';

interface UsedCollation {
  readonly oid: string;
  readonly name: string;
  readonly version: string | null;
  /** Names of the indexes whose order depends on the collation. */
  readonly indexes: readonly string[];
}

/**
 * Collations that objects use, with the indexes that they order. An index depends on the collation of its columns and
 * expressions, and on those within their types: of ranges, and of the columns of composite types, also in arrays and
 * domains. Temporary tables belong to other sessions, which this one cannot access, or remained after a crash.
 */
const usedCollationsQuery = `
with recursive candidates as (
  select c.oid, format('%I.%I', n.nspname, c.relname) as name
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'i' and c.relpersistence <> 't'
    and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
), types (index, type) as (
  select a.attrelid, a.atttypid from pg_attribute a join candidates i on i.oid = a.attrelid
  union
  select t.index, part.type from types t cross join lateral (
    select typelem from pg_type where oid = t.type and typcategory = 'A'
    union all select typbasetype from pg_type where oid = t.type
    union all select rngsubtype from pg_range where t.type in (rngtypid, rngmultitypid)
    union all select a.atttypid from pg_type p join pg_attribute a on a.attrelid = p.typrelid
      where p.oid = t.type and p.typtype = 'c' and a.attnum > 0 and not a.attisdropped
  ) part (type) where part.type <> 0
), uses (collation_oid, index) as (
  select refobjid, case when classid = 'pg_class'::regclass then objid end
  from pg_depend where refclassid = 'pg_collation'::regclass
  union select r.rngcollation, t.index from types t join pg_range r on t.type in (r.rngtypid, r.rngmultitypid)
  union select a.attcollation, t.index from types t join pg_type p on p.oid = t.type and p.typtype = 'c'
    join pg_attribute a on a.attrelid = p.typrelid and a.attnum > 0 and not a.attisdropped
)
select c.oid::text as oid, format('%I.%I', n.nspname, c.collname) as name, c.collversion as version,
  coalesce(array_agg(distinct i.name) filter (where i.name is not null), '{}')::text[] as indexes
from uses u
join pg_collation c on c.oid = u.collation_oid and c.collprovider in ('c', 'i')
join pg_namespace n on n.oid = c.collnamespace
left join candidates i on i.oid = u.index
group by c.oid, n.nspname, c.collname, c.collversion order by name`;

/**
 * Rebuilds indexes whose sort order comes from another version of a library of the system, after an update of the system
 * or a restore on another one. Such an index would miss rows. PostgreSQL evaluates the expressions of an index with the
 * rights of the table's owner, so a superuser may call this. What fails is logged and repeated at the next start; it
 * never prevents the start.
 */
export async function rebuildOutdatedIndexes(client: pg.ClientBase, log: Log): Promise<void> {
  try {
    const { rows } = await client.query<UsedCollation>(usedCollationsQuery);
    const outdated = new Map<UsedCollation, string | null>();
    for (const collation of rows) {
      const version = await findLibraryVersion(client, collation, log);
      if (version !== undefined && version !== collation.version) outdated.set(collation, version);
    }
    if (outdated.size === 0) return;
    await client.query(`set lock_timeout = '${lockTimeout}'`);
    const failed = await rebuildIndexes(client, new Set([...outdated.keys()].flatMap(({ indexes }) => indexes)), log);
    for (const [collation, version] of outdated) {
      if (!collation.indexes.some((index) => failed.has(index))) await recordVersion(client, collation, version, log);
    }
    await client.query('reset lock_timeout');
  } catch (error) {
    log.warn('postgresql index check failed', { error });
  }
}

/**
 * Returns the version of a collation in the system's library, null when the library has no versions, and undefined when
 * the library does not know the collation.
 */
async function findLibraryVersion(
  client: pg.ClientBase,
  { oid, name }: UsedCollation,
  log: Log,
): Promise<string | null | undefined> {
  try {
    const query = 'select pg_collation_actual_version($1::oid) as version';
    return (await client.query<{ version: string | null }>(query, [oid])).rows[0]?.version;
  } catch (error) {
    log.warn('postgresql collation not available', { collation: name, error });
    return undefined;
  }
}

/** Rebuilds each index and returns those that failed, for example because of a key that is no longer unique. */
async function rebuildIndexes(
  client: pg.ClientBase,
  indexes: ReadonlySet<string>,
  log: Log,
): Promise<ReadonlySet<string>> {
  const failed = new Set<string>();
  for (const index of indexes) {
    try {
      await client.query(`reindex index ${index}`);
      log.info('postgresql index rebuilt', { index });
    } catch (error) {
      failed.add(index);
      log.warn('postgresql index not rebuilt', { index, error });
    }
  }
  return failed;
}

/** `alter collation … refresh version` refuses the change from or to a library without versions, as that of macOS. */
async function recordVersion(
  client: pg.ClientBase,
  { oid, name, version: former }: UsedCollation,
  version: string | null,
  log: Log,
): Promise<void> {
  try {
    if (former !== null && version !== null) await client.query(`alter collation ${name} refresh version`);
    else await client.query('update pg_collation set collversion = $2 where oid = $1::oid', [oid, version]);
  } catch (error) {
    log.warn('postgresql collation version not recorded', { collation: name, error });
  }
}
