import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { GitCommit } from './api.ts';

const repositoryPath = '/api/git/repositories/:owner/:name/branches';
const access = 'objects' as const;
const ok = z.object({ ok: z.literal(true) });
const name = z.string().trim().min(1).max(250);

/** Branch in the list of branches. */
export const GitBranch = z.object({
  name: z.string(),
  commit: GitCommit.pick({ id: true, title: true, author: true, time: true }),
  isDefault: z.boolean(),
  /** Name or pattern of the rule that protects the branch. */
  rule: z.string().nullable(),
  /** Number of commits ahead of and behind the default branch; null until it is computed. */
  ahead: z.int().nullable(),
  behind: z.int().nullable(),
  /** Numbers of the open pull requests from and into the branch. */
  pulls: z.array(z.int()),
});
export type GitBranch = z.infer<typeof GitBranch>;

/** Routes for the branches of a repository. */
export const gitBranchesApi = {
  list: defineRoute({
    method: 'GET',
    path: repositoryPath,
    summary:
      'Lists branches with their last commit and their divergence from the default branch, which is listed ' + 'first.',
    access,
    query: z.object({ q: z.string().max(200).default(''), offset: z.coerce.number().int().min(0).default(0) }),
    reply: z.object({
      branches: z.array(GitBranch),
      total: z.int(),
      more: z.boolean(),
      mayWrite: z.boolean(),
      mayAdminister: z.boolean(),
    }),
  }),
  create: defineRoute({
    method: 'POST',
    path: repositoryPath,
    summary: 'Creates a branch from another branch, a tag or a commit.',
    access,
    body: z.object({ name, from: name }),
    reply: ok,
  }),
  remove: defineRoute({
    method: 'DELETE',
    path: repositoryPath,
    summary: 'Deletes a branch, if it still points to the commit that the caller has seen.',
    access,
    // Not trimmed: a branch name may end in a Unicode space.
    query: z.object({ name: z.string().min(1).max(250), commit: z.string().length(40) }),
    reply: ok,
  }),
};
