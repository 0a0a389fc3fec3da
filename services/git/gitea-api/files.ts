import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { normalizeTreePath } from '../domain/names.ts';
import type { Repository } from '../repositories/repositories.ts';
import { gitTime, zeroTime } from '../wire/time.ts';
import { unverified } from '../wire/commits.ts';
import { getCommitEmail } from '../repositories/commit-email.ts';
import { readCommit } from '../repositories/commits.ts';
import { isAuthorName, type Author } from '../repositories/first-commit.ts';
import { getAccount, readJsonBody, optional, type Answer, type Call, type Route } from './call.ts';
import { describe } from './contents.ts';
import { getRepositoryName, getRepositoryAddress } from './repository-requests.ts';
import { writeFiles, type FileOperation } from './write-files.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'storage' | 'accessControl' | 'pushControl' | 'features'>;

const authorName = z
  .string()
  .max(255, 'MaxSize')
  .refine((name) => name === '' || isAuthorName(name), 'name consists only of disallowed characters');
const identity = optional(z.object({ name: optional(authorName), email: optional(z.string().max(254, 'MaxSize')) }));
const common = {
  message: optional(
    z
      .string()
      .max(65_536)
      .refine((text) => !text.includes('\0'), 'must not contain NUL'),
  ),
  branch: optional(z.string()),
  new_branch: optional(z.string()),
  author: identity,
  committer: identity,
  dates: optional(z.object({ author: optional(z.string()), committer: optional(z.string()) })),
};
const base64 = z.string().regex(/^[A-Za-z0-9+/\r\n]*={0,2}\s*$/, 'Base64');
const fileBody = z.object({
  ...common,
  content: optional(base64),
  sha: optional(z.string()),
  from_path: optional(z.string()),
});
const operation = z.enum(['create', 'update', 'upload', 'delete', 'rename']);
const filesBody = z.object({
  ...common,
  files: z
    .array(
      z.object({
        operation,
        path: z.string(),
        content: optional(base64),
        sha: optional(z.string()),
        from_path: optional(z.string()),
      }),
    )
    .min(1, 'Required'),
});

type CommitBody = Omit<z.infer<typeof filesBody>, 'files'>;

/** Builds the routes that create, change and delete files; each call makes one commit. */
export function fileRoutes(deps: Dependencies): readonly Route[] {
  const contentsRoute = (method: 'POST' | 'PUT' | 'DELETE', kind: FileOperation['kind'], status: number): Route => ({
    method,
    path: '/repos/:owner/:repo/contents/*path',
    scope: 'repository',
    signedIn: true,
    handle: async (call) => {
      const repository = await deps.accessControl.lookup.require(call.caller, getRepositoryName(call), 'write');
      const input = await readJsonBody(call, fileBody);
      if (kind !== 'delete' && input.content === undefined)
        throw new Problem('git.invalid', 422, '[Content]: Required');
      const path = call.params['path'] ?? '';
      const work = {
        kind,
        path,
        from: input.from_path,
        sha: input.sha,
        bytes: Buffer.from(input.content ?? '', 'base64'),
      };
      const answer = await commitFiles(deps, call, repository, input, [work]);
      const { files, ...rest } = answer;
      return { status, json: { content: files[0] ?? null, ...rest } };
    },
  });
  return [
    contentsRoute('POST', 'create', 201),
    contentsRoute('PUT', 'update', 200),
    contentsRoute('DELETE', 'delete', 200),
    {
      method: 'POST',
      path: '/repos/:owner/:repo/contents',
      scope: 'repository',
      signedIn: true,
      handle: async (call): Promise<Answer> => {
        const repository = await deps.accessControl.lookup.require(call.caller, getRepositoryName(call), 'write');
        const input = await readJsonBody(call, filesBody);
        const work = input.files.map((file) => ({
          kind: file.operation,
          path: file.path,
          from: file.from_path,
          sha: file.sha,
          bytes: Buffer.from(file.content ?? '', 'base64'),
        }));
        return { status: 201, json: await commitFiles(deps, call, repository, input, work) };
      },
    },
  ];
}

async function commitFiles(
  deps: Dependencies,
  call: Call,
  repository: Repository,
  input: CommitBody,
  work: readonly FileOperation[],
) {
  const branch = input.branch === undefined || input.branch === '' ? repository.defaultBranch : input.branch;
  const target = input.new_branch === undefined || input.new_branch === '' ? branch : input.new_branch;
  const account = getAccount(call);
  const self = { name: account, email: getCommitEmail(await deps.storage.owners.getForAccount(account), call.base) };
  const author = resolveAuthor(input.author, self);
  const committer = resolveAuthor(input.committer, author);
  const message = input.message === undefined || input.message === '' ? defaultMessage(work) : input.message;
  const dates = {
    ...(isDate(input.dates?.author) ? { author: toGitDate(input.dates.author) } : {}),
    ...(isDate(input.dates?.committer) ? { committer: toGitDate(input.dates.committer) } : {}),
  };
  const commit = await writeFiles(
    deps,
    repository,
    { account, branch, target, author, committer, message, dates },
    work,
  );
  const revision = { kind: 'branch', name: target, commit } as const;
  const files = await Promise.all(
    work.map(async ({ kind, path }) =>
      kind === 'delete'
        ? null
        : ((await describe(deps, call, repository, revision, normalizeTreePath(path) ?? '')) ?? null),
    ),
  );
  return { files, commit: await fileCommitJson(deps, call, repository, commit), verification: unverified };
}

/** Returns the author of the request, with missing members taken from `other`. */
function resolveAuthor(input: CommitBody['author'], other: Author): Author {
  return { name: input?.name || other.name, email: input?.email || other.email };
}

async function fileCommitJson(
  { storage: { git, manager } }: Dependencies,
  call: Call,
  repository: Repository,
  id: string,
) {
  const commit = await readCommit(git, manager.getFolder(repository), id);
  if (commit === undefined) throw new Problem('git.unknown', 404, 'not found');
  const { base, full } = getRepositoryAddress(call, repository);
  const api = `${base}/api/v1/repos/${full}/git`;
  const link = (kind: 'commits' | 'trees', sha: string) => ({ url: `${api}/${kind}/${sha}`, sha, created: zeroTime });
  const toIdentity = ({ name, email, date }: typeof commit.author) => ({ name, email, date: gitTime(date) });
  return {
    ...link('commits', id),
    html_url: `${base}/${full}/commit/${id}`,
    author: toIdentity(commit.author),
    committer: toIdentity(commit.committer),
    parents: commit.parents.map((parent) => link('commits', parent)),
    message: commit.message,
    tree: link('trees', commit.tree),
  };
}

function defaultMessage(work: readonly FileOperation[]): string {
  const verbs = { create: 'Add', upload: 'Add', update: 'Update', delete: 'Delete', rename: 'Rename' } as const;
  return work.map(({ kind, path }) => `${verbs[kind]} ${path}`).join('\n');
}

function isDate(text: string | undefined): text is string {
  return (
    text !== undefined &&
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:?\d{2})$/.test(text) &&
    !text.startsWith('0001')
  );
}

/** Formats a date in git's internal format, because git parses textual dates only within this century. */
function toGitDate(date: string): string {
  const [, zone = '+00', minutes = '00'] = /([+-]\d{2}):?(\d{2})$/.exec(date) ?? [];
  return `@${Math.max(0, Math.floor((Date.parse(date) || 0) / 1000))} ${zone}${minutes}`;
}
