import { implement, type ApiHandler } from '../../contracts/api.ts';
import { dataApi, type DataOverview } from '../../contracts/data/api.ts';
import { readText } from '../../contracts/text.ts';
import type { Database } from '../engine/database.ts';
import { listLargestTables } from '../schema/table-sizes.ts';
import type { Settings } from '../settings.ts';
import type { Snapshots } from '../store/snapshots.ts';
import { listServedTables } from './served-tables.ts';

interface OverviewOptions {
  readonly database: Database;
  readonly settings: Pick<Settings, 'schemas' | 'sleepAfterMinutes'>;
  readonly snapshots: Snapshots;
}

/** Maximum number of tables in a snapshot. */
const maxTables = 8;

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
export function createOverviewRoute(options: OverviewOptions): ApiHandler {
  const { database, settings, snapshots } = options;
  const isExternal = database.folder === undefined;
  database.onIdle(async () => saveSnapshot(options, await readDetails(options)));
  return implement(dataApi.overview, async ({ query: { wake } }) => {
    const inside = wake || database.state === 'up' ? await readDetails(options) : null;
    // The snapshot is an addition: the current state is shown without it.
    if (inside !== null) await saveSnapshot(options, inside).catch(() => undefined);
    const { sleepAfterMinutes } = settings;
    return { state: database.state, isExternal, sleepAfterMinutes, inside, lastSeen: await snapshots.read() };
  });
}

async function readDetails({ database, settings }: OverviewOptions): Promise<DatabaseDetails> {
  const { rows } = await database.withCatalogue((pool) =>
    pool.query<Omit<DatabaseDetails, 'limits'>>(overviewQuery, [settings.schemas]),
  );
  if (rows[0] === undefined) throw new Error('the overview query returned no row');
  return { ...rows[0], limits: database.limits.map(readText) };
}

async function saveSnapshot(
  { database, settings, snapshots }: OverviewOptions,
  { version, bytes, tables, users }: DatabaseDetails,
): Promise<void> {
  const listed = await listServedTables(database, settings.schemas);
  const sizes = await listLargestTables({ database, settings }, maxTables);
  const largest = sizes.map((size) => {
    const table = listed.find(({ schema, name }) => schema === size.schema && name === size.name);
    return { ...size, rows: table?.rows ?? null, isEstimate: table?.isEstimate ?? true };
  });
  await snapshots.save({ version, bytes, tables, users, largest });
}
