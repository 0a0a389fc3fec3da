import * as m from '#messages/data-texts';
import { defineService, type Context, type Service } from '../contracts/service.ts';
import type { Health } from '../contracts/health.ts';
import { createLiveSettings } from '../kit/live-settings.ts';
import { createAuth } from './auth-api/index.ts';
import { authSteps } from './auth-api/store/schema.ts';
import { backUp, restore } from './engine/backup.ts';
import { createDatabase } from './engine/database.ts';
import { baseSchemaSteps } from './engine/base-schema.ts';
import type { MountedApi } from './http/exchange.ts';
import { createListener } from './http/listener.ts';
import { Keys } from './keys/keys.ts';
import { manifest } from './manifest.ts';
import { createAppApi } from './app-api/routes.ts';
import { createSavedQueryRoutes } from './app-api/saved-queries.ts';
import { createRestApi } from './postgrest-api/handler.ts';
import { SchemaCache } from './postgrest-api/schema/cache.ts';
import { createSqlApi } from './sql/sql-handler.ts';
import { getDirectPort, type Settings } from './settings.ts';
import { createAccountData } from './store/account-data.ts';
import { SavedQueries } from './store/saved-queries.ts';
import { Snapshots } from './store/snapshots.ts';

/** Data platform: rows, users and sign-in over HTTP, compatible with clients of Supabase. */
export const data = defineService({
  ...manifest,
  create,
});

function create(context: Context, initial: Settings): Service {
  const resources = new DisposableStack();
  const live = createLiveSettings(initial);
  const settings = live.current;
  const keys = new Keys(context, settings);
  const database = createDatabase({ context, settings, steps: [...baseSchemaSteps, ...authSteps] });
  const cache = new SchemaCache(database, settings, context.log);
  const auth = createAuth(context, { database, keys, settings });
  const queries = new SavedQueries(context);
  const requestSeconds = context.metrics.histogram({
    name: 'data_request_seconds',
    help: 'How long requests took, by the part that answered.',
    labels: ['part', 'status'],
  });
  context.metrics.gauge({
    name: 'data_database_up',
    help: 'Whether PostgreSQL runs: 1, or 0 while it sleeps.',
    collect: () => (database.state === 'up' ? 1 : 0),
  });
  const apis: readonly MountedApi[] = [
    auth.mountedApi,
    createRestApi({ context, database, keys, cache, settings }),
    createSqlApi({ database, cache, settings }),
  ];

  return {
    http: createListener({
      context,
      keys,
      apis,
      onRequestEnd: (seconds, part, status) => requestSeconds.observe(seconds, { part, status }),
    }),
    api: [
      ...createAppApi({ database, cache, keys, settings, snapshots: new Snapshots(context) }),
      ...createSavedQueryRoutes(queries, context.accounts),
      ...auth.api,
    ],

    async start() {
      resources.use(keys.follow());
      await keys.open();
      auth.start();
      if (settings.databaseUrl === '' && getDirectPort(settings) > 0)
        await database.withCatalogue(async () => undefined);
    },

    reconfigure: (next) => live.update(next, () => cache.invalidate()),
    accountData: createAccountData(queries),

    async health(): Promise<Health> {
      const details = { asleep: m.idle, waking: m.starting, up: m.running };
      return { state: 'up', detail: details[database.state] };
    },

    backup: (folder) => backUp(database, folder),
    restore: (folder) => restore(database.folder, folder),

    async [Symbol.asyncDispose]() {
      resources.dispose();
      await auth[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}
