import * as m from '#messages/git-problems';
import { FileReply, implement, type ApiHandler } from '../../contracts/api.ts';
import { gitReleasesApi, type GitRelease } from '../../contracts/git/releases-api.ts';
import { buildBlobReply } from '../../kit/http/blob-reply.ts';
import { Problem } from '../../contracts/problem.ts';
import { readLog } from '../repositories/commits.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import { readReferences } from '../repositories/references.ts';
import { resolveRevision, resolveByKind } from '../repositories/revisions.ts';
import type { Repository } from '../repositories/repositories.ts';
import { archiveName, isArchiveKind } from '../repositories/archives.ts';
import { mayWrite, requireWrite } from '../gitea-api/issues/issue-access.ts';
import { ensureTag, emitRelease } from '../gitea-api/release-operations.ts';
import type { ReleaseRow } from '../store/repository-relations.ts';
import { getAccount, getRepository, type AppCall } from './issues.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<
  RouteDependencies,
  'context' | 'storage' | 'accessControl' | 'pushControl' | 'webhooks' | 'features'
>;

const ok = { ok: true } as const;
const tags = 'refs/tags/';
const maxNotes = 200;

/** Builds the routes of releases for the pages. */
export function releaseRoutes(deps: Dependencies): readonly ApiHandler[] {
  return [...createRoutes(deps), ...changeRoutes(deps), ...notesRoute(deps), ...fileRoutes(deps)];
}

function createRoutes(deps: Dependencies): readonly ApiHandler[] {
  const { git, manager } = deps.storage;
  const { releases } = deps.features;
  return [
    implement(gitReleasesApi.list, async (call) => {
      const { repository, level } = await getRepository(deps.accessControl, call);
      const mayChange = mayWrite(level) && !repository.archived;
      const rows = await releases.list(repository.id, { drafts: mayWrite(level) });
      const tagReferences = await readReferences(git, manager.getFolder(repository), tags);
      return {
        releases: await Promise.all(rows.map((row) => toReleaseView(deps, row))),
        mayWrite: mayChange,
        tags: tagReferences.map(({ ref }) => ref.slice(tags.length)).toReversed(),
      };
    }),
    implement(gitReleasesApi.create, async ({ body, ...call }) => {
      const repository = await getWritableRepository(deps, call);
      const account = getAccount(call);
      const { tag } = body;
      if ((await releases.findByTag(repository.id, tag)) !== undefined) throw invalid('tag', m.tagHasRelease());
      const target = body.target === '' ? repository.defaultBranch : body.target;
      if (!body.draft)
        await ensureTag(deps, repository, account, tag, target).catch((cause: unknown) => throwTagProblem(cause));
      const values = { tag, target, title: body.title === '' ? tag : body.title, body: body.text };
      const row = await releases.create(
        repository.id,
        { ...values, draft: Number(body.draft), prerelease: Number(body.prerelease) },
        account,
      );
      if (!body.draft) await emitRelease(deps, repository, account, row, 'published');
      return toReleaseView(deps, row);
    }),
  ];
}

function changeRoutes(deps: Dependencies): readonly ApiHandler[] {
  const { context } = deps;
  const { releases } = deps.features;
  return [
    implement(gitReleasesApi.change, async ({ body, ...call }) => {
      const repository = await getWritableRepository(deps, call);
      const account = getAccount(call);
      const before = await getRelease(deps, call, repository, true);
      const {
        title = before.title,
        text = before.body,
        draft = before.draft === 1,
        prerelease = before.prerelease === 1,
      } = body;
      const isPublished = before.draft === 1 && !draft;
      if (isPublished) await ensureTag(deps, repository, account, before.tag, before.target);
      const row = await releases.change(before, {
        title: title === '' ? before.tag : title,
        body: text,
        draft: Number(draft),
        prerelease: Number(prerelease),
        ...(isPublished ? { published_at: context.clock.now() } : {}),
      });
      if (!draft) await emitRelease(deps, repository, account, row, isPublished ? 'published' : 'updated');
      return toReleaseView(deps, row);
    }),
    implement(gitReleasesApi.remove, async (call) => {
      const repository = await getWritableRepository(deps, call);
      const row = await getRelease(deps, call, repository, true);
      if (row.draft === 0) await emitRelease(deps, repository, getAccount(call), row, 'deleted');
      await releases.remove(repository, row);
      return ok;
    }),
  ];
}

function notesRoute(deps: Dependencies): readonly ApiHandler[] {
  const { git, manager, objects } = deps.storage;
  const { releases } = deps.features;
  return [
    implement(gitReleasesApi.notes, async ({ query, ...call }) => {
      const { repository } = await getRepository(deps.accessControl, call);
      const folder = manager.getFolder(repository);
      const revision = await resolveRevision(objects, folder, repository, query.ref);
      if (revision === undefined) return { text: '' };
      const [last] = await releases.list(repository.id, { drafts: false });
      const since = last === undefined ? undefined : await resolveByKind('tag', objects, folder, last.tag);
      const commits = await readLog(git, folder, {
        from: [revision.commit],
        exclude: since === undefined ? [] : [since.commit],
        limit: maxNotes,
      });
      const titles = commits
        .filter(({ parents }) => parents.length < 2)
        .map(({ message }) => message.trim().split('\n', 1)[0] ?? '');
      return { text: titles.map((title) => `- ${title}`).join('\n') };
    }),
  ];
}

function fileRoutes(deps: Dependencies): readonly ApiHandler[] {
  const { manager, objects } = deps.storage;
  const { portable, releases } = deps.features;
  return [
    implement(gitReleasesApi.attach, async ({ query, incoming, ...call }) => {
      const repository = await getWritableRepository(deps, call);
      const release = await getRelease(deps, call, repository, true);
      const name = (query.name.split(/[/\\]/).at(-1) ?? '').replaceAll(/\p{Cc}/gu, '');
      if (name === '' || name === '.' || name === '..') throw invalid('name', m.fileNameMissing());
      if (incoming === undefined) throw new Problem('git.bad_upload', 400, m.fileMissing());
      await releases.attach(repository, release, name, incoming);
      return ok;
    }),
    implement(gitReleasesApi.file, async (call) => {
      const { repository, level } = await getRepository(deps.accessControl, call);
      const asset = await getAsset(deps, call, await getRelease(deps, call, repository, mayWrite(level)));
      const key = await releases.recordDownload(repository, asset);
      return buildBlobReply(deps.context.blobs, key, { type: 'application/octet-stream', saveAs: asset.name });
    }),
    implement(gitReleasesApi.source, async (call) => {
      const { repository, level } = await getRepository(deps.accessControl, call);
      const release = await getRelease(deps, call, repository, mayWrite(level));
      const kind = call.params['kind'] ?? '';
      const revision = await resolveByKind('tag', objects, manager.getFolder(repository), release.tag);
      if (revision === undefined || !isArchiveKind(kind)) throw buildNotFoundProblem();
      const { path, release: sent } = await portable.source(repository, revision.commit, kind);
      return new FileReply({
        path,
        sent,
        type: 'application/octet-stream',
        saveAs: archiveName(repository, release.tag, `.${kind}`),
      });
    }),
    implement(gitReleasesApi.detach, async (call) => {
      const repository = await getWritableRepository(deps, call);
      await releases.detach(repository, await getAsset(deps, call, await getRelease(deps, call, repository, true)));
      return ok;
    }),
  ];
}

async function toReleaseView({ features: { releases } }: Dependencies, row: ReleaseRow): Promise<GitRelease> {
  return {
    id: row.id,
    tag: row.tag,
    title: row.title,
    text: row.body,
    author: row.author,
    draft: row.draft === 1,
    prerelease: row.prerelease === 1,
    publishedAt: row.published_at,
    files: (await releases.assets(row.id)).map(({ id, name, size, downloads }) => ({ id, name, size, downloads })),
  };
}

async function getWritableRepository(deps: Dependencies, call: AppCall) {
  const access = await getRepository(deps.accessControl, call);
  requireWrite(access);
  return access.repository;
}

async function getRelease(
  { features: { releases } }: Dependencies,
  call: AppCall,
  repository: Repository,
  drafts: boolean,
): Promise<ReleaseRow> {
  const row = (await releases.list(repository.id, { drafts })).find(({ id }) => String(id) === call.params['id']);
  if (row === undefined) throw buildNotFoundProblem();
  return row;
}

async function getAsset({ features: { releases } }: Dependencies, call: AppCall, release: ReleaseRow) {
  const asset = (await releases.assets(release.id)).find(({ id }) => String(id) === call.params['file']);
  if (asset === undefined) throw buildNotFoundProblem();
  return asset;
}

function throwTagProblem(cause: unknown): never {
  if (!(cause instanceof Problem)) throw cause;
  const isTarget = cause.code === 'git.unknown';
  throw invalid(isTarget ? 'target' : 'tag', isTarget ? m.targetNotFound() : m.tagNameInvalid(), cause);
}

function invalid(field: string, detail: string, cause?: unknown): Problem {
  return new Problem('git.invalid', 422, detail, { fields: { [field]: detail }, cause });
}
