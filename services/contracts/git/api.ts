import { z } from 'zod';
import { defineRoute, fileReply } from '../api.ts';

const time = z.number().describe('ms since the epoch');

/** Repository in lists. */
export const GitRepository = z.object({
  id: z.int(),
  owner: z.string(),
  name: z.string(),
  description: z.string(),
  private: z.boolean(),
  archived: z.boolean(),
  empty: z.boolean(),
  defaultBranch: z.string(),
  /** Size in KiB. */
  size: z.number(),
  updatedAt: time,
  openIssues: z.int(),
  openPulls: z.int(),
});
export type GitRepository = z.infer<typeof GitRepository>;

/** Commit in lists and pages. `time` is in milliseconds since the epoch. */
export const GitCommit = z.object({
  id: z.string(),
  title: z.string(),
  /** Message after the first line. */
  body: z.string(),
  author: z.string(),
  email: z.string(),
  time,
  parents: z.array(z.string()),
});
export type GitCommit = z.infer<typeof GitCommit>;

/** Combined result of the checks of a commit, worst first. */
export const GitChecks = z.object({
  state: z.enum(['error', 'failure', 'warning', 'pending', 'success', 'skipped']),
  passed: z.int(),
  total: z.int(),
});
export type GitChecks = z.infer<typeof GitChecks>;

/** Commit in a list; `checks` is null when no check reported a result. */
export const GitListedCommit = GitCommit.extend({ checks: GitChecks.nullable() });
export type GitListedCommit = z.infer<typeof GitListedCommit>;

/** Repository with everything that its page shows. */
export const GitRepositoryView = GitRepository.extend({
  branches: z.array(z.string()),
  tags: z.array(z.string()),
  level: z.enum(['read', 'write', 'admin']),
  cloneHttp: z.string(),
  /** Null while the SSH listener is closed. */
  cloneSsh: z.string().nullable(),
});
export type GitRepositoryView = z.infer<typeof GitRepositoryView>;

/** Entry of a folder at a revision. */
export const GitEntry = z.object({
  name: z.string(),
  kind: z.enum(['folder', 'file', 'link', 'module']),
  last: GitCommit.pick({ id: true, title: true, time: true }).nullable(),
});
export type GitEntry = z.infer<typeof GitEntry>;

/** Content at a path of a commit. */
export const GitContent = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('folder'),
    /** Commit that the ref points to. */
    revision: z.string(),
    /** Last commit that changed the folder. */
    commit: GitCommit,
    entries: z.array(GitEntry),
    readme: z.object({ name: z.string(), text: z.string() }).nullable(),
  }),
  z.object({
    kind: z.literal('file'),
    /** Commit that the ref points to. */
    revision: z.string(),
    /** Last commit that changed the file. */
    commit: GitCommit,
    id: z.string().describe('Of its bytes; who changes it says what he saw.'),
    size: z.number(),
    /** Null for binary files and for text that is too large to display. */
    text: z.string().nullable(),
    editable: z.boolean().describe('The text is all of its bytes; that of another charset only shows it.'),
    lfs: z.boolean().default(false).describe('The content is stored with Git LFS; the size is that of the content.'),
  }),
]);
export type GitContent = z.infer<typeof GitContent>;

/** Consecutive lines from one commit. */
export const GitBlamePart = z.object({
  commit: z.string(),
  title: z.string(),
  author: z.string(),
  time,
  lines: z.array(z.string()),
});
export type GitBlamePart = z.infer<typeof GitBlamePart>;

/** Changes of one file. */
export const GitFileDiff = z.object({
  path: z.string(),
  from: z.string().nullable(),
  status: z.enum(['added', 'modified', 'removed', 'renamed']),
  additions: z.int(),
  deletions: z.int(),
  /** Unified diff from the first `@@`; null for binary files and for diffs that are too large. */
  patch: z.string().nullable(),
});
export type GitFileDiff = z.infer<typeof GitFileDiff>;

/** Difference between two commits, up to the display limits. */
export const GitDiff = z.object({
  files: z.array(GitFileDiff),
  /** Total number of files, of which the first are included; null when counting would take too long. */
  total: z.int().nullable(),
});
export type GitDiff = z.infer<typeof GitDiff>;

/** Query of routes with a diff. */
export const DiffQuery = z.object({
  whitespace: z
    .enum(['show', 'hide'])
    .default('show')
    .describe('With `hide`, changes of whitespace and files without other changes are left out.'),
});

/** SSH key of an account. */
export const GitKey = z.object({
  id: z.int(),
  title: z.string(),
  fingerprint: z.string(),
  createdAt: time,
  lastUsedAt: time.nullable(),
});
export type GitKey = z.infer<typeof GitKey>;

const ok = z.object({ ok: z.literal(true) });
const repositoryPath = '/api/git/repositories/:owner/:name';

/** Routes of git hosting for the pages; programs use the API of the peer. */
export const gitApi = {
  list: defineRoute({
    method: 'GET',
    path: '/api/git/repositories',
    summary: 'Repositories that the caller may read, the newest change first, or by their names.',
    access: 'objects',
    query: z.object({
      q: z.string().max(200).default(''),
      owner: z.string().max(100).default(''),
      sort: z.enum(['updated', 'name']).default('updated'),
    }),
    reply: z.object({ repositories: z.array(GitRepository), total: z.int() }),
  }),
  create: defineRoute({
    method: 'POST',
    path: '/api/git/repositories',
    summary: 'Makes a repository of the own account.',
    access: 'user',
    body: z.object({ name: z.string().max(100), description: z.string().max(2048).default(''), private: z.boolean() }),
    reply: GitRepository,
  }),
  one: defineRoute({
    method: 'GET',
    path: repositoryPath,
    summary:
      'A repository with its branches, its tags and the addresses it is cloned from; also by a name that it had ' +
      'before.',
    access: 'objects',
    reply: GitRepositoryView,
  }),
  remove: defineRoute({
    method: 'DELETE',
    path: repositoryPath,
    summary: 'Removes a repository with everything in it.',
    access: 'objects',
    reply: ok,
  }),
  content: defineRoute({
    method: 'GET',
    path: `${repositoryPath}/content`,
    summary: 'A folder or a file at a branch, a tag or a commit.',
    access: 'objects',
    query: z.object({ ref: z.string().max(250).default(''), path: z.string().max(4096).default('') }),
    reply: GitContent,
  }),
  file: defineRoute({
    method: 'GET',
    path: `${repositoryPath}/file`,
    summary: 'A file as it is, up to 16 MiB.',
    access: 'objects',
    query: z.object({ ref: z.string().max(250).default(''), path: z.string().min(1).max(4096) }),
    reply: fileReply,
  }),
  change: defineRoute({
    method: 'POST',
    path: `${repositoryPath}/content`,
    summary: 'Makes, changes, moves or removes a file: one commit.',
    access: 'objects',
    body: z.object({
      branch: z.string().min(1).max(250).describe('The commit goes onto it.'),
      newBranch: z.string().max(250).default('').describe('In its place onto a new one that begins at it.'),
      path: z.string().trim().min(1).max(4096),
      from: z.string().max(4096).default('').describe('Where it was before; empty for a new file.'),
      id: z.string().max(40).default('').describe('What it was when it was read.'),
      text: z
        .string()
        .max(1024 * 1024)
        .nullable()
        .describe('Null removes it.'),
      message: z.string().trim().max(65_536).default(''),
    }),
    reply: z.object({ branch: z.string(), commit: z.string() }),
  }),
  blame: defineRoute({
    method: 'GET',
    path: `${repositoryPath}/blame`,
    summary: 'Which commit each line of a file comes from.',
    access: 'objects',
    query: z.object({ ref: z.string().max(250).default(''), path: z.string().min(1).max(4096) }),
    reply: z.object({ commit: GitCommit, parts: z.array(GitBlamePart) }),
  }),
  commits: defineRoute({
    method: 'GET',
    path: `${repositoryPath}/commits`,
    summary: 'Commits, the newest first; those that changed a path where one is given.',
    access: 'objects',
    query: z.object({
      ref: z.string().max(250).default(''),
      path: z.string().max(4096).default(''),
      offset: z.coerce.number().int().min(0).max(1_000_000).default(0),
    }),
    reply: z.object({ commits: z.array(GitListedCommit), more: z.boolean() }),
  }),
  commit: defineRoute({
    method: 'GET',
    path: `${repositoryPath}/commits/:commit`,
    summary: 'A commit and what it changed.',
    access: 'objects',
    query: DiffQuery,
    reply: GitDiff.extend({ commit: GitCommit }),
  }),
  keys: defineRoute({
    method: 'GET',
    path: '/api/git/keys',
    summary: 'The own public keys for SSH.',
    access: 'user',
    reply: z.object({ keys: z.array(GitKey) }),
  }),
  addKey: defineRoute({
    method: 'POST',
    path: '/api/git/keys',
    summary: 'Adds a public key of the own account.',
    access: 'user',
    body: z.object({ title: z.string().trim().min(1).max(200), key: z.string().min(1).max(16_384) }),
    reply: GitKey,
  }),
  removeKey: defineRoute({
    method: 'DELETE',
    path: '/api/git/keys/:id',
    summary: 'Removes a public key of the own account.',
    access: 'user',
    reply: ok,
  }),
};
