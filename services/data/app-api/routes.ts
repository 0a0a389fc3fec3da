import * as m from '#messages/data-problems';
import { dataApi } from '../../contracts/data/api.ts';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Database } from '../engine/database.ts';
import type { Keys } from '../keys/keys.ts';
import type { SchemaCache } from '../postgrest-api/schema/cache.ts';
import { quote } from '../postgrest-api/statement/sql.ts';
import { buildTypeScriptTypes } from '../sql/typescript-types.ts';
import { createCsvImportRoutes } from './csv-import.ts';
import { createCsvExportRoute } from './csv-export.ts';
import type { Settings } from '../settings.ts';
import type { Snapshots } from '../store/snapshots.ts';
import { createKeyRoutes } from './keys.ts';
import { createOverviewRoute } from './overview.ts';
import { createRowRoutes } from './rows.ts';
import { formatRefusal } from '../schema/refusal.ts';
import { runQuery } from './query-runner.ts';
import { createRunRoutes } from './run-routes.ts';
import { createPolicyRoutes, createSchemaRoutes } from './schema-routes.ts';
import { listServedTables } from './served-tables.ts';
import { getRowVisibility } from './row-visibility.ts';
import { readTableShape } from './table-shape.ts';

export interface AppApiOptions {
  readonly database: Database;
  readonly cache: SchemaCache;
  readonly keys: Keys;
  readonly snapshots: Snapshots;
  readonly settings: Pick<
    Settings,
    'databaseUrl' | 'directPassword' | 'directPort' | 'jwtExpiry' | 'schemas' | 'sleepAfterMinutes'
  >;
}

/** Creates the app API for the pages. */
export function createAppApi({ database, cache, keys, settings, snapshots }: AppApiOptions): readonly ApiHandler[] {
  const getTableReference = (params: Readonly<Record<string, string>>): string => {
    const { schema = '', name = '' } = params;
    if (!settings.schemas.includes(schema)) throw new Problem('data.unknown_table', 404, m.tableNotFound());
    return `${quote(schema)}.${quote(name)}`;
  };
  return [
    implement(dataApi.tables, async () => ({
      tables: await listServedTables(database, settings.schemas),
      schemas: [...settings.schemas],
    })),
    createOverviewRoute({ database, settings, snapshots }),
    ...createRowRoutes({ database, settings }),
    ...createCsvImportRoutes({ database, settings }),
    createCsvExportRoute({ database, settings }),
    ...createSchemaRoutes({ database, settings }),
    ...createPolicyRoutes({ database, settings }),
    ...createKeyRoutes({ keys, settings }),
    implement(dataApi.types, async () => ({ types: buildTypeScriptTypes(await cache.current(), settings.schemas) })),
    ...createRunRoutes({ database, settings }),
    implement(dataApi.protect, async ({ params, body: { template, column } }) => {
      const table = getTableReference(params);
      const owner = `${quote(column ?? '')} = (select auth.uid())`;
      const statements = [
        `alter table ${table} enable row level security`,
        ...(template === 'owner'
          ? [`create policy "Owners" on ${table} to authenticated using (${owner}) with check (${owner})`]
          : []),
        ...(template === 'read' ? [`create policy "Everybody reads" on ${table} for select using (true)`] : []),
      ];
      const { error } = await runQuery(database, { query: statements.join(';\n'), role: 'owner', user: '' });
      if (error !== null)
        throw new Problem('data.refused', 409, m.rejectedByPostgres({ reason: formatRefusal(error) }));
      return { ok: true } as const;
    }),
    implement(dataApi.sight, async ({ params, query: { role, user } }) => {
      const { reference } = await database.withCatalogue((pool) => readTableShape(pool, settings.schemas, params));
      return getRowVisibility(database, reference, role ?? 'authenticated', user ?? '');
    }),
  ];
}
