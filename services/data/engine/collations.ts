import type pg from 'pg';
import type { Log } from '../../contracts/service.ts';

/** Collations of a library whose version differs from the one that ordered the indexes, with each dependent index. */
const outdatedQuery = `
select format('%I.%I', n.nspname, c.collname) as collation,
  array_agg(distinct format('%I.%I', rn.nspname, r.relname)) filter (where r.relkind = 'i') as indexes
from pg_collation c
join pg_namespace n on n.oid = c.collnamespace
join pg_depend d on d.refclassid = 'pg_collation'::regclass and d.refobjid = c.oid
left join pg_class r on d.classid = 'pg_class'::regclass and r.oid = d.objid
left join pg_namespace rn on rn.oid = r.relnamespace
where c.collversion <> pg_collation_actual_version(c.oid)
group by 1 order by 1`;

/**
 * Rebuilds indexes whose sort order comes from another version of a library of the system, after an update of the system
 * or a restore on another one. Such an index would miss rows. PostgreSQL evaluates the expressions of an index with the
 * rights of the table's owner, so a superuser may call this. What fails is logged and repeated at the next start.
 */
export async function rebuildOutdatedIndexes(client: pg.ClientBase, log: Log): Promise<void> {
  const { rows } = await client.query<{ collation: string; indexes: string[] | null }>(outdatedQuery);
  for (const { collation, indexes } of rows) {
    try {
      for (const index of indexes ?? []) await client.query(`reindex index ${index}`);
      await client.query(`alter collation ${collation} refresh version`);
      log.info('postgresql indexes rebuilt', { collation, indexes: indexes?.length ?? 0 });
    } catch (error) {
      log.warn('postgresql indexes not rebuilt', { collation, error });
    }
  }
}
