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
    id: z.string().describe("ID of the file's contents. A change contains the ID that the caller has seen."),
    size: z.number(),
    /** Null for binary files and for text that is too large to display. */
    text: z.string().nullable(),
    editable: z
      .boolean()
      .describe(
        'True if the text contains exactly the bytes of the file; false if it was converted from another charset ' +
          'for display.',
      ),
    lfs: z
      .boolean()
      .default(false)
      .describe('The content is stored with Git LFS; the size is the size of the content.'),
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
    .describe('With `hide`, whitespace changes are omitted, as are files without other changes.'),
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
    summary: 'Lists the repositories that the caller can read, most recently changed first, or finds them by name.',
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
    summary: "Creates a repository in the caller's account.",
    access: 'user',
    body: z.object({ name: z.string().max(100), description: z.string().max(2048).default(''), private: z.boolean() }),
    reply: GitRepository,
  }),
  one: defineRoute({
    method: 'GET',
    path: repositoryPath,
    summary:
      'Returns a repository with its branches, tags and clone addresses. Former names of the repository also ' +
      'work.',
    access: 'objects',
    reply: GitRepositoryView,
  }),
  remove: defineRoute({
    method: 'DELETE',
    path: repositoryPath,
    summary: 'Permanently deletes a repository.',
    access: 'objects',
    reply: ok,
  }),
  content: defineRoute({
    method: 'GET',
    path: `${repositoryPath}/content`,
    summary: 'Returns a folder or a file at a branch, tag or commit.',
    access: 'objects',
    query: z.object({ ref: z.string().max(250).default(''), path: z.string().max(4096).default('') }),
    reply: GitContent,
  }),
  file: defineRoute({
    method: 'GET',
    path: `${repositoryPath}/file`,
    summary: 'Returns the unchanged contents of a file, up to 16 MiB.',
    access: 'objects',
    query: z.object({ ref: z.string().max(250).default(''), path: z.string().min(1).max(4096) }),
    reply: fileReply,
  }),
  change: defineRoute({
    method: 'POST',
    path: `${repositoryPath}/content`,
    summary: 'Creates, changes, moves or deletes a file in one commit.',
    access: 'objects',
    body: z.object({
      branch: z.string().min(1).max(250).describe('Branch that receives the commit.'),
      newBranch: z.string().max(250).default('').describe('Creates a new branch from `branch` for the commit.'),
      path: z.string().trim().min(1).max(4096),
      from: z.string().max(4096).default('').describe('Previous path of the file; empty for a new file.'),
      id: z.string().max(40).default('').describe('ID of the contents that the caller has read.'),
      text: z
        .string()
        .max(1024 * 1024)
        .nullable()
        .describe('Null deletes the file.'),
      message: z.string().trim().max(65_536).default(''),
    }),
    reply: z.object({ branch: z.string(), commit: z.string() }),
  }),
  blame: defineRoute({
    method: 'GET',
    path: `${repositoryPath}/blame`,
    summary: 'Returns the commit that each line of a file comes from.',
    access: 'objects',
    query: z.object({ ref: z.string().max(250).default(''), path: z.string().min(1).max(4096) }),
    reply: z.object({ commit: GitCommit, parts: z.array(GitBlamePart) }),
  }),
  commits: defineRoute({
    method: 'GET',
    path: `${repositoryPath}/commits`,
    summary: 'Lists commits, newest first. With a path, lists only commits that changed it.',
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
    summary: 'Returns a commit and its changes.',
    access: 'objects',
    query: DiffQuery,
    reply: GitDiff.extend({ commit: GitCommit }),
  }),
  keys: defineRoute({
    method: 'GET',
    path: '/api/git/keys',
    summary: "Lists the caller's public SSH keys.",
    access: 'user',
    reply: z.object({ keys: z.array(GitKey) }),
  }),
  addKey: defineRoute({
    method: 'POST',
    path: '/api/git/keys',
    summary: "Adds a public SSH key to the caller's account.",
    access: 'user',
    body: z.object({ title: z.string().trim().min(1).max(200), key: z.string().min(1).max(16_384) }),
    reply: GitKey,
  }),
  removeKey: defineRoute({
    method: 'DELETE',
    path: '/api/git/keys/:id',
    summary: "Removes a public SSH key from the caller's account.",
    access: 'user',
    reply: ok,
  }),
};
