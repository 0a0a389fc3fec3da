import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { levels } from '../repositories/access.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { AssetRow, ReleaseRow } from '../store/repository-relations.ts';
import { assetJson } from '../wire/releases.ts';
import {
  getAccount,
  readJsonBody,
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
import { listHeaders, parseId, parsePage, getPageItems } from './paging.ts';
import { ensureTag, releaseView, emitRelease } from './release-operations.ts';
import { getRepositoryName } from './repository-requests.ts';
import { readUpload } from './upload.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<
  RouteDependencies,
  'context' | 'storage' | 'accessControl' | 'pushControl' | 'webhooks' | 'features'
>;

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

/** Builds the routes of releases and their assets. */
export function releaseRoutes(deps: Dependencies): readonly Route[] {
  return [
    route('GET', releasesPath, 'repository', (call) => listReleases(deps, call)),
    signedInRoute('POST', releasesPath, 'repository', (call) => createRelease(deps, call)),
    route('GET', `${releasesPath}/latest`, 'repository', (call) => readLatestRelease(deps, call)),
    route('GET', `${releasesPath}/tags/*tag`, 'repository', (call) => readReleaseByTag(deps, call)),
    signedInRoute('DELETE', `${releasesPath}/tags/*tag`, 'repository', (call) => deleteReleaseByTag(deps, call)),
    route('GET', `${releasesPath}/:id`, 'repository', (call) => readRelease(deps, call)),
    signedInRoute('PATCH', `${releasesPath}/:id`, 'repository', (call) => changeRelease(deps, call)),
    signedInRoute('DELETE', `${releasesPath}/:id`, 'repository', (call) => deleteRelease(deps, call)),
    route('GET', `${releasesPath}/:id/assets`, 'repository', (call) => listAssets(deps, call)),
    signedInRoute('POST', `${releasesPath}/:id/assets`, 'repository', (call) => uploadAsset(deps, call)),
    route('GET', `${releasesPath}/:id/assets/:asset`, 'repository', (call) => readAsset(deps, call)),
    signedInRoute('PATCH', `${releasesPath}/:id/assets/:asset`, 'repository', (call) => renameAsset(deps, call)),
    signedInRoute('DELETE', `${releasesPath}/:id/assets/:asset`, 'repository', (call) => deleteAsset(deps, call)),
  ];
}

async function findRepository(
  { accessControl: { lookup } }: Dependencies,
  call: Call,
  requiredAccess: 'read' | 'write' = 'read',
) {
  const [owner, name] = getRepositoryName(call);
  const result = await lookup.find(call.caller, owner, name);
  if (result === undefined) throw buildNotFoundProblem();
  if (requiredAccess === 'write') await lookup.require(call.caller, [owner, name], 'write');
  return { repository: result.repository, mayWrite: levels.indexOf(result.level) >= 2 };
}

async function getRelease(deps: Dependencies, call: Call, requiredAccess: 'read' | 'write' = 'read') {
  const { releases } = deps.features;
  const { repository, mayWrite } = await findRepository(deps, call, requiredAccess);
  const id = parseId(call.params['id']);
  const release = (await releases.list(repository.id, { drafts: mayWrite })).find((row) => row.id === id);
  if (release === undefined) throw buildNotFoundProblem();
  return { repository, release };
}

async function getAsset(deps: Dependencies, call: Call, requiredAccess: 'read' | 'write' = 'read') {
  const { releases } = deps.features;
  const { repository, release } = await getRelease(deps, call, requiredAccess);
  const id = parseId(call.params['asset']);
  const asset = (await releases.assets(release.id)).find((row) => row.id === id);
  if (asset === undefined) throw buildNotFoundProblem();
  return { repository, release, asset };
}

function toAssetJson(call: Call, repository: Repository, { tag }: ReleaseRow, asset: AssetRow) {
  return assetJson(
    asset,
    `${call.base}/${repository.owner}/${repository.name}/releases/download/${tag}/${encodeURIComponent(asset.name)}`,
  );
}

function notifyHooks(
  deps: Dependencies,
  call: Call,
  repository: Repository,
  row: ReleaseRow,
  action: Parameters<typeof emitRelease>[4],
) {
  return emitRelease(deps, repository, getAccount(call), row, action);
}

async function listReleases(deps: Dependencies, call: Call): Promise<Answer> {
  const { releases } = deps.features;
  const { repository, mayWrite } = await findRepository(deps, call);
  const all = await releases.list(repository.id, { drafts: mayWrite });
  const page = parsePage(call.query);
  const rows = await Promise.all(getPageItems(all, page).map((row) => releaseView(deps, call, repository, row)));
  return ok(rows, listHeaders(call, page, all.length));
}

async function createRelease(deps: Dependencies, call: Call): Promise<Answer> {
  const { releases } = deps.features;
  const { repository } = await findRepository(deps, call, 'write');
  const input = await readJsonBody(call, createBody);
  const { tag_name: tag, target_commitish = '' } = input;
  if ((await releases.findByTag(repository.id, tag)) !== undefined)
    throw new Problem('git.release_taken', 409, 'Release is has no Tag');
  const target = target_commitish === '' ? repository.defaultBranch : target_commitish;
  if (input.draft !== true) await ensureTag(deps, repository, getAccount(call), tag, target);
  const row = await releases.create(
    repository.id,
    {
      tag,
      target,
      title: input.name === undefined || input.name === '' ? tag : input.name,
      body: input.body ?? '',
      draft: Number(input.draft ?? false),
      prerelease: Number(input.prerelease ?? false),
    },
    getAccount(call),
  );
  if (row.draft === 0) await notifyHooks(deps, call, repository, row, 'published');
  return created(await releaseView(deps, call, repository, row));
}

async function readLatestRelease(deps: Dependencies, call: Call): Promise<Answer> {
  const { releases } = deps.features;
  const { repository } = await findRepository(deps, call);
  const row = (await releases.list(repository.id, { drafts: false })).find(({ prerelease }) => prerelease === 0);
  if (row === undefined) throw buildNotFoundProblem();
  return ok(await releaseView(deps, call, repository, row));
}

async function readReleaseByTag(deps: Dependencies, call: Call): Promise<Answer> {
  const { releases } = deps.features;
  const { repository, mayWrite } = await findRepository(deps, call);
  const row = await releases.findByTag(repository.id, call.params['tag'] ?? '');
  if (row === undefined || (row.draft === 1 && !mayWrite)) throw buildNotFoundProblem();
  return ok(await releaseView(deps, call, repository, row));
}

async function deleteReleaseByTag(deps: Dependencies, call: Call): Promise<Answer> {
  const { releases } = deps.features;
  const { repository } = await findRepository(deps, call, 'write');
  const row = await releases.findByTag(repository.id, call.params['tag'] ?? '');
  if (row === undefined) throw buildNotFoundProblem();
  if (row.draft === 0) await notifyHooks(deps, call, repository, row, 'deleted');
  await releases.remove(repository, row);
  return noContent;
}

async function readRelease(deps: Dependencies, call: Call): Promise<Answer> {
  const { repository, release } = await getRelease(deps, call);
  return ok(await releaseView(deps, call, repository, release));
}

async function changeRelease(deps: Dependencies, call: Call): Promise<Answer> {
  const { releases } = deps.features;
  const { repository, release } = await getRelease(deps, call, 'write');
  const input = await readJsonBody(call, changeBody);
  const isDraft = input.draft ?? release.draft === 1;
  const tag = input.tag_name === undefined || input.tag_name === '' ? release.tag : input.tag_name;
  const target = input.target_commitish ?? release.target;
  if (!isDraft) await ensureTag(deps, repository, getAccount(call), tag, target);
  const isPublished = release.draft === 1 && !isDraft;
  const row = await releases.change(release, {
    tag,
    target,
    title: input.name ?? release.title,
    body: input.body ?? release.body,
    draft: Number(isDraft),
    prerelease: Number(input.prerelease ?? release.prerelease === 1),
    ...(isPublished ? { published_at: deps.context.clock.now() } : {}),
  });
  if (!isDraft) await notifyHooks(deps, call, repository, row, isPublished ? 'published' : 'updated');
  return ok(await releaseView(deps, call, repository, row));
}

async function deleteRelease(deps: Dependencies, call: Call): Promise<Answer> {
  const { releases } = deps.features;
  const { repository, release } = await getRelease(deps, call, 'write');
  if (release.draft === 0) await notifyHooks(deps, call, repository, release, 'deleted');
  await releases.remove(repository, release);
  return noContent;
}

async function listAssets(deps: Dependencies, call: Call): Promise<Answer> {
  const { releases } = deps.features;
  const { repository, release } = await getRelease(deps, call);
  return ok((await releases.assets(release.id)).map((asset) => toAssetJson(call, repository, release, asset)));
}

async function uploadAsset(deps: Dependencies, call: Call): Promise<Answer> {
  const { releases } = deps.features;
  const { repository, release } = await getRelease(deps, call, 'write');
  const asset = await readUpload(call, (name, bytes) => releases.attach(repository, release, name, bytes));
  return created(assetJson(asset, `${call.base}/attachments/${asset.uuid}`));
}

async function readAsset(deps: Dependencies, call: Call): Promise<Answer> {
  const { repository, release, asset } = await getAsset(deps, call);
  return ok(toAssetJson(call, repository, release, asset));
}

async function renameAsset(deps: Dependencies, call: Call): Promise<Answer> {
  const { releases } = deps.features;
  const { repository, release, asset } = await getAsset(deps, call, 'write');
  const { name } = await readJsonBody(call, z.object({ name: required }));
  return created(toAssetJson(call, repository, release, await releases.rename(asset, name)));
}

async function deleteAsset(deps: Dependencies, call: Call): Promise<Answer> {
  const { releases } = deps.features;
  const { repository, asset } = await getAsset(deps, call, 'write');
  await releases.detach(repository, asset);
  return noContent;
}
