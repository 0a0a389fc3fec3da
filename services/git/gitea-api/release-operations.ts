import type { Kysely } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import { isNewTagName, isReferenceName } from '../domain/names.ts';
import { readReferences } from '../repositories/references.ts';
import { resolveRevision } from '../repositories/revisions.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { ReleaseRow } from '../store/repository-relations.ts';
import type { Tables } from '../store/tables.ts';
import { zeroId } from '../domain/ref-change.ts';
import { releaseJson } from '../wire/releases.ts';
import { toUserJson } from '../wire/users.ts';
import { changeReference } from './change-reference.ts';
import { getRepositoryAddress } from './repository-requests.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'storage' | 'pushControl' | 'webhooks' | 'features'>;

/** Creates the tag of a release if it does not exist. @throws Problem (404, 422) */
export async function ensureTag(
  deps: Dependencies,
  repository: Repository,
  account: string,
  tag: string,
  target: string,
): Promise<void> {
  const { git, manager, objects } = deps.storage;
  const ref = `refs/tags/${tag}`;
  const folder = manager.getFolder(repository);
  if (isReferenceName(ref) && (await readReferences(git, folder, ref)).some((each) => each.ref === ref)) return;
  if (!isNewTagName(tag)) throw new Problem('git.invalid', 422, '[TagName]: GitRefName');
  const revision = await resolveRevision(objects, folder, repository, target);
  if (revision === undefined) throw new Problem('git.unknown', 404, `target not found: ${target}`);
  await changeReference(deps, repository, account, { ref, before: zeroId, after: revision.commit });
}

/** Converts a release to JSON with its assets and author. */
export async function releaseView(
  { storage: { owners }, features: { releases } }: Dependencies,
  call: { readonly base: string },
  repository: Repository,
  row: ReleaseRow,
) {
  return releaseJson(
    row,
    await releases.assets(row.id),
    getRepositoryAddress(call, repository),
    toUserJson(await owners.getForAccount(row.author), call.base),
  );
}

/** Emits a release event to the webhooks. */
export async function emitRelease(
  deps: Dependencies,
  repository: Repository,
  account: string,
  row: ReleaseRow,
  action: 'published' | 'updated' | 'deleted',
): Promise<void> {
  const { context } = deps;
  const { payloads, hooks } = deps.webhooks;
  const release = await releaseView(deps, { base: payloads.base }, repository, row);
  const payload = { action, release, ...(await payloads.buildCommonFields(repository, account)) };
  await context.commit((transaction: Kysely<Tables>) =>
    hooks.emit(transaction, { name: 'release' }, repository, payload),
  );
}
