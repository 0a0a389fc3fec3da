import type { Kysely } from 'kysely';
import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { unknown } from '../repositories/lookup.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { OwnerRow, Tables } from '../store/tables.ts';
import { accountOf, bodyOf, required, type Answer, type Call, type Route } from './call.ts';
import { named, shown, type Db, type RestParts } from './api-dependencies.ts';

const transferBody = z.object({ new_owner: required });

/** Giving a repository to another owner, who has to take it where its giver does not decide for both. */
export function transferRoutes(parts: RestParts & { readonly db: Db }): readonly Route[] {
  return [
    transferRoute('', (call) => startTransfer(parts, call)),
    transferRoute('/accept', (call) => acceptTransfer(parts, call)),
    transferRoute('/reject', (call) => rejectTransfer(parts, call)),
  ];
}

function commit<Value>(
  { context }: RestParts & { readonly db: Db },
  work: (transaction: Kysely<Tables>) => Promise<Value>,
): Promise<Value> {
  return context.commit(work);
}

async function transferResponse(
  parts: RestParts & { readonly db: Db },
  call: Call,
  status: number,
  { id }: Repository,
) {
  const { access, repositories } = parts;
  const now = await repositories.byId(id);
  if (now === undefined) throw unknown();
  return { status, json: await shown(parts, call, now, await access.level(call.visitor, now)) };
}

function deleteOffer(parts: RestParts & { readonly db: Db }, repository: number) {
  return commit(parts, (transaction) =>
    transaction.deleteFrom('transfers').where('repository_id', '=', repository).execute(),
  );
}

async function transferOwnership(
  parts: RestParts & { readonly db: Db },
  repository: Repository,
  target: OwnerRow,
): Promise<void> {
  const { keeper } = parts;
  await keeper.rename(repository, { owner: target, name: repository.name });
  await deleteOffer(parts, repository.id);
}

/** One that is offered to somebody for whom the caller decides: only to him it is there. */
async function getOffer({ access, db, lookup, owners, repositories }: RestParts & { readonly db: Db }, call: Call) {
  const [owner, name] = named(call);
  const repository = await repositories.find(owner, name);
  const row =
    repository &&
    (await db.selectFrom('transfers').selectAll().where('repository_id', '=', repository.id).executeTakeFirst());
  const target = row && (await owners.byId(row.owner_id));
  if (repository === undefined || target === undefined) throw unknown();
  if (await access.administersOwner(call.visitor, target)) return { repository, target };
  // Who may see it hears that it is not for him.
  await lookup.need(call.visitor, named(call), 'read');
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

async function startTransfer(parts: RestParts & { readonly db: Db }, call: Call): Promise<Answer> {
  const { access, context, lookup, owners } = parts;
  const repository = await lookup.need(call.visitor, named(call), 'admin');
  if (!(await access.administersOwner(call.visitor, await owners.byId(repository.ownerId))))
    throw new Problem('git.forbidden', 403, 'user should be the owner of the repo');
  const { new_owner: wanted } = await bodyOf(call, transferBody);
  const target = await owners.find(wanted);
  if (target === undefined) throw new Problem('git.invalid', 422, `user does not exist [name: ${wanted}]`);
  if (await access.administersOwner(call.visitor, target)) {
    await transferOwnership(parts, repository, target);
    return transferResponse(parts, call, 202, repository);
  }
  // Nobody fills an organisation's list with what it did not ask for.
  if (target.kind === 'organization') throw new Problem('git.forbidden', 403, `User is no owner of ${wanted}`);
  const row = {
    repository_id: repository.id,
    owner_id: target.id,
    account: accountOf(call),
    created_at: context.clock.now(),
  };
  const added = await commit(parts, (transaction) =>
    transaction
      .insertInto('transfers')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow(),
  );
  if (added.numInsertedOrUpdatedRows === 0n)
    throw new Problem('git.transfer_taken', 409, 'repository transfer is already in progress');
  return transferResponse(parts, call, 201, repository);
}

async function acceptTransfer(parts: RestParts & { readonly db: Db }, call: Call): Promise<Answer> {
  const { repository, target } = await getOffer(parts, call);
  await transferOwnership(parts, repository, target);
  return transferResponse(parts, call, 202, repository);
}

async function rejectTransfer(parts: RestParts & { readonly db: Db }, call: Call): Promise<Answer> {
  const { access } = parts;
  const { repository } = await getOffer(parts, call);
  await deleteOffer(parts, repository.id);
  const level = await access.level(call.visitor, repository);
  return level === 'none' ? { status: 200 } : transferResponse(parts, call, 200, repository);
}
