import { defineService, type Context, type Health, type Service } from '../contracts/service.ts';
import { createAuth } from './auth/index.ts';
import { authSteps } from './auth/store/schema.ts';
import { createDatabase } from './engine/database.ts';
import { frameSteps } from './engine/frame.ts';
import type { Part } from './http/exchange.ts';
import { dataListener } from './http/listener.ts';
import { Keys } from './keys/keys.ts';
import { manifest } from './manifest.ts';
import { restPart } from './rest/part.ts';
import { SchemaCache } from './rest/schema/cache.ts';
import { sqlPart } from './sql/part.ts';
import type { Settings } from './settings.ts';

/** The data platform: rows, users and sign-in over HTTP, as clients of Supabase know them. */
export const data = defineService({
  ...manifest,
  create,
});

function create(context: Context, settings: Settings): Service {
  const keys = new Keys(context, settings);
  const database = createDatabase({ context, settings, steps: [...frameSteps, ...authSteps] });
  const cache = new SchemaCache(database, settings.schemas, context.log);
  const auth = createAuth(context, { database, keys, settings });
  const parts: readonly Part[] = [
    auth.part,
    restPart({ context, database, keys, cache, settings }),
    sqlPart({ database }),
  ];

  return {
    http: dataListener({ context, keys, parts, took: () => undefined }),

    api: [...auth.api],

    async start() {
      await keys.open();
      auth.start();
    },

    async health(): Promise<Health> {
      const words = { asleep: 'Asleep until the first request', waking: 'PostgreSQL starts', up: 'PostgreSQL is up' };
      return { state: 'up', detail: words[database.state] };
    },

    async [Symbol.asyncDispose]() {
      await auth[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}
