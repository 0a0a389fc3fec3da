import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { MergeArea } from '../pulls/merge-area.ts';
import { unknown } from '../repositories/lookup.ts';
import { readReferences } from '../repositories/references.ts';
import type { Repository } from '../repositories/repositories.ts';
import { emailOf } from '../wire/users.ts';
import { accountOf, bodyOf, ok, optional, type Call, type Route } from './call.ts';
import { changeReference } from './change-reference.ts';
import type { ContentParts } from './contents.ts';
import { named } from './api-dependencies.ts';

const heads = 'refs/heads/';
const upstreamBody = z.object({ branch: optional(z.string()), ff_only: optional(z.boolean()) });

/** Brings a branch of a fork up to what the repository has that it is a copy of. */
export function upstreamRoutes(parts: ContentParts): readonly Route[] {
  const { access, context, git, keeper, lfs, lookup, owners, protections, repositories } = parts;
  const commitOf = async (repository: Repository, branch: string): Promise<string | undefined> => {
    const ref = heads + branch;
    return (await readReferences(git, keeper.folder(repository), ref)).find((each) => each.ref === ref)?.commit;
  };
  const parentOf = async (call: Call, { parent }: Repository): Promise<Repository> => {
    const found = parent === null ? undefined : await repositories.byId(parent);
    if (found === undefined || !(await access.may(call.visitor, found, 'read'))) throw unknown();
    return found;
  };
  const isWithin = async (folder: string, commit: string, other: string): Promise<boolean> =>
    (await git.run(folder, ['merge-base', '--is-ancestor', commit, other], { codes: [1] })).code === 0;

  return [
    {
      method: 'POST',
      path: '/repos/:owner/:repo/merge-upstream',
      scope: 'repository',
      signedIn: true,
      handle: async (call) => {
        const repository = await lookup.need(call.visitor, named(call), 'write');
        const parent = await parentOf(call, repository);
        const { branch = repository.defaultBranch, ff_only: isForwardOnly = false } = await bodyOf(call, upstreamBody);
        const ours = await commitOf(repository, branch);
        // The default branches belong together, whatever they are called.
        const same = await commitOf(parent, branch);
        const theirs =
          same ?? (branch === repository.defaultBranch ? await commitOf(parent, parent.defaultBranch) : undefined);
        if (ours === undefined || theirs === undefined) throw unknown();
        const folder = keeper.folder(repository);
        const fetch = [
          'fetch',
          '--quiet',
          '--no-auto-gc',
          '--no-write-fetch-head',
          '--',
          keeper.folder(parent),
          theirs,
        ];
        await git.run(folder, fetch, {
          long: true,
          config: ['uploadpack.allowAnySHA1InWant=true'],
          environment: { GIT_ALLOW_PROTOCOL: 'file' },
        });
        if (await isWithin(folder, theirs, ours)) return ok({ merge_type: 'up-to-date' });
        const account = accountOf(call);
        await protections.checkCommit(repository.id, branch, { account });
        const isForward = await isWithin(folder, ours, theirs);
        if (!isForward && isForwardOnly) throw new Problem('git.diverged', 409, 'the branches have diverged');
        await lfs.share(parent, repository);
        const email = emailOf(await owners.ofAccount(account), call.base);
        const message = `Merge branch '${branch}' of ${parent.owner}/${parent.name}`;
        const after = isForward ? theirs : await merged(folder, [ours, theirs], message, { name: account, email });
        await changeReference(parts, repository, account, { ref: heads + branch, before: ours, after });
        return ok({ merge_type: isForward ? 'fast-forward' : 'merge' });
      },
    },
  ];

  async function merged(
    folder: string,
    [ours, theirs]: readonly [string, string],
    message: string,
    author: { readonly name: string; readonly email: string },
  ): Promise<string> {
    await using area = await MergeArea.open(context, git, folder);
    const found = await area.merge(ours, theirs);
    if (!('tree' in found)) throw new Problem('git.conflict', 409, `merge conflict: ${found.conflicts.join(', ')}`);
    const commit = await area.commit(found.tree, [ours, theirs], message, author);
    await area.keep(commit, [ours, theirs]);
    return commit;
  }
}
