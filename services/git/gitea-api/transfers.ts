import type { Kysely } from 'kysely';
import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { unknown } from '../repositories/lookup.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { OwnerRow, Tables } from '../store/tables.ts';
import { accountOf, bodyOf, required, type Call, type Route } from './call.ts';
import { named, shown, type Db, type RestParts } from './api-dependencies.ts';

const transferBody = z.object({ new_owner: required });

/** Giving a repository to another owner, who has to take it where its giver does not decide for both. */
export function transferRoutes(parts: RestParts & { readonly db: Db }): readonly Route[] {
  const { access, context, db, keeper, lookup, owners, repositories } = parts;
  const commit = <Value>(work: (transaction: Kysely<Tables>) => Promise<Value>): Promise<Value> => context.commit(work);

  const answer = async (call: Call, status: number, { id }: Repository) => {
    const now = await repositories.byId(id);
    if (now === undefined) throw unknown();
    return { status, json: await shown(parts, call, now, await access.level(call.visitor, now)) };
  };
  const forget = (repository: number) =>
    commit((transaction) => transaction.deleteFrom('transfers').where('repository_id', '=', repository).execute());
  const give = async (repository: Repository, target: OwnerRow): Promise<void> => {
    await keeper.rename(repository, { owner: target, name: repository.name });
    await forget(repository.id);
  };
  /** One that is offered to somebody for whom the caller decides: only to him it is there. */
  const offered = async (call: Call) => {
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
  };
  const route = (path: string, handle: Route['handle']): Route => ({
    method: 'POST',
    path: `/repos/:owner/:repo/transfer${path}`,
    scope: 'repository',
    signedIn: true,
    handle,
  });

  return [
    route('', async (call) => {
      const repository = await lookup.need(call.visitor, named(call), 'admin');
      if (!(await access.administersOwner(call.visitor, await owners.byId(repository.ownerId))))
        throw new Problem('git.forbidden', 403, 'user should be the owner of the repo');
      const { new_owner: wanted } = await bodyOf(call, transferBody);
      const target = await owners.find(wanted);
      if (target === undefined) throw new Problem('git.invalid', 422, `user does not exist [name: ${wanted}]`);
      if (await access.administersOwner(call.visitor, target)) {
        await give(repository, target);
        return answer(call, 202, repository);
      }
      // Nobody fills an organisation's list with what it did not ask for.
      if (target.kind === 'organization') throw new Problem('git.forbidden', 403, `User is no owner of ${wanted}`);
      const row = {
        repository_id: repository.id,
        owner_id: target.id,
        account: accountOf(call),
        created_at: context.clock.now(),
      };
      const added = await commit((transaction) =>
        transaction
          .insertInto('transfers')
          .values(row)
          .onConflict((conflict) => conflict.doNothing())
          .executeTakeFirstOrThrow(),
      );
      if (added.numInsertedOrUpdatedRows === 0n)
        throw new Problem('git.transfer_taken', 409, 'repository transfer is already in progress');
      return answer(call, 201, repository);
    }),
    route('/accept', async (call) => {
      const { repository, target } = await offered(call);
      await give(repository, target);
      return answer(call, 202, repository);
    }),
    route('/reject', async (call) => {
      const { repository } = await offered(call);
      await forget(repository.id);
      const level = await access.level(call.visitor, repository);
      return level === 'none' ? { status: 200 } : answer(call, 200, repository);
    }),
  ];
}
