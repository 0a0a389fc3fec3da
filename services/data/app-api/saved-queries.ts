import { implement, type ApiHandler } from '../../contracts/api.ts';
import type { Identity } from '../../contracts/control/accounts.ts';
import { savedQueriesApi } from '../../contracts/data/queries.ts';
import type { SavedQueries } from '../store/saved-queries.ts';

/** The queries that administrators keep, for the page of statements. */
export function savedQueryRoutes(queries: SavedQueries): readonly ApiHandler[] {
  const whose = ({ identity }: { readonly identity: Identity | undefined }): string => identity?.account ?? '';
  return [
    implement(savedQueriesApi.list, async (request) => ({ queries: await queries.list(whose(request)) })),
    implement(savedQueriesApi.create, (request) => queries.create(whose(request), request.body)),
    implement(savedQueriesApi.change, (request) =>
      queries.change(whose(request), request.params['id'] ?? '', request.body),
    ),
    implement(savedQueriesApi.remove, async (request) => {
      await queries.remove(whose(request), request.params['id'] ?? '');
      return { ok: true } as const;
    }),
  ];
}
