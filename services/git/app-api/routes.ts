import { implement, type ApiHandler, type ApiRequest } from '../../contracts/api.ts';
import {
  gitApi,
  type GitChecks,
  type GitCommit,
  type GitContent,
  type GitKey,
  type GitRepository,
} from '../../contracts/git/api.ts';
import { Problem } from '../../contracts/problem.ts';
import { PageProblem } from '../domain/page-problem.ts';
import { decodeText } from '../../kit/text-encoding.ts';
import { readLargeText } from '../lfs/large-text.ts';
import { largestPointer, readPointer } from '../lfs/pointer.ts';
import { timeOfDate } from '../domain/commit-time.ts';
import { repositoryNameProblem, treePath } from '../domain/names.ts';
import { readBlame } from '../repositories/blame.ts';
import { readCommit, readLog, type Commit } from '../repositories/commits.ts';
import { unknown } from '../repositories/lookup.ts';
import { readReferences } from '../repositories/references.ts';
import { resolve } from '../repositories/revisions.ts';
import type { Repository } from '../repositories/repositories.ts';
import { readTree } from '../repositories/trees.ts';
import type { ContentParts } from '../gitea-api/contents.ts';
import { nobody, type Visitor } from '../sign-in/visitor.ts';
import { combined } from '../statuses/statuses.ts';
import type { StatusRow } from '../store/statuses.ts';
import type { PublicKeyRow } from '../store/tables.ts';
import { readDiffs } from './diffs.ts';

const perPage = 50;
const mostListed = 200;
/** More of a text is not shown, bytes. */
const longestText = 512 * 1024;
const longestReadme = 100 * 1024;
const kinds = { '040000': 'folder', '160000': 'module', '120000': 'link' } as const;
const ok = { ok: true } as const;

type Asked = Pick<ApiRequest<unknown, unknown>, 'identity' | 'params'>;

/** The service's part of our own API. */
export function ownRoutes(parts: ContentParts): readonly ApiHandler[] {
  return [...repositoryRoutes(parts), ...contentRoutes(parts), ...commitRoutes(parts), ...keyRoutes(parts)];
}

function repositoryRoutes(parts: ContentParts): readonly ApiHandler[] {
  const { access, context, git, keeper, lookup, objects, repositories, settings } = parts;
  return [
    implement(gitApi.list, async ({ identity, query }) => {
      const sight = identity === undefined ? ('all' as const) : await access.sight({ ...nobody, identity });
      const found = await repositories.list({
        ...{ sight, words: query.q, inDescription: true },
        ...(query.owner === '' ? {} : { owner: query.owner }),
        ...(query.sort === 'name' ? { sort: 'alpha' as const } : { sort: 'updated' as const, descending: true }),
        ...{ limit: mostListed, offset: 0 },
      });
      return { repositories: found.repositories.map(summary), total: found.total };
    }),
    implement(gitApi.create, async ({ body, ...asked }) => {
      const wrong = repositoryNameProblem(body.name);
      if (wrong !== undefined) {
        throw new Problem('git.invalid', 422, 'Use letters, digits, dots, - and _ for the name.', {
          fields: { name: 'Use letters, digits, dots, - and _.' },
        });
      }
      const { account } = accountOf(asked);
      const made = await keeper.create({ ...body, owner: account, defaultBranch: settings.defaultBranch });
      return summary(made);
    }),
    implement(gitApi.one, async (asked) => {
      const visitor = visitorOf(asked);
      const { owner = '', name = '' } = asked.params;
      const repository =
        (await lookup.find(visitor, owner, name))?.repository ?? (await lookup.renamed(visitor, owner, name));
      if (repository === undefined) throw unknown();
      const folder = keeper.folder(repository);
      const level = await access.level(visitor, repository);
      const references = await readReferences(git, folder, 'refs/');
      const named = (prefix: string) =>
        references.flatMap(({ ref }) => (ref.startsWith(prefix) ? [ref.slice(prefix.length)] : []));
      const base = settings.publicUrl === '' ? (context.address('git') ?? '') : settings.publicUrl.replace(/\/+$/, '');
      const full = `${repository.owner}/${repository.name}.git`;
      return {
        ...summary(repository),
        branches: named('refs/heads/'),
        tags: named('refs/tags/').toReversed(),
        level: level === 'none' ? ('read' as const) : level,
        cloneHttp: `${base}/${full}`,
        cloneSsh: context.address('git', 'ssh') === undefined ? null : `${parts.ssh(base)}/${full}`,
      };
    }),
    implement(gitApi.remove, async (asked) => {
      const { repository, visitor, folder } = await findRepository(parts, asked, 'admin');
      const owner = await parts.owners.byId(repository.ownerId);
      if (!(await access.administersOwner(visitor, owner))) {
        throw new PageProblem('git.forbidden', 403, 'Only the owner can delete a repository.');
      }
      await objects.close(folder);
      await keeper.remove(repository);
      return ok;
    }),
  ];
}

function contentRoutes(parts: ContentParts): readonly ApiHandler[] {
  const { git, lastCommits, objects } = parts;
  return [
    implement(gitApi.content, async (asked): Promise<GitContent> => {
      const { folder, path, commit, repository } = await getLocation(parts, asked);
      const info = await objects.info(folder, path === '' ? `${commit}^{tree}` : `${commit}:${path}`);
      if (info?.type === 'blob') {
        const last = (await lastCommits.of(folder, commit, path)) ?? (await readCommit(git, folder, commit));
        if (last === undefined) throw unknown();
        const shown = await textOf(parts, folder, info.id, longestText);
        const { id } = info;
        const pointer = info.size > largestPointer ? undefined : await pointerOf(parts, folder, id);
        const text =
          pointer === undefined ? shown?.text : await readLargeText(parts.lfs, repository, pointer, longestText);
        return {
          ...{ kind: 'file', commit: commitView(last), id, size: pointer?.size ?? info.size },
          ...{ text: text ?? null, editable: shown?.exact ?? false, lfs: pointer !== undefined },
        };
      }
      const entries = info?.type === 'tree' ? await readTree(objects, folder, info.id) : undefined;
      const [newest] = await readLog(git, folder, { from: [commit], path, limit: 1 });
      if (entries === undefined || newest === undefined) throw unknown();
      const last = await lastCommits.ofEntries(
        folder,
        commit,
        path,
        entries.map(({ name }) => name),
      );
      const readme = entries.find(({ name, type }) => type === 'blob' && /^readme(\.(md|markdown|txt))?$/i.test(name));
      const text = (readme && (await textOf(parts, folder, readme.id, longestReadme)))?.text ?? null;
      return {
        kind: 'folder',
        commit: commitView(newest),
        entries: entries
          .map(({ name, mode }) => {
            const changed = last.get(path === '' ? name : `${path}/${name}`);
            return {
              name,
              kind: kinds[mode as keyof typeof kinds] ?? ('file' as const),
              last: changed === undefined ? null : commitView(changed),
            };
          })
          // Folders first, as people look for them.
          .toSorted((one, other) => Number(other.kind === 'folder') - Number(one.kind === 'folder')),
        readme: readme === undefined || text === null ? null : { name: readme.name, text },
      };
    }),
    implement(gitApi.blame, async (asked) => {
      const { folder, path, commit } = await getLocation(parts, asked);
      const info = path === '' ? undefined : await objects.info(folder, `${commit}:${path}`);
      const last = await readCommit(git, folder, commit);
      if (info?.type !== 'blob' || last === undefined) throw unknown();
      if (info.size > longestText) throw new Problem('git.too_much', 413, 'This file is too large to be shown.');
      const found = await readBlame(git, folder, commit, path);
      return { commit: commitView(last), parts: found.map((part) => ({ ...part, lines: [...part.lines] })) };
    }),
  ];
}

function commitRoutes(parts: ContentParts): readonly ApiHandler[] {
  const { git, objects, statuses } = parts;
  return [
    implement(gitApi.commits, async (asked) => {
      const { folder, path, commit, repository } = await getLocation(parts, asked);
      const query = { from: [commit], path, offset: asked.query.offset, limit: perPage + 1 };
      const commits = await readLog(git, folder, query);
      const shown = commits.slice(0, perPage);
      const checks = await statuses.latestOf(
        repository.id,
        shown.map(({ id }) => id),
      );
      return {
        commits: shown.map((one) => ({ ...commitView(one), checks: checksView(checks.get(one.id)) })),
        more: commits.length > perPage,
      };
    }),
    implement(gitApi.commit, async (asked) => {
      const { repository, folder } = await findRepository(parts, asked);
      const revision = await resolve(objects, folder, repository, asked.params['commit']);
      const commit = revision && (await readCommit(git, folder, revision.commit));
      if (commit === undefined) throw unknown();
      return { commit: commitView(commit), ...(await readDiffs(git, folder, commit.id)) };
    }),
  ];
}

function keyRoutes({ keys }: ContentParts): readonly ApiHandler[] {
  return [
    implement(gitApi.keys, async (asked) => ({
      keys: (await keys.ofAccount(accountOf(asked).account)).map(keyView),
    })),
    implement(gitApi.addKey, async ({ body, ...asked }) => {
      try {
        return keyView(await keys.add({ account: accountOf(asked).account }, body.title, body.key));
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        const detail =
          error.code === 'git.key_taken'
            ? 'This key is in use already.'
            : 'This is no public key that is taken: ed25519, ECDSA, or RSA of 2,048 bits at least.';
        throw new Problem(error.code, 422, detail, { fields: { key: detail }, cause: error });
      }
    }),
    implement(gitApi.removeKey, async (asked) => {
      const id = Number(asked.params['id']);
      const removed = Number.isSafeInteger(id) && (await keys.remove({ account: accountOf(asked).account }, id));
      if (!removed) throw new Problem('git.unknown_key', 404, 'There is no such key.');
      return ok;
    }),
  ];
}

async function findRepository(
  { keeper, lookup }: ContentParts,
  asked: Asked,
  needed: 'read' | 'write' | 'admin' = 'read',
) {
  const { owner = '', name = '' } = asked.params;
  const visitor = visitorOf(asked);
  const repository = await lookup.need(visitor, [owner, name], needed);
  return { repository, visitor, folder: keeper.folder(repository) };
}

async function getLocation(
  parts: ContentParts,
  asked: Asked & { readonly query: { readonly ref: string; readonly path: string } },
) {
  const { objects } = parts;

  const { repository, folder } = await findRepository(parts, asked);
  const path = treePath(asked.query.path);
  const revision = await resolve(objects, folder, repository, asked.query.ref);
  if (path === undefined || revision === undefined) throw unknown();
  return { folder, path, commit: revision.commit, repository };
}

function accountOf({ identity }: Pick<Asked, 'identity'>) {
  if (identity === undefined) throw new Problem('git.sign_in', 401, 'Sign in first.');
  return identity;
}

function visitorOf(asked: Asked): Visitor {
  return { ...nobody, identity: accountOf(asked) };
}

/** `exact` says that the same bytes can be made of the text. */
async function textOf(
  { objects }: Pick<ContentParts, 'objects'>,
  folder: string,
  id: string,
  most: number,
): Promise<{ readonly text: string; readonly exact: boolean } | undefined> {
  const info = await objects.info(folder, id);
  if (info === undefined || info.size > most) return undefined;
  const bytes = (await objects.contents(folder, id))?.bytes;
  const decoded = bytes === undefined || readPointer(bytes) !== undefined ? undefined : decodeText(bytes);
  return decoded && { text: decoded.text, exact: decoded.exact && bytes?.includes(0) === false };
}

/** The pointer of Git LFS that a file is; undefined for another file. */
async function pointerOf({ objects }: Pick<ContentParts, 'objects'>, folder: string, id: string) {
  const bytes = (await objects.contents(folder, id))?.bytes;
  return bytes === undefined ? undefined : readPointer(bytes);
}

/** A repository as lists of the pages show it. */
export function summary(repository: Repository): GitRepository {
  const { id, owner, name, description, archived, empty, defaultBranch, size, updatedAt, counts } = repository;
  return {
    ...{ id, owner, name, description, private: repository.private, archived, empty, defaultBranch, size, updatedAt },
    ...{ openIssues: counts.issues, openPulls: counts.pulls },
  };
}

/** A commit as the pages show it. */
export function commitView({ id, message, author, committer, parents }: Commit): GitCommit {
  const [title = '', ...rest] = message.trim().split('\n');
  return {
    id,
    title,
    body: rest.join('\n').trim(),
    author: author.name,
    email: author.email,
    time: timeOfDate(committer.date),
    parents: [...parents],
  };
}

function checksView(rows: readonly StatusRow[] = []): GitChecks | null {
  const state = combined(rows);
  if (state === undefined) return null;
  return { state, passed: rows.filter((row) => row.state === 'success').length, total: rows.length };
}

function keyView({ id, title, fingerprint, created_at, last_used_at }: PublicKeyRow): GitKey {
  return { id, title, fingerprint, createdAt: created_at, lastUsedAt: last_used_at };
}
