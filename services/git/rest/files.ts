import { rm } from 'node:fs/promises';
import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { isBranchName, treePath } from '../domain/names.ts';
import { authorship } from '../repositories/first-commit.ts';
import { resolve } from '../repositories/revisions.ts';
import type { Repository } from '../repositories/repositories.ts';
import { noObject } from '../transfer/push-request.ts';
import { gitTime, never } from '../wire/time.ts';
import { unverified } from '../wire/commits.ts';
import { emailOf } from '../wire/users.ts';
import { readCommit } from '../repositories/commits.ts';
import { accountOf, bodyOf, optional, type Answer, type Call, type Route } from './call.ts';
import { changeReference } from './change-reference.ts';
import { describe, type ContentParts } from './contents.ts';
import { named, placeOf } from './parts.ts';

const person = optional(z.object({ name: optional(z.string()), email: optional(z.string()) }));
const common = {
  message: optional(z.string().max(65_536)),
  branch: optional(z.string()),
  new_branch: optional(z.string()),
  author: person,
  committer: person,
  dates: optional(z.object({ author: optional(z.string()), committer: optional(z.string()) })),
};
const base64 = z.string().regex(/^[A-Za-z0-9+/\r\n]*={0,2}\s*$/, 'Base64');
const fileBody = z.object({ ...common, content: optional(base64), sha: optional(z.string()), from_path: optional(z.string()) }); // prettier-ignore
const operation = z.enum(['create', 'update', 'upload', 'delete', 'rename']);
const filesBody = z.object({
  ...common,
  files: z.array(z.object({ operation, path: z.string(), content: optional(base64), sha: optional(z.string()), from_path: optional(z.string()) })).min(1, 'Required'), // prettier-ignore
});

type Common = Omit<z.infer<typeof filesBody>, 'files'>;
interface Operation {
  readonly kind: z.infer<typeof operation>;
  readonly path: string;
  readonly from: string | undefined;
  readonly sha: string | undefined;
  readonly bytes: Buffer;
}

/** Files are created, changed and deleted over the API; each call is one commit. */
export function fileRoutes(parts: ContentParts): readonly Route[] {
  const one = (method: 'POST' | 'PUT' | 'DELETE', kind: Operation['kind'], status: number): Route => ({
    method,
    path: '/repos/:owner/:repo/contents/*path',
    scope: 'repository',
    signedIn: true,
    handle: async (call) => {
      const repository = await parts.lookup.need(call.visitor, named(call), 'write');
      const asked = await bodyOf(call, fileBody);
      if (kind !== 'delete' && asked.content === undefined)
        throw new Problem('git.invalid', 422, '[Content]: Required');
      const path = call.params['path'] ?? '';
      const work = {
        kind,
        path,
        from: asked.from_path,
        sha: asked.sha,
        bytes: Buffer.from(asked.content ?? '', 'base64'),
      };
      const answer = await commitFiles(parts, call, repository, asked, [work]);
      const { files, ...rest } = answer;
      return { status, json: { content: files[0] ?? null, ...rest } };
    },
  });
  return [
    one('POST', 'create', 201),
    one('PUT', 'update', 200),
    one('DELETE', 'delete', 200),
    {
      method: 'POST',
      path: '/repos/:owner/:repo/contents',
      scope: 'repository',
      signedIn: true,
      handle: async (call): Promise<Answer> => {
        const repository = await parts.lookup.need(call.visitor, named(call), 'write');
        const asked = await bodyOf(call, filesBody);
        const work = asked.files.map((file) => ({
          kind: file.operation,
          path: file.path,
          from: file.from_path,
          sha: file.sha,
          bytes: Buffer.from(file.content ?? '', 'base64'),
        }));
        return { status: 201, json: await commitFiles(parts, call, repository, asked, work) };
      },
    },
  ];
}

async function commitFiles(
  parts: ContentParts,
  call: Call,
  repository: Repository,
  asked: Common,
  work: readonly Operation[],
) {
  const { git, keeper, objects, owners } = parts;
  const folder = keeper.folder(repository);
  const branch = asked.branch === undefined || asked.branch === '' ? repository.defaultBranch : asked.branch;
  const target = asked.new_branch === undefined || asked.new_branch === '' ? branch : asked.new_branch;
  if (!isBranchName(branch) || !isBranchName(target)) throw new Problem('git.invalid', 422, '[Branch]: GitRefName');
  if (repository.archived)
    throw new Problem('git.archived', 423, `repo ${repository.owner}/${repository.name} is archived`);
  const base = await resolve(objects, folder, repository, `refs/heads/${branch}`);
  if (base === undefined && !repository.empty) throw new Problem('git.unknown_branch', 404, `branch does not exist [name: ${branch}]`); // prettier-ignore
  if (target !== branch && (await resolve(objects, folder, repository, `refs/heads/${target}`)) !== undefined) {
    throw new Problem('git.branch_taken', 422, `branch already exists [name: ${target}]`);
  }
  await parts.protections.checkCommit(repository.id, target, { account: accountOf(call) });
  const lines: string[] = [];
  for (const each of work) lines.push(...(await changeOf(parts, folder, base?.commit, each)));
  // An index of its own, in the folder of git's home: two changes at once do not meet.
  const index = `${folder}/homeport-index-${parts.context.random.text(12)}`;
  const environment = { GIT_INDEX_FILE: index };
  const account = accountOf(call);
  const self = { name: account, email: emailOf(await owners.ofAccount(account), call.base) };
  let commit: string;
  try {
    if (base !== undefined) await git.run(folder, ['read-tree', base.commit], { environment });
    await git.run(folder, ['update-index', '-z', '--index-info'], { environment, input: lines.join('') });
    const tree = (await git.run(folder, ['write-tree'], { environment })).stdout.toString().trim();
    const author = { name: asked.author?.name ?? self.name, email: asked.author?.email ?? self.email };
    const committer = { name: asked.committer?.name ?? author.name, email: asked.committer?.email ?? author.email };
    const message = asked.message === undefined || asked.message === '' ? defaultMessage(work) : asked.message;
    const dates = {
      ...(isDate(asked.dates?.author) ? { author: asked.dates.author } : {}),
      ...(isDate(asked.dates?.committer) ? { committer: asked.dates.committer } : {}),
    };
    const { stdout } = await git.run(
      folder,
      ['commit-tree', ...(base === undefined ? [] : ['-p', base.commit]), tree],
      {
        input: message.replace(/\n?$/, '\n'),
        environment: authorship(author, committer, dates),
      },
    );
    commit = stdout.toString().trim();
  } finally {
    await rm(index, { force: true });
  }
  const before = target === branch ? (base?.commit ?? noObject) : noObject;
  await changeReference(parts, repository, account, { ref: `refs/heads/${target}`, before, after: commit });
  const revision = { kind: 'branch', name: target, commit } as const;
  const files = await Promise.all(
    work.map(async ({ kind, path }) =>
      kind === 'delete' ? null : ((await describe(parts, call, repository, revision, treePath(path) ?? '')) ?? null),
    ),
  );
  return { files, commit: await fileCommitJson(parts, call, repository, commit), verification: unverified };
}

/** What git is to change in its index for an operation. @throws Problem (404, 422) in the peer's words */
async function changeOf(
  { git, objects }: Pick<ContentParts, 'git' | 'objects'>,
  folder: string,
  base: string | undefined,
  { kind, path: asked, from: askedFrom, sha, bytes }: Operation,
): Promise<readonly string[]> {
  const path = treePath(asked);
  const from = askedFrom === undefined || askedFrom === '' ? path : treePath(askedFrom);
  if (path === undefined || path === '' || from === undefined) throw new Problem('git.invalid', 422, `path contains a malformed path component [path: ${asked}]`); // prettier-ignore
  const there = base === undefined ? undefined : await objects.info(folder, `${base}:${from}`);
  const isFile = there?.type === 'blob';
  if (
    kind === 'create' &&
    (base === undefined ? undefined : await objects.info(folder, `${base}:${path}`)) !== undefined
  ) {
    throw new Problem('git.file_exists', 422, `repository file already exists [path: ${path}]`);
  }
  if ((kind === 'update' || kind === 'delete' || kind === 'rename') && !isFile) {
    // As a client may put a file that is not there yet.
    if (kind !== 'update' || (sha !== undefined && sha !== '')) throw new Problem('git.unknown', 404, `repository file does not exist [path: ${from}]`); // prettier-ignore
  }
  if (isFile && kind !== 'create' && kind !== 'upload') {
    if (sha === undefined || sha === '') throw new Problem('git.invalid', 422, 'sha or commit_id must be provided when updating a file'); // prettier-ignore
    if (sha !== there.id)
      throw new Problem('git.stale', 422, `sha does not match [given: ${sha}, expected: ${there.id}]`);
  }
  const gone = `0 ${noObject}\t${from}\0`;
  if (kind === 'delete') return [gone];
  if (kind === 'rename') return [gone, `100644 ${there?.id ?? noObject}\t${path}\0`];
  const id = (await git.run(folder, ['hash-object', '-w', '--stdin'], { input: bytes })).stdout.toString().trim();
  const mode = isFile && base !== undefined ? await modeOf(git, folder, base, from) : '100644';
  return [...(from === path ? [] : [gone]), `${mode} ${id}\t${path}\0`];
}

/** A program stays one when its text changes. */
async function modeOf(git: ContentParts['git'], folder: string, base: string, path: string): Promise<string> {
  const { stdout } = await git.run(folder, ['ls-tree', '-z', base, '--', path]);
  return /^(\d{6}) blob/.exec(stdout.toString())?.[1] ?? '100644';
}

async function fileCommitJson({ git, keeper }: ContentParts, call: Call, repository: Repository, id: string) {
  const commit = await readCommit(git, keeper.folder(repository), id);
  if (commit === undefined) throw new Problem('git.unknown', 404, 'not found');
  const { base, full } = placeOf(call, repository);
  const api = `${base}/api/v1/repos/${full}/git`;
  const link = (kind: 'commits' | 'trees', sha: string) => ({ url: `${api}/${kind}/${sha}`, sha, created: never });
  const who = ({ name, email, date }: typeof commit.author) => ({ name, email, date: gitTime(date) });
  return {
    ...link('commits', id),
    html_url: `${base}/${full}/commit/${id}`,
    author: who(commit.author),
    committer: who(commit.committer),
    parents: commit.parents.map((parent) => link('commits', parent)),
    message: commit.message,
    tree: link('trees', commit.tree),
  };
}

function defaultMessage(work: readonly Operation[]): string {
  const verbs = { create: 'Add', upload: 'Add', update: 'Update', delete: 'Delete', rename: 'Rename' } as const;
  return work.map(({ kind, path }) => `${verbs[kind]} ${path}`).join('\n');
}

function isDate(text: string | undefined): text is string {
  return text !== undefined && /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:?\d{2})$/.test(text) && !text.startsWith('0001'); // prettier-ignore
}
