import { implement, type ApiHandler } from '../../contracts/api.ts';
import type { Accounts, Identity } from '../../contracts/control/accounts.ts';
import { savedQueriesApi } from '../../contracts/data/queries.ts';
import type { SavedQueries } from '../store/saved-queries.ts';

/** Creates the routes of saved queries. */
export function createSavedQueryRoutes(queries: SavedQueries, accounts: Pick<Accounts, 'find'>): readonly ApiHandler[] {
  const getAccount = ({ identity }: { readonly identity: Identity | undefined }): string => identity?.account ?? '';
  /** Returns the caller, and the removed accounts whose queries are kept for administrators. */
  const getAccounts = async (request: { readonly identity: Identity | undefined }): Promise<readonly string[]> => {
    const owners = await queries.owners();
    const existing = await Promise.all(owners.map((owner) => accounts.find(owner)));
    return [getAccount(request), ...owners.filter((_, index) => existing[index] === undefined)];
  };
  return [
    implement(savedQueriesApi.list, async (request) => ({ queries: await queries.list(await getAccounts(request)) })),
    implement(savedQueriesApi.create, (request) => queries.create(getAccount(request), request.body)),
    implement(savedQueriesApi.change, async (request) =>
      queries.change(await getAccounts(request), request.params['id'] ?? '', request.body),
    ),
    implement(savedQueriesApi.remove, async (request) => {
      await queries.remove(await getAccounts(request), request.params['id'] ?? '');
      return { ok: true } as const;
    }),
  ];
}
