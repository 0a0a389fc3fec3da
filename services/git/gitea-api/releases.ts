import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { levels } from '../repositories/access.ts';
import { unknown } from '../repositories/lookup.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { AssetRow, ReleaseRow } from '../store/rest.ts';
import { assetJson } from '../wire/releases.ts';
import { accountOf, bodyOf, created, noContent, ok, optional, required, type Call, type Route } from './call.ts';
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

/** Releases and their files. */
export function releaseRoutes(parts: HookParts): readonly Route[] {
  const { lookup, releases } = parts;
  const base = '/repos/:owner/:repo/releases';

  const find = async (call: Call, needed: 'read' | 'write' = 'read') => {
    const [owner, name] = named(call);
    const found = await lookup.find(call.visitor, owner, name);
    if (found === undefined) throw unknown();
    if (needed === 'write') await lookup.need(call.visitor, [owner, name], 'write');
    return { repository: found.repository, mayWrite: levels.indexOf(found.level) >= 2 };
  };
  const json = (call: Pick<Call, 'base'>, repository: Repository, row: ReleaseRow) =>
    releaseView(parts, call, repository, row);
  const one = async (call: Call, needed: 'read' | 'write' = 'read') => {
    const { repository, mayWrite } = await find(call, needed);
    const id = numberOf(call.params['id']);
    const release = (await releases.list(repository.id, { drafts: mayWrite })).find((row) => row.id === id);
    if (release === undefined) throw unknown();
    return { repository, release };
  };
  const oneAsset = async (call: Call, needed: 'read' | 'write' = 'read') => {
    const { repository, release } = await one(call, needed);
    const id = numberOf(call.params['asset']);
    const asset = (await releases.assets(release.id)).find((row) => row.id === id);
    if (asset === undefined) throw unknown();
    return { repository, release, asset };
  };
  const assetOf = (call: Call, repository: Repository, { tag }: ReleaseRow, asset: AssetRow) =>
    assetJson(
      asset,
      `${call.base}/${repository.owner}/${repository.name}/releases/download/${tag}/${encodeURIComponent(asset.name)}`,
    );
  const tell = (call: Call, repository: Repository, row: ReleaseRow, action: Parameters<typeof tellRelease>[4]) =>
    tellRelease(parts, repository, accountOf(call), row, action);

  return [
    {
      method: 'GET',
      path: base,
      scope: 'repository',
      handle: async (call) => {
        const { repository, mayWrite } = await find(call);
        const all = await releases.list(repository.id, { drafts: mayWrite });
        const page = pageOf(call.query);
        const rows = await Promise.all(partOf(all, page).map((row) => json(call, repository, row)));
        return ok(rows, listHeaders(call, page, all.length));
      },
    },
    {
      method: 'POST',
      path: base,
      scope: 'repository',
      signedIn: true,
      handle: async (call) => {
        const { repository } = await find(call, 'write');
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
        if (row.draft === 0) await tell(call, repository, row, 'published');
        return created(await json(call, repository, row));
      },
    },
    {
      method: 'GET',
      path: `${base}/latest`,
      scope: 'repository',
      handle: async (call) => {
        const { repository } = await find(call);
        const row = (await releases.list(repository.id, { drafts: false })).find(({ prerelease }) => prerelease === 0);
        if (row === undefined) throw unknown();
        return ok(await json(call, repository, row));
      },
    },
    {
      method: 'GET',
      path: `${base}/tags/*tag`,
      scope: 'repository',
      handle: async (call) => {
        const { repository, mayWrite } = await find(call);
        const row = await releases.byTag(repository.id, call.params['tag'] ?? '');
        if (row === undefined || (row.draft === 1 && !mayWrite)) throw unknown();
        return ok(await json(call, repository, row));
      },
    },
    {
      method: 'DELETE',
      path: `${base}/tags/*tag`,
      scope: 'repository',
      signedIn: true,
      handle: async (call) => {
        const { repository } = await find(call, 'write');
        const row = await releases.byTag(repository.id, call.params['tag'] ?? '');
        if (row === undefined) throw unknown();
        if (row.draft === 0) await tell(call, repository, row, 'deleted');
        await releases.remove(repository, row);
        return noContent;
      },
    },
    {
      method: 'GET',
      path: `${base}/:id`,
      scope: 'repository',
      handle: async (call) => {
        const { repository, release } = await one(call);
        return ok(await json(call, repository, release));
      },
    },
    {
      method: 'PATCH',
      path: `${base}/:id`,
      scope: 'repository',
      signedIn: true,
      handle: async (call) => {
        const { repository, release } = await one(call, 'write');
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
        if (!isDraft) await tell(call, repository, row, isPublished ? 'published' : 'updated');
        return ok(await json(call, repository, row));
      },
    },
    {
      method: 'DELETE',
      path: `${base}/:id`,
      scope: 'repository',
      signedIn: true,
      handle: async (call) => {
        const { repository, release } = await one(call, 'write');
        if (release.draft === 0) await tell(call, repository, release, 'deleted');
        await releases.remove(repository, release);
        return noContent;
      },
    },
    {
      method: 'GET',
      path: `${base}/:id/assets`,
      scope: 'repository',
      handle: async (call) => {
        const { repository, release } = await one(call);
        return ok((await releases.assets(release.id)).map((asset) => assetOf(call, repository, release, asset)));
      },
    },
    {
      method: 'POST',
      path: `${base}/:id/assets`,
      scope: 'repository',
      signedIn: true,
      handle: async (call) => {
        const { repository, release } = await one(call, 'write');
        const asset = await uploadOf(call, (name, bytes) => releases.attach(repository, release, name, bytes));
        return created(assetJson(asset, `${call.base}/attachments/${asset.uuid}`));
      },
    },
    {
      method: 'GET',
      path: `${base}/:id/assets/:asset`,
      scope: 'repository',
      handle: async (call) => {
        const { repository, release, asset } = await oneAsset(call);
        return ok(assetOf(call, repository, release, asset));
      },
    },
    {
      method: 'PATCH',
      path: `${base}/:id/assets/:asset`,
      scope: 'repository',
      signedIn: true,
      handle: async (call) => {
        const { repository, release, asset } = await oneAsset(call, 'write');
        const { name } = await bodyOf(call, z.object({ name: required }));
        return created(assetOf(call, repository, release, await releases.rename(asset, name)));
      },
    },
    {
      method: 'DELETE',
      path: `${base}/:id/assets/:asset`,
      scope: 'repository',
      signedIn: true,
      handle: async (call) => {
        const { repository, asset } = await oneAsset(call, 'write');
        await releases.detach(repository, asset);
        return noContent;
      },
    },
  ];
}
