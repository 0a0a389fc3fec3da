import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { treePath } from '../domain/names.ts';
import type { Repository } from '../repositories/repositories.ts';
import { gitTime, never } from '../wire/time.ts';
import { unverified } from '../wire/commits.ts';
import { emailOf } from '../wire/users.ts';
import { readCommit } from '../repositories/commits.ts';
import { isAuthorName, type Author } from '../repositories/first-commit.ts';
import { accountOf, bodyOf, optional, type Answer, type Call, type Route } from './call.ts';
import { describe, type ContentParts } from './contents.ts';
import { named, placeOf } from './api-dependencies.ts';
import { writeFiles, type FileWork } from './write-files.ts';

const authorName = z
  .string()
  .max(255, 'MaxSize')
  .refine((name) => name === '' || isAuthorName(name), 'name consists only of disallowed characters');
const person = optional(z.object({ name: optional(authorName), email: optional(z.string().max(254, 'MaxSize')) }));
const common = {
  message: optional(
    z
      .string()
      .max(65_536)
      .refine((text) => !text.includes('\0'), 'must not contain NUL'),
  ),
  branch: optional(z.string()),
  new_branch: optional(z.string()),
  author: person,
  committer: person,
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

type Common = Omit<z.infer<typeof filesBody>, 'files'>;
/** Files are created, changed and deleted over the API; each call is one commit. */
export function fileRoutes(parts: ContentParts): readonly Route[] {
  const one = (method: 'POST' | 'PUT' | 'DELETE', kind: FileWork['kind'], status: number): Route => ({
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
  work: readonly FileWork[],
) {
  const branch = asked.branch === undefined || asked.branch === '' ? repository.defaultBranch : asked.branch;
  const target = asked.new_branch === undefined || asked.new_branch === '' ? branch : asked.new_branch;
  const account = accountOf(call);
  const self = { name: account, email: emailOf(await parts.owners.ofAccount(account), call.base) };
  const author = authorOf(asked.author, self);
  const committer = authorOf(asked.committer, author);
  const message = asked.message === undefined || asked.message === '' ? defaultMessage(work) : asked.message;
  const dates = {
    ...(isDate(asked.dates?.author) ? { author: stampOf(asked.dates.author) } : {}),
    ...(isDate(asked.dates?.committer) ? { committer: stampOf(asked.dates.committer) } : {}),
  };
  const commit = await writeFiles(
    parts,
    repository,
    { account, branch, target, author, committer, message, dates },
    work,
  );
  const revision = { kind: 'branch', name: target, commit } as const;
  const files = await Promise.all(
    work.map(async ({ kind, path }) =>
      kind === 'delete' ? null : ((await describe(parts, call, repository, revision, treePath(path) ?? '')) ?? null),
    ),
  );
  return { files, commit: await fileCommitJson(parts, call, repository, commit), verification: unverified };
}

/** An author as the request names it; what it leaves empty is that of `other`. */
function authorOf(asked: Common['author'], other: Author): Author {
  return { name: asked?.name || other.name, email: asked?.email || other.email };
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

function defaultMessage(work: readonly FileWork[]): string {
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

/** As git keeps it: of dates in words it reads but those of this century. */
function stampOf(date: string): string {
  const [, zone = '+00', minutes = '00'] = /([+-]\d{2}):?(\d{2})$/.exec(date) ?? [];
  return `@${Math.max(0, Math.floor((Date.parse(date) || 0) / 1000))} ${zone}${minutes}`;
}
