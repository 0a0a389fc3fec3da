import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { GitRepository } from './api.ts';

const time = z.number().describe('ms since the epoch');

/** Something that happened in a repository. */
export const GitEvent = z.object({
  id: z.string(),
  kind: z.enum([
    'pushed',
    'created',
    'deleted',
    'opened',
    'closed',
    'reopened',
    'merged',
    'commented',
    'reviewed',
    'released',
  ]),
  owner: z.string(),
  name: z.string(),
  account: z.string(),
  time,
  /** The branch or tag, the title, or the release's. */
  what: z.string(),
  /** `what` is a tag that was pushed or removed. */
  tag: z.boolean(),
  /** Of an issue or a pull request. */
  number: z.int().nullable(),
  pull: z.boolean(),
  /** What a branch was moved to; empty where it was removed. */
  commit: z.string(),
  /** What that commit says first, where the history is read; empty otherwise. */
  title: z.string(),
});
export type GitEvent = z.infer<typeof GitEvent>;

const task = z.object({
  owner: z.string(),
  name: z.string(),
  number: z.int(),
  title: z.string(),
  author: z.string(),
  pull: z.boolean(),
  time,
});
export type GitTask = z.infer<typeof task>;

export const GitOverview = z.object({
  repositories: z.int(),
  /** The last thing that happened. */
  last: GitEvent.nullable(),
  recent: z.array(GitRepository),
  /** Other open pull requests than those that wait for the caller; those first that something happened to last. */
  pulls: z.array(task),
  /** Pull requests whose review was asked of the caller. */
  reviews: z.array(task),
  /** Issues and pull requests that the caller is to work at. */
  assigned: z.array(task),
  /** How many more of each there are than those that are told. */
  more: z.object({ reviews: z.int(), assigned: z.int(), pulls: z.int() }),
  /** Webhooks of the caller's repositories whose newest delivery was not taken. */
  failing: z.array(z.object({ owner: z.string(), name: z.string(), url: z.string() })),
});
export type GitOverview = z.infer<typeof GitOverview>;

/** What of all repositories a person looks at first, for the pages. */
export const gitOverviewApi = {
  overview: defineRoute({
    method: 'GET',
    path: '/api/git/overview',
    summary: 'What is there, what happened last, and what waits for the caller.',
    access: 'user',
    query: z.object({ all: z.stringbool().default(false).describe('All that waits, up to 500 of each kind.') }),
    reply: GitOverview,
  }),
  history: defineRoute({
    method: 'GET',
    path: '/api/git/history',
    summary: 'What happened in repositories that the caller may read, the newest first.',
    access: 'user',
    query: z.object({
      repository: z.string().max(200).default('').describe('`owner/name`; empty: all of them.'),
      before: z.coerce.number().int().min(0).optional().describe('The time of the last event that is known.'),
      beforeId: z
        .string()
        .regex(/^[eipr]\d{1,15}$/)
        .optional()
        .describe('Its id, since several happen at one time.'),
    }),
    reply: z.object({ events: z.array(GitEvent), more: z.boolean() }),
  }),
};
