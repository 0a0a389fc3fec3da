import type { Kysely } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import { isNewTagName, isReferenceName } from '../domain/names.ts';
import { readReferences } from '../repositories/references.ts';
import { resolve } from '../repositories/revisions.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { ReleaseRow } from '../store/rest.ts';
import type { Tables } from '../store/tables.ts';
import { noObject } from '../transfer/push-request.ts';
import { releaseJson } from '../wire/releases.ts';
import { userOf } from '../wire/users.ts';
import { changeReference } from './change-reference.ts';
import type { HookParts } from './hooks.ts';
import { placeOf } from './api-dependencies.ts';

/** A release is of a tag, which is made where it is missing. @throws Problem (404, 422) */
export async function ensureTag(
  parts: HookParts,
  repository: Repository,
  account: string,
  tag: string,
  target: string,
): Promise<void> {
  const { git, keeper, objects } = parts;
  const ref = `refs/tags/${tag}`;
  const folder = keeper.folder(repository);
  if (isReferenceName(ref) && (await readReferences(git, folder, ref)).some((each) => each.ref === ref)) return;
  if (!isNewTagName(tag)) throw new Problem('git.invalid', 422, '[TagName]: GitRefName');
  const revision = await resolve(objects, folder, repository, target);
  if (revision === undefined) throw new Problem('git.unknown', 404, `target not found: ${target}`);
  await changeReference(parts, repository, account, { ref, before: noObject, after: revision.commit });
}

/** A release as the peer shows it. */
export async function releaseView(
  { owners, releases }: HookParts,
  call: { readonly base: string },
  repository: Repository,
  row: ReleaseRow,
) {
  return releaseJson(
    row,
    await releases.assets(row.id),
    placeOf(call, repository),
    userOf(await owners.ofAccount(row.author), call.base),
  );
}

/** Webhooks hear of a release. */
export async function tellRelease(
  parts: HookParts,
  repository: Repository,
  account: string,
  row: ReleaseRow,
  action: 'published' | 'updated' | 'deleted',
): Promise<void> {
  const { context, framing, hooks } = parts;
  const release = await releaseView(parts, { base: framing.base }, repository, row);
  const payload = { action, release, ...(await framing.frame(repository, account)) };
  await context.commit((transaction: Kysely<Tables>) =>
    hooks.emit(transaction, { name: 'release' }, repository, payload),
  );
}
