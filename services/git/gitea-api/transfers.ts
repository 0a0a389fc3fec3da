import type { Kysely } from 'kysely';
import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { OwnerRow, Tables } from '../store/tables.ts';
import { getAccount, readJsonBody, required, type Answer, type Call, type Route } from './call.ts';
import { getRepositoryName, toRepositoryView } from './repository-requests.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'settings' | 'storage' | 'accessControl'>;

const transferBody = z.object({ new_owner: required });

/** Builds the routes that transfer a repository. The new owner has to accept unless the caller administers both owners. */
export function transferRoutes(deps: Dependencies): readonly Route[] {
  return [
    transferRoute('', (call) => startTransfer(deps, call)),
    transferRoute('/accept', (call) => acceptTransfer(deps, call)),
    transferRoute('/reject', (call) => rejectTransfer(deps, call)),
  ];
}

function commit<Value>(
  { context }: Dependencies,
  work: (transaction: Kysely<Tables>) => Promise<Value>,
): Promise<Value> {
  return context.commit(work);
}

async function transferResponse(deps: Dependencies, call: Call, status: number, { id }: Repository) {
  const { access } = deps.accessControl;
  const { repositories } = deps.storage;
  const now = await repositories.findById(id);
  if (now === undefined) throw buildNotFoundProblem();
  return { status, json: await toRepositoryView(deps, call, now, await access.getLevel(call.caller, now)) };
}

function deleteOffer(deps: Dependencies, repository: number) {
  return commit(deps, (transaction) =>
    transaction.deleteFrom('transfers').where('repository_id', '=', repository).execute(),
  );
}

async function transferOwnership(deps: Dependencies, repository: Repository, target: OwnerRow): Promise<void> {
  const { manager } = deps.storage;
  await manager.rename(repository, { owner: target, name: repository.name });
  await deleteOffer(deps, repository.id);
}

/** Returns the pending transfer to an owner that the caller administers. @throws Problem (403, 404) */
async function getOffer(
  { accessControl: { access, lookup }, storage: { db, owners, repositories } }: Dependencies,
  call: Call,
) {
  const [owner, name] = getRepositoryName(call);
  const repository = await repositories.find(owner, name);
  const row =
    repository &&
    (await db.selectFrom('transfers').selectAll().where('repository_id', '=', repository.id).executeTakeFirst());
  const target = row && (await owners.getById(row.owner_id));
  if (repository === undefined || target === undefined) throw buildNotFoundProblem();
  if (await access.administersOwner(call.caller, target)) return { repository, target };
  // 403 only for callers who may read the repository, 404 for others.
  await lookup.require(call.caller, getRepositoryName(call), 'read');
  throw new Problem('git.forbidden', 403, 'user does not have permission to accept or reject the transfer');
}

function transferRoute(path: string, handle: Route['handle']): Route {
  return {
    method: 'POST',
    path: `/repos/:owner/:repo/transfer${path}`,
    scope: 'repository',
    signedIn: true,
    handle,
  };
}

async function startTransfer(deps: Dependencies, call: Call): Promise<Answer> {
  const { context } = deps;
  const { access, lookup } = deps.accessControl;
  const { owners } = deps.storage;
  const repository = await lookup.require(call.caller, getRepositoryName(call), 'admin');
  if (!(await access.administersOwner(call.caller, await owners.getById(repository.ownerId))))
    throw new Problem('git.forbidden', 403, 'user should be the owner of the repo');
  const { new_owner: requested } = await readJsonBody(call, transferBody);
  const target = await owners.find(requested);
  if (target === undefined) throw new Problem('git.invalid', 422, `user does not exist [name: ${requested}]`);
  if (await access.administersOwner(call.caller, target)) {
    await transferOwnership(deps, repository, target);
    return transferResponse(deps, call, 202, repository);
  }
  // Offers to organizations are refused, so that their list holds no unwanted repositories.
  if (target.kind === 'organization') throw new Problem('git.forbidden', 403, `User is no owner of ${requested}`);
  const row = {
    repository_id: repository.id,
    owner_id: target.id,
    account: getAccount(call),
    created_at: context.clock.now(),
  };
  const added = await commit(deps, (transaction) =>
    transaction
      .insertInto('transfers')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow(),
  );
  if (added.numInsertedOrUpdatedRows === 0n)
    throw new Problem('git.transfer_taken', 409, 'repository transfer is already in progress');
  return transferResponse(deps, call, 201, repository);
}

async function acceptTransfer(deps: Dependencies, call: Call): Promise<Answer> {
  const { repository, target } = await getOffer(deps, call);
  await transferOwnership(deps, repository, target);
  return transferResponse(deps, call, 202, repository);
}

async function rejectTransfer(deps: Dependencies, call: Call): Promise<Answer> {
  const { access } = deps.accessControl;
  const { repository } = await getOffer(deps, call);
  await deleteOffer(deps, repository.id);
  const level = await access.getLevel(call.caller, repository);
  return level === 'none' ? { status: 200 } : transferResponse(deps, call, 200, repository);
}
