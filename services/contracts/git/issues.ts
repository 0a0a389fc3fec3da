import * as m from '#messages/git-problems';
import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { DiffQuery, GitCommit, GitDiff } from './api.ts';

const time = z.number().describe('ms since the epoch');
const text = z.string().max(65_536);
const title = z.string().trim().min(1, { error: m.titleRequired }).max(255);

/** Label of issues and pull requests. */
export const GitLabel = z.object({
  id: z.int(),
  name: z.string(),
  color: z.string().describe('Six hex digits.'),
  description: z.string(),
});
export type GitLabel = z.infer<typeof GitLabel>;

/** Milestone of a repository. */
export const GitMilestone = z.object({
  id: z.int(),
  title: z.string(),
  closed: z.boolean(),
  open: z.int(),
  done: z.int(),
  dueAt: time.nullable(),
});
export type GitMilestone = z.infer<typeof GitMilestone>;

/** Issue or pull request in lists. */
export const GitIssue = z.object({
  number: z.int(),
  title: z.string(),
  pull: z.boolean(),
  state: z.enum(['open', 'draft', 'closed', 'merged']),
  author: z.string(),
  labels: z.array(GitLabel),
  milestone: z.object({ id: z.int(), title: z.string() }).nullable(),
  assignees: z.array(z.string()),
  comments: z.int(),
  createdAt: time,
  updatedAt: time,
});
export type GitIssue = z.infer<typeof GitIssue>;

/** Kind of a reaction, with Gitea's names. */
export const GitReactionContent = z.enum(['+1', '-1', 'laugh', 'hooray', 'confused', 'heart', 'rocket', 'eyes']);
export type GitReactionContent = z.infer<typeof GitReactionContent>;

/** Reactions of one kind to an issue or a comment. */
export const GitReaction = z.object({ content: GitReactionContent, accounts: z.array(z.string()) });
export type GitReaction = z.infer<typeof GitReaction>;

/** Entry of a conversation: a comment or an event. */
const threadEntry = z.object({
  id: z.int(),
  kind: z.string(),
  author: z.string(),
  text: z.string(),
  time,
  label: GitLabel.nullable(),
  /** False when the label or assignee was removed. */
  added: z.boolean(),
  /** Former assignee, milestone, title or branch. */
  before: z.string(),
  after: z.string(),
  commit: z.string(),
  commits: z.array(z.string()),
  verdict: z.enum(['COMMENT', 'APPROVED', 'REQUEST_CHANGES']).nullable(),
  /** File of a review comment; a negative line number refers to the old version. */
  path: z.string(),
  line: z.int(),
  hunk: z.string(),
  review: z.int().nullable(),
  /** Other repository (`owner/name`) with the referring commit, issue or pull request; null for the same one. */
  repository: z.string().nullable(),
  /** Issue or pull request that refers to this one. */
  reference: z.object({ number: z.int(), title: z.string(), pull: z.boolean() }).nullable(),
  reactions: z.array(GitReaction),
});

/** Merge method of a pull request; the values are those of the Gitea API. */
export const GitMergeStyle = z.enum(['merge', 'rebase', 'rebase-merge', 'squash', 'fast-forward-only']);
export type GitMergeStyle = z.infer<typeof GitMergeStyle>;

/** Reasons that prevent the merge of a pull request. */
export const GitMergeHurdle = z.enum([
  'open_dependencies',
  'checks_not_passed',
  'missing_approvals',
  'requested_changes',
  'pending_review_requests',
  'outdated_branch',
]);
export type GitMergeHurdle = z.infer<typeof GitMergeHurdle>;

/** Fields that only pull requests have. */
export const GitPull = z.object({
  /** `dev`, or `owner/name:dev` for another repository. */
  head: z.string(),
  base: z.string(),
  headThere: z.boolean(),
  commits: z.int(),
  behind: z.int(),
  files: z.int(),
  additions: z.int(),
  deletions: z.int(),
  mergeable: z.boolean(),
  /** Conflicting files; null for none, empty when the histories are unrelated. */
  conflicts: z.array(z.string()).nullable(),
  styles: z.array(GitMergeStyle),
  mergedBy: z.string().nullable(),
  mergedAt: time.nullable(),
  mergedCommit: z.string().nullable(),
  reviewers: z.array(z.string()),
  /** Latest verdict of each reviewer; `stale` when it was given for earlier commits. */
  verdicts: z.array(
    z.object({ account: z.string(), verdict: z.enum(['APPROVED', 'REQUEST_CHANGES']), stale: z.boolean() }),
  ),
  /** Requirements of the base branch's protection for a merge. */
  approvals: z.int(),
  approvalsWanted: z.int(),
  hurdles: z.array(GitMergeHurdle),
  /** The protection allows the caller to merge; administrators may override it. */
  mayMerge: z.boolean(),
  mayForce: z.boolean(),
  checks: z.array(z.object({ context: z.string(), state: z.string(), description: z.string(), url: z.string() })),
});
export type GitPull = z.infer<typeof GitPull>;

/** Issue or pull request with its comments and events. */
export const GitThread = GitIssue.extend({
  text: z.string(),
  locked: z.boolean(),
  /** Reactions to the issue itself. */
  reactions: z.array(GitReaction),
  entries: z.array(threadEntry),
  request: GitPull.nullable(),
  /** The caller may comment. */
  mayWrite: z.boolean(),
  mayEdit: z.boolean(),
});
export type GitThread = z.infer<typeof GitThread>;

/** Comment or event of an issue or pull request. */
export type GitThreadEntry = GitThread['entries'][number];

const ok = z.object({ ok: z.literal(true) });
const numbered = z.object({ number: z.int() });
const repositoryPath = '/api/git/repositories/:owner/:name';
const thread = `${repositoryPath}/issues/:number`;

const labelBody = z.object({
  name: z.string().trim().min(1).max(50),
  color: z.string().regex(/^[0-9a-f]{6}$/),
  description: z.string().max(200).default(''),
});

/** Routes for issues and pull requests. */
export const gitIssuesApi = {
  list: defineRoute({
    method: 'GET',
    path: `${repositoryPath}/issues`,
    summary: 'Lists issues or pull requests, newest first, with the number of open and closed ones.',
    access: 'objects',
    query: z.object({
      kind: z.enum(['issues', 'pulls']).default('issues'),
      state: z.enum(['open', 'closed']).default('open'),
      q: z.string().max(200).default(''),
      label: z.string().max(50).default(''),
      milestone: z.string().max(255).default(''),
      assignee: z.string().max(64).default(''),
      offset: z.coerce.number().int().min(0).max(1_000_000).default(0),
    }),
    reply: z.object({ issues: z.array(GitIssue), open: z.int(), closed: z.int(), more: z.boolean() }),
  }),
  thread: defineRoute({
    method: 'GET',
    path: thread,
    summary: 'Returns an issue or a pull request with its complete timeline.',
    access: 'objects',
    reply: GitThread,
  }),
  create: defineRoute({
    method: 'POST',
    path: `${repositoryPath}/issues`,
    summary: 'Creates an issue.',
    access: 'objects',
    body: z.object({ title, text: text.default(''), labels: z.array(z.int()).max(100).default([]) }),
    reply: numbered,
  }),
  change: defineRoute({
    method: 'PATCH',
    path: thread,
    summary: 'Changes an issue or a pull request.',
    access: 'objects',
    body: z.object({
      title: title.optional(),
      text: text.optional(),
      closed: z.boolean().optional(),
      labels: z.array(z.int()).max(100).optional(),
      assignees: z.array(z.string()).max(100).optional(),
      milestone: z.int().nullable().optional(),
    }),
    reply: ok,
  }),
  comment: defineRoute({
    method: 'POST',
    path: `${thread}/comments`,
    summary: 'Adds a comment to an issue or a pull request.',
    access: 'objects',
    body: z.object({ text: text.trim().min(1, { error: m.commentRequired }) }),
    reply: ok,
  }),
  react: defineRoute({
    method: 'PUT',
    path: `${thread}/reactions`,
    summary: 'Adds or removes a reaction to an issue, a pull request or one of its comments.',
    access: 'objects',
    body: z.object({
      content: GitReactionContent,
      entry: z.int().min(0).default(0).describe('ID of the comment; 0 for the issue itself.'),
      enabled: z.boolean(),
    }),
    reply: ok,
  }),
  fields: defineRoute({
    method: 'GET',
    path: `${repositoryPath}/issue-fields`,
    summary: 'Lists the labels and milestones of a repository, and the accounts that can be assigned.',
    access: 'objects',
    reply: z.object({ labels: z.array(GitLabel), milestones: z.array(GitMilestone), people: z.array(z.string()) }),
  }),
  addLabel: defineRoute({
    method: 'POST',
    path: `${repositoryPath}/labels`,
    summary: 'Adds a label to a repository.',
    access: 'objects',
    body: labelBody,
    reply: GitLabel,
  }),
  changeLabel: defineRoute({
    method: 'PATCH',
    path: `${repositoryPath}/labels/:label`,
    summary: 'Changes a label in all places where it is used.',
    access: 'objects',
    body: labelBody,
    reply: GitLabel,
  }),
  removeLabel: defineRoute({
    method: 'DELETE',
    path: `${repositoryPath}/labels/:label`,
    summary: 'Deletes a label from a repository, and removes it from all issues and pull requests.',
    access: 'objects',
    reply: ok,
  }),
  addMilestone: defineRoute({
    method: 'POST',
    path: `${repositoryPath}/milestones`,
    summary: 'Adds a milestone to a repository.',
    access: 'objects',
    body: z.object({ title, dueAt: time.nullable().default(null) }),
    reply: ok,
  }),
  closeMilestone: defineRoute({
    method: 'PATCH',
    path: `${repositoryPath}/milestones/:milestone`,
    summary: 'Closes or reopens a milestone.',
    access: 'objects',
    body: z.object({ closed: z.boolean() }),
    reply: ok,
  }),
  pull: defineRoute({
    method: 'POST',
    path: `${repositoryPath}/pulls`,
    summary: 'Creates a pull request.',
    access: 'objects',
    body: z.object({
      title,
      text: text.default(''),
      head: z.string().min(1).max(250),
      base: z.string().min(1).max(250),
    }),
    reply: numbered,
  }),
  changes: defineRoute({
    method: 'GET',
    path: `${repositoryPath}/pulls/:number/changes`,
    summary: 'Lists the commits of a pull request and their combined changes.',
    access: 'objects',
    query: DiffQuery,
    reply: GitDiff.extend({
      commits: z.array(GitCommit),
      head: z.string().describe('Commit that would be merged.'),
    }),
  }),
  merge: defineRoute({
    method: 'POST',
    path: `${repositoryPath}/pulls/:number/merge`,
    summary: 'Merges a pull request.',
    access: 'objects',
    body: z.object({
      style: GitMergeStyle,
      deleteBranch: z.boolean().default(false),
      force: z.boolean().default(false),
    }),
    reply: ok,
  }),
  update: defineRoute({
    method: 'POST',
    path: `${repositoryPath}/pulls/:number/update`,
    summary: 'Updates the branch of a pull request with the changes from the base branch.',
    access: 'objects',
    reply: ok,
  }),
  requestReview: defineRoute({
    method: 'PUT',
    path: `${repositoryPath}/pulls/:number/reviewers/:account`,
    summary: 'Requests a review of a pull request, or withdraws the request.',
    access: 'objects',
    body: z.object({ wanted: z.boolean() }),
    reply: ok,
  }),
  review: defineRoute({
    method: 'POST',
    path: `${repositoryPath}/pulls/:number/reviews`,
    summary: 'Submits a review of a pull request, with comments on individual lines.',
    access: 'objects',
    body: z.object({
      verdict: z.enum(['COMMENT', 'APPROVED', 'REQUEST_CHANGES']),
      text: text.default(''),
      remarks: z
        .array(z.object({ path: z.string().max(4096), line: z.int(), text: text.min(1) }))
        .max(500)
        .default([]),
    }),
    reply: ok,
  }),
};
