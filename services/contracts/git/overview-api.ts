import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { GitRepository } from './api.ts';

const time = z.number().describe('ms since the epoch');

/** Event in a repository. */
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
  /** Name of the branch or tag, or title of the issue or release. */
  what: z.string(),
  /** `what` is the name of a pushed or deleted tag. */
  tag: z.boolean(),
  /** Number of the issue or pull request. */
  number: z.int().nullable(),
  pull: z.boolean(),
  /** New commit of a branch; empty when it was deleted. */
  commit: z.string(),
  /** Title of that commit, filled in when the history is read; else empty. */
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

/** Counts and recent events of the Code overview. */
export const GitOverview = z.object({
  repositories: z.int(),
  /** Most recent event. */
  last: GitEvent.nullable(),
  recent: z.array(GitRepository),
  /** Other open pull requests than those that wait for the caller, most recently active first. */
  pulls: z.array(task),
  /** Pull requests with a review requested from the caller. */
  reviews: z.array(task),
  /** Issues and pull requests that are assigned to the caller. */
  assigned: z.array(task),
  /** Number of further entries of each list. */
  more: z.object({ reviews: z.int(), assigned: z.int(), pulls: z.int() }),
  /** Webhooks of the caller's repositories whose latest delivery failed. */
  failing: z.array(z.object({ owner: z.string(), name: z.string(), url: z.string() })),
});
export type GitOverview = z.infer<typeof GitOverview>;

/** Routes for the overview of all repositories. */
export const gitOverviewApi = {
  overview: defineRoute({
    method: 'GET',
    path: '/api/git/overview',
    summary: 'Returns the repositories, the recent events, and the items that are waiting for the caller.',
    access: 'user',
    query: z.object({
      all: z.stringbool().default(false).describe('Returns all waiting items, up to 500 of each kind.'),
    }),
    reply: GitOverview,
  }),
  history: defineRoute({
    method: 'GET',
    path: '/api/git/history',
    summary: 'Lists the events in repositories that the caller can read, newest first.',
    access: 'user',
    query: z.object({
      repository: z.string().max(200).default('').describe('`owner/name`; empty for all repositories.'),
      before: z.coerce.number().int().min(0).optional().describe('Time of the last event on the previous page.'),
      beforeId: z
        .string()
        .regex(/^[eipr]\d{1,15}$/)
        .optional()
        .describe('ID of the last event on the previous page, because several events can have the same time.'),
    }),
    reply: z.object({ events: z.array(GitEvent), more: z.boolean() }),
  }),
};
