import { implement, type ApiHandler } from '../../contracts/api.ts';
import { dataApi } from '../../contracts/data/api.ts';
import type { Database } from '../engine/database.ts';
import { Cancellation } from './cancellation.ts';
import { runQuery } from './query-runner.ts';

/** Creates the routes that run entered statements and cancel them, on request or when the client disconnects. */
export function createRunRoutes(database: Database): readonly ApiHandler[] {
  const running = new Map<string, Cancellation>();
  return [
    implement(dataApi.run, async (request) => {
      const { query, role, user, id } = request.body;
      const cancellation = new Cancellation(database);
      if (id !== undefined) running.set(id, cancellation);
      // No client remains that could receive the error.
      request.onLeave(() => void cancellation.request().catch(() => undefined));
      try {
        return await runQuery(database, { query, role, user: user ?? '' }, cancellation);
      } finally {
        if (id !== undefined && running.get(id) === cancellation) running.delete(id);
      }
    }),
    implement(dataApi.cancel, async ({ body: { id } }) => {
      await running.get(id)?.request();
      return { ok: true } as const;
    }),
  ];
}
