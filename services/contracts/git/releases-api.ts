import * as m from '#messages/git-problems';
import { z } from 'zod';
import { defineRoute, fileReply } from '../api.ts';
import { toPatchSchema } from '../patch-schema.ts';

const time = z.number().describe('ms since the epoch');
const ok = z.object({ ok: z.literal(true) });
const repositoryPath = '/api/git/repositories/:owner/:name/releases';
const access = 'objects' as const;

/** Release of a repository. */
export const GitRelease = z.object({
  id: z.int(),
  tag: z.string(),
  title: z.string(),
  /** Release notes in Markdown. */
  text: z.string(),
  draft: z.boolean(),
  prerelease: z.boolean(),
  author: z.string(),
  publishedAt: time,
  files: z.array(z.object({ id: z.int(), name: z.string(), size: z.number(), downloads: z.int() })),
});
export type GitRelease = z.infer<typeof GitRelease>;

const values = {
  title: z.string().trim().max(255).default(''),
  text: z.string().max(1_000_000).default(''),
  draft: z.boolean().default(false),
  prerelease: z.boolean().default(false),
};

/** Routes for the releases of a repository. */
export const gitReleasesApi = {
  list: defineRoute({
    method: 'GET',
    path: repositoryPath,
    summary: 'Lists the releases of a repository, newest first. Drafts are included if the caller has write access.',
    access,
    reply: z.object({ releases: z.array(GitRelease), mayWrite: z.boolean(), tags: z.array(z.string()) }),
  }),
  create: defineRoute({
    method: 'POST',
    path: repositoryPath,
    summary: 'Creates a release for a tag. If the tag does not exist, it is created.',
    access,
    body: z.object({
      tag: z.string().trim().min(1, { error: m.tagRequired }).max(200),
      target: z.string().max(250).default(''),
      ...values,
    }),
    reply: GitRelease,
  }),
  change: defineRoute({
    method: 'PATCH',
    path: `${repositoryPath}/:id`,
    summary: 'Changes the fields of a release that the request contains.',
    access,
    body: toPatchSchema(z.object(values)),
    reply: GitRelease,
  }),
  remove: defineRoute({
    method: 'DELETE',
    path: `${repositoryPath}/:id`,
    summary: 'Deletes a release. Its tag is kept.',
    access,
    reply: ok,
  }),
  notes: defineRoute({
    method: 'GET',
    path: `${repositoryPath}/notes`,
    summary: 'Generates release notes from the pull requests and commits merged since the previous release.',
    access,
    query: z.object({ ref: z.string().max(250).default('') }),
    reply: z.object({ text: z.string() }),
  }),
  attach: defineRoute({
    method: 'POST',
    path: `${repositoryPath}/:id/files`,
    summary: 'Uploads a file to a release. The request body is the file.',
    access,
    query: z.object({ name: z.string().min(1).max(255) }),
    bytes: true,
    reply: ok,
  }),
  file: defineRoute({
    method: 'GET',
    path: `${repositoryPath}/:id/files/:file`,
    summary: 'Downloads a file of a release.',
    access,
    reply: fileReply,
  }),
  source: defineRoute({
    method: 'GET',
    path: `${repositoryPath}/:id/source/:kind`,
    summary: "Downloads the source files at a release's tag as an archive; `kind` is `zip`, `tar.gz` or `tar`.",
    access,
    reply: fileReply,
  }),
  detach: defineRoute({
    method: 'DELETE',
    path: `${repositoryPath}/:id/files/:file`,
    summary: 'Deletes a file of a release.',
    access,
    reply: ok,
  }),
};
