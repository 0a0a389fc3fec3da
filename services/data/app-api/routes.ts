import { dataApi } from '../../contracts/data/api.ts';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Database } from '../engine/database.ts';
import type { Keys } from '../keys/keys.ts';
import type { SchemaCache } from '../postgrest-api/schema/cache.ts';
import { quote } from '../postgrest-api/statement/sql.ts';
import { buildTypeScriptTypes } from '../sql/typescript-types.ts';
import { csvRoutes } from './csv-import.ts';
import { csvSaveRoute } from './csv-export.ts';
import type { Settings } from '../settings.ts';
import { keyRoutes } from './keys.ts';
import { overviewRoute } from './overview.ts';
import { rowRoutes } from './rows.ts';
import { runFor } from './query-runner.ts';
import { runRoutes } from './run-routes.ts';
import { servedTables } from './served-tables.ts';
import { sightOf } from './row-visibility.ts';
import { shapeOf } from './table-shape.ts';

export interface OwnParts {
  readonly database: Database;
  readonly cache: SchemaCache;
  readonly keys: Keys;
  readonly settings: Pick<
    Settings,
    'databaseUrl' | 'directPassword' | 'directPort' | 'jwtExpiry' | 'schemas' | 'sleepAfterMinutes'
  >;
}

/** Creates the app API for the pages. */
export function ownRoutes({ database, cache, keys, settings }: OwnParts): readonly ApiHandler[] {
  const known = (params: Readonly<Record<string, string>>): string => {
    const { schema = '', name = '' } = params;
    if (!settings.schemas.includes(schema)) throw new Problem('data.unknown_table', 404, 'There is no such table.');
    return `${quote(schema)}.${quote(name)}`;
  };
  return [
    implement(dataApi.tables, async () => ({
      tables: await servedTables(database, settings.schemas),
      schemas: [...settings.schemas],
    })),
    overviewRoute({ database, settings }),
    ...rowRoutes({ database, settings }),
    ...csvRoutes({ database, settings }),
    csvSaveRoute({ database, settings }),
    ...keyRoutes({ keys, settings }),
    implement(dataApi.types, async () => ({ types: buildTypeScriptTypes(await cache.current(), settings.schemas) })),
    ...runRoutes(database),
    implement(dataApi.protect, async ({ params, body: { template, column } }) => {
      const table = known(params);
      const owner = `${quote(column ?? '')} = (select auth.uid())`;
      const statements = [
        `alter table ${table} enable row level security`,
        ...(template === 'owner'
          ? [`create policy "Owners" on ${table} to authenticated using (${owner}) with check (${owner})`]
          : []),
        ...(template === 'read' ? [`create policy "Everybody reads" on ${table} for select using (true)`] : []),
      ];
      const { error } = await runFor(database, { query: statements.join(';\n'), role: 'owner', user: '' });
      if (error !== null) throw new Problem('data.refused', 409, `PostgreSQL refuses it: ${error.message}.`);
      return { ok: true } as const;
    }),
    implement(dataApi.sight, async ({ params, query: { role, user } }) => {
      const { reference } = await database.withCatalogue((pool) => shapeOf(pool, settings.schemas, params));
      return sightOf(database, reference, role ?? 'authenticated', user ?? '');
    }),
  ];
}
