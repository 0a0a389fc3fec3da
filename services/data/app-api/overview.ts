import { implement, type ApiHandler } from '../../contracts/api.ts';
import { dataApi, type DataOverview } from '../../contracts/data/api.ts';
import type { Database } from '../engine/database.ts';
import type { Settings } from '../settings.ts';

interface OverviewOptions {
  readonly database: Database;
  readonly settings: Pick<Settings, 'schemas' | 'sleepAfterMinutes'>;
}

type DatabaseDetails = NonNullable<DataOverview['inside']>;

const overviewQuery = `
with tables as (
  select n.nspname as schema, c.relname as name, c.relrowsecurity as protected, exists (select from pg_policy p
    where p.polrelid = c.oid) as has_policy
  from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = any($1) and c.relkind in ('r', 'p'))
select current_setting('server_version') as version, pg_database_size(current_database())::float8 as bytes,
  (select count(*)::int from tables) as tables, (select count(*)::int from auth.users where deleted_at is null) as users,
  (select count(*)::int from auth.sessions) as sessions,
  (select coalesce(json_agg(json_build_object('schema', schema, 'name', name) order by schema, name), '[]')
    from tables where not protected) as open,
  (select coalesce(json_agg(json_build_object('schema', schema, 'name', name) order by schema, name), '[]')
    from tables where protected and not has_policy) as shut`;

/** Creates the overview route. A stopped server is only started when the request requires it. */
export function createOverviewRoute({ database, settings }: OverviewOptions): ApiHandler {
  return implement(dataApi.overview, async ({ query: { wake } }) => {
    const isExternal = database.folder === undefined;
    const readDetails = async (): Promise<DatabaseDetails> => {
      const { rows } = await database.withCatalogue((pool) =>
        pool.query<Omit<DatabaseDetails, 'limits'>>(overviewQuery, [settings.schemas]),
      );
      if (rows[0] === undefined) throw new Error('the overview query returned no row');
      return { ...rows[0], limits: [...database.limits] };
    };
    const inside = wake || database.state === 'up' ? await readDetails() : null;
    return { state: database.state, isExternal, sleepAfterMinutes: settings.sleepAfterMinutes, inside };
  });
}
