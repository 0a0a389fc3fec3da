import { z } from 'zod';
import { defineRoute } from '../api.ts';

const repositoryPath = '/api/git/repositories/:owner/:name';

/** Share of a programming language in a repository. */
export const GitLanguage = z.object({ name: z.string(), bytes: z.int() });
export type GitLanguage = z.infer<typeof GitLanguage>;

/** Number of contributions in a quarter of an hour. */
export const GitActivityPart = z.object({ time: z.number().describe('ms since the epoch'), count: z.int() });
export type GitActivityPart = z.infer<typeof GitActivityPart>;

/** Routes for the languages, the file list and the activity of repositories. */
export const gitInsightsApi = {
  languages: defineRoute({
    method: 'GET',
    path: `${repositoryPath}/languages`,
    summary: 'Returns the programming languages at a branch, tag or commit, largest first.',
    access: 'objects',
    query: z.object({ ref: z.string().max(250).default('') }),
    reply: z.object({ languages: z.array(GitLanguage) }),
  }),
  listLanguages: defineRoute({
    method: 'GET',
    path: '/api/git/languages',
    summary: 'Returns the programming languages on the default branches of repositories that the caller can read.',
    access: 'user',
    query: z.object({
      ids: z
        .string()
        .regex(/^\d{1,15}(?:,\d{1,15}){0,49}$/)
        .describe('IDs of up to 50 repositories, separated by commas.'),
    }),
    reply: z.object({ repositories: z.array(z.object({ id: z.int(), languages: z.array(GitLanguage) })) }),
  }),
  files: defineRoute({
    method: 'GET',
    path: `${repositoryPath}/files`,
    summary: 'Lists the paths of all files at a branch, tag or commit, up to 50,000.',
    access: 'objects',
    query: z.object({ ref: z.string().max(250).default('') }),
    reply: z.object({ paths: z.array(z.string()), commit: z.string(), more: z.boolean() }),
  }),
  activity: defineRoute({
    method: 'GET',
    path: '/api/git/activity',
    summary:
      'Returns the contributions of the last year in repositories that the caller can read, in intervals of 15 ' +
      'minutes: pushes, issues, pull requests, comments and events.',
    access: 'user',
    reply: z.object({ parts: z.array(GitActivityPart) }),
  }),
};
