import * as m from '#messages/git-problems';
import { z } from 'zod';
import { defineRoute, fileReply } from '../api.ts';
import { GitRepository } from './api.ts';

/** Routes for migrating and mirroring repositories. */
export const gitMovingApi = {
  publish: defineRoute({
    method: 'POST',
    path: '/api/git/publish',
    summary: 'Creates a repository from a folder on this computer.',
    access: 'admin',
    body: z.object({
      folder: z.string().trim().min(1, { error: m.folderRequired }).max(4096),
      name: z.string().max(100),
      private: z.boolean(),
    }),
    reply: z.object({ repository: GitRepository, files: z.int(), remote: z.string() }),
  }),
  migrate: defineRoute({
    method: 'POST',
    path: '/api/git/migrate',
    summary: 'Imports a repository from another server.',
    access: 'user',
    body: z.object({
      address: z.string().trim().min(1, { error: m.addressRequired }).max(2048),
      name: z.string().max(100),
      private: z.boolean(),
      user: z.string().max(200).default(''),
      password: z.string().max(1000).default(''),
    }),
    reply: GitRepository,
  }),
  save: defineRoute({
    method: 'GET',
    path: '/api/git/repositories/:owner/:name/backup',
    summary: 'Exports a repository with its issues, pull requests, releases and large files as one file.',
    access: 'objects',
    reply: fileReply,
  }),
  restore: defineRoute({
    method: 'POST',
    path: '/api/git/restore',
    summary: 'Restores a repository from an exported file. The file determines the authors.',
    access: 'admin',
    query: z.object({ name: z.string().max(100).default('') }),
    bytes: true,
    reply: GitRepository,
  }),
};
