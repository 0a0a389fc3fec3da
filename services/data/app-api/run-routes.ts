import { implement, type ApiHandler } from '../../contracts/api.ts';
import { dataApi } from '../../contracts/data/api.ts';
import { dataSqlApi } from '../../contracts/data/sql.ts';
import type { Database } from '../engine/database.ts';
import type { Settings } from '../settings.ts';
import { Cancellation } from './cancellation.ts';
import { explainQuery } from './explain.ts';
import { runQuery } from './query-runner.ts';
import { listSqlNames } from './sql-names.ts';

interface RunRouteOptions {
  readonly database: Database;
  readonly settings: Pick<Settings, 'schemas'>;
}

/** Creates the routes that run and explain statements and cancel them, on request or when the client disconnects. */
export function createRunRoutes({ database, settings }: RunRouteOptions): readonly ApiHandler[] {
  const running = new Map<string, Cancellation>();
  const withCancellation = async <T>(
    request: { onLeave(listener: () => void): void },
    id: string | undefined,
    work: (cancellation: Cancellation) => Promise<T>,
  ): Promise<T> => {
    const cancellation = new Cancellation(database);
    if (id !== undefined) running.set(id, cancellation);
    // No client remains that could receive the error.
    request.onLeave(() => void cancellation.request().catch(() => undefined));
    try {
      return await work(cancellation);
    } finally {
      if (id !== undefined && running.get(id) === cancellation) running.delete(id);
    }
  };
  return [
    implement(dataApi.run, (request) =>
      withCancellation(request, request.body.id, (cancellation) => runQuery(database, request.body, cancellation)),
    ),
    implement(dataSqlApi.explain, (request) =>
      withCancellation(request, request.body.id, (cancellation) => explainQuery(database, request.body, cancellation)),
    ),
    implement(dataApi.cancel, async ({ body: { id } }) => {
      await running.get(id)?.request();
      return { ok: true } as const;
    }),
    implement(dataSqlApi.names, () => listSqlNames(database, settings.schemas)),
  ];
}
