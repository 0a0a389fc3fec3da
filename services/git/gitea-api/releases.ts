import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { levels } from '../repositories/access.ts';
import { unknown } from '../repositories/lookup.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { AssetRow, ReleaseRow } from '../store/rest.ts';
import { assetJson } from '../wire/releases.ts';
import {
  accountOf,
  bodyOf,
  created,
  noContent,
  ok,
  optional,
  required,
  route,
  signedInRoute,
  type Answer,
  type Call,
  type Route,
} from './call.ts';
import type { HookParts } from './hooks.ts';
import { listHeaders, numberOf, pageOf, partOf } from './paging.ts';
import { ensureTag, releaseView, tellRelease } from './release-operations.ts';
import { named } from './api-dependencies.ts';
import { uploadOf } from './upload.ts';

const values = {
  target_commitish: optional(z.string().max(250)),
  name: optional(z.string().max(255)),
  body: optional(z.string().max(1_000_000)),
  draft: optional(z.boolean()),
  prerelease: optional(z.boolean()),
};
const createBody = z.object({ tag_name: required, ...values });
const changeBody = z.object({ tag_name: optional(z.string()), ...values });
const releasesPath = '/repos/:owner/:repo/releases';

/** Releases and their files. */
export function releaseRoutes(parts: HookParts): readonly Route[] {
  return [
    route('GET', releasesPath, 'repository', (call) => listReleases(parts, call)),
    signedInRoute('POST', releasesPath, 'repository', (call) => createRelease(parts, call)),
    route('GET', `${releasesPath}/latest`, 'repository', (call) => readLatestRelease(parts, call)),
    route('GET', `${releasesPath}/tags/*tag`, 'repository', (call) => readReleaseByTag(parts, call)),
    signedInRoute('DELETE', `${releasesPath}/tags/*tag`, 'repository', (call) => deleteReleaseByTag(parts, call)),
    route('GET', `${releasesPath}/:id`, 'repository', (call) => readRelease(parts, call)),
    signedInRoute('PATCH', `${releasesPath}/:id`, 'repository', (call) => changeRelease(parts, call)),
    signedInRoute('DELETE', `${releasesPath}/:id`, 'repository', (call) => deleteRelease(parts, call)),
    route('GET', `${releasesPath}/:id/assets`, 'repository', (call) => listAssets(parts, call)),
    signedInRoute('POST', `${releasesPath}/:id/assets`, 'repository', (call) => uploadAsset(parts, call)),
    route('GET', `${releasesPath}/:id/assets/:asset`, 'repository', (call) => readAsset(parts, call)),
    signedInRoute('PATCH', `${releasesPath}/:id/assets/:asset`, 'repository', (call) => renameAsset(parts, call)),
    signedInRoute('DELETE', `${releasesPath}/:id/assets/:asset`, 'repository', (call) => deleteAsset(parts, call)),
  ];
}

async function findRepository({ lookup }: HookParts, call: Call, needed: 'read' | 'write' = 'read') {
  const [owner, name] = named(call);
  const found = await lookup.find(call.visitor, owner, name);
  if (found === undefined) throw unknown();
  if (needed === 'write') await lookup.need(call.visitor, [owner, name], 'write');
  return { repository: found.repository, mayWrite: levels.indexOf(found.level) >= 2 };
}

function toReleaseJson(parts: HookParts, call: Pick<Call, 'base'>, repository: Repository, row: ReleaseRow) {
  return releaseView(parts, call, repository, row);
}

async function getRelease(parts: HookParts, call: Call, needed: 'read' | 'write' = 'read') {
  const { releases } = parts;
  const { repository, mayWrite } = await findRepository(parts, call, needed);
  const id = numberOf(call.params['id']);
  const release = (await releases.list(repository.id, { drafts: mayWrite })).find((row) => row.id === id);
  if (release === undefined) throw unknown();
  return { repository, release };
}

async function getAsset(parts: HookParts, call: Call, needed: 'read' | 'write' = 'read') {
  const { releases } = parts;
  const { repository, release } = await getRelease(parts, call, needed);
  const id = numberOf(call.params['asset']);
  const asset = (await releases.assets(release.id)).find((row) => row.id === id);
  if (asset === undefined) throw unknown();
  return { repository, release, asset };
}

function toAssetJson(call: Call, repository: Repository, { tag }: ReleaseRow, asset: AssetRow) {
  return assetJson(
    asset,
    `${call.base}/${repository.owner}/${repository.name}/releases/download/${tag}/${encodeURIComponent(asset.name)}`,
  );
}

function notifyHooks(
  parts: HookParts,
  call: Call,
  repository: Repository,
  row: ReleaseRow,
  action: Parameters<typeof tellRelease>[4],
) {
  return tellRelease(parts, repository, accountOf(call), row, action);
}

async function listReleases(parts: HookParts, call: Call): Promise<Answer> {
  const { releases } = parts;
  const { repository, mayWrite } = await findRepository(parts, call);
  const all = await releases.list(repository.id, { drafts: mayWrite });
  const page = pageOf(call.query);
  const rows = await Promise.all(partOf(all, page).map((row) => toReleaseJson(parts, call, repository, row)));
  return ok(rows, listHeaders(call, page, all.length));
}

async function createRelease(parts: HookParts, call: Call): Promise<Answer> {
  const { releases } = parts;
  const { repository } = await findRepository(parts, call, 'write');
  const asked = await bodyOf(call, createBody);
  const { tag_name: tag, target_commitish = '' } = asked;
  if ((await releases.byTag(repository.id, tag)) !== undefined)
    throw new Problem('git.release_taken', 409, 'Release is has no Tag');
  const target = target_commitish === '' ? repository.defaultBranch : target_commitish;
  if (asked.draft !== true) await ensureTag(parts, repository, accountOf(call), tag, target);
  const row = await releases.create(
    repository.id,
    {
      tag,
      target,
      title: asked.name === undefined || asked.name === '' ? tag : asked.name,
      body: asked.body ?? '',
      draft: Number(asked.draft ?? false),
      prerelease: Number(asked.prerelease ?? false),
    },
    accountOf(call),
  );
  if (row.draft === 0) await notifyHooks(parts, call, repository, row, 'published');
  return created(await toReleaseJson(parts, call, repository, row));
}

async function readLatestRelease(parts: HookParts, call: Call): Promise<Answer> {
  const { releases } = parts;
  const { repository } = await findRepository(parts, call);
  const row = (await releases.list(repository.id, { drafts: false })).find(({ prerelease }) => prerelease === 0);
  if (row === undefined) throw unknown();
  return ok(await toReleaseJson(parts, call, repository, row));
}

async function readReleaseByTag(parts: HookParts, call: Call): Promise<Answer> {
  const { releases } = parts;
  const { repository, mayWrite } = await findRepository(parts, call);
  const row = await releases.byTag(repository.id, call.params['tag'] ?? '');
  if (row === undefined || (row.draft === 1 && !mayWrite)) throw unknown();
  return ok(await toReleaseJson(parts, call, repository, row));
}

async function deleteReleaseByTag(parts: HookParts, call: Call): Promise<Answer> {
  const { releases } = parts;
  const { repository } = await findRepository(parts, call, 'write');
  const row = await releases.byTag(repository.id, call.params['tag'] ?? '');
  if (row === undefined) throw unknown();
  if (row.draft === 0) await notifyHooks(parts, call, repository, row, 'deleted');
  await releases.remove(repository, row);
  return noContent;
}

async function readRelease(parts: HookParts, call: Call): Promise<Answer> {
  const { repository, release } = await getRelease(parts, call);
  return ok(await toReleaseJson(parts, call, repository, release));
}

async function changeRelease(parts: HookParts, call: Call): Promise<Answer> {
  const { releases } = parts;
  const { repository, release } = await getRelease(parts, call, 'write');
  const asked = await bodyOf(call, changeBody);
  const isDraft = asked.draft ?? release.draft === 1;
  const tag = asked.tag_name === undefined || asked.tag_name === '' ? release.tag : asked.tag_name;
  const target = asked.target_commitish ?? release.target;
  if (!isDraft) await ensureTag(parts, repository, accountOf(call), tag, target);
  const isPublished = release.draft === 1 && !isDraft;
  const row = await releases.change(release, {
    ...{ tag, target, title: asked.name ?? release.title, body: asked.body ?? release.body },
    ...{ draft: Number(isDraft), prerelease: Number(asked.prerelease ?? release.prerelease === 1) },
    ...(isPublished ? { published_at: parts.context.clock.now() } : {}),
  });
  if (!isDraft) await notifyHooks(parts, call, repository, row, isPublished ? 'published' : 'updated');
  return ok(await toReleaseJson(parts, call, repository, row));
}

async function deleteRelease(parts: HookParts, call: Call): Promise<Answer> {
  const { releases } = parts;
  const { repository, release } = await getRelease(parts, call, 'write');
  if (release.draft === 0) await notifyHooks(parts, call, repository, release, 'deleted');
  await releases.remove(repository, release);
  return noContent;
}

async function listAssets(parts: HookParts, call: Call): Promise<Answer> {
  const { releases } = parts;
  const { repository, release } = await getRelease(parts, call);
  return ok((await releases.assets(release.id)).map((asset) => toAssetJson(call, repository, release, asset)));
}

async function uploadAsset(parts: HookParts, call: Call): Promise<Answer> {
  const { releases } = parts;
  const { repository, release } = await getRelease(parts, call, 'write');
  const asset = await uploadOf(call, (name, bytes) => releases.attach(repository, release, name, bytes));
  return created(assetJson(asset, `${call.base}/attachments/${asset.uuid}`));
}

async function readAsset(parts: HookParts, call: Call): Promise<Answer> {
  const { repository, release, asset } = await getAsset(parts, call);
  return ok(toAssetJson(call, repository, release, asset));
}

async function renameAsset(parts: HookParts, call: Call): Promise<Answer> {
  const { releases } = parts;
  const { repository, release, asset } = await getAsset(parts, call, 'write');
  const { name } = await bodyOf(call, z.object({ name: required }));
  return created(toAssetJson(call, repository, release, await releases.rename(asset, name)));
}

async function deleteAsset(parts: HookParts, call: Call): Promise<Answer> {
  const { releases } = parts;
  const { repository, asset } = await getAsset(parts, call, 'write');
  await releases.detach(repository, asset);
  return noContent;
}
