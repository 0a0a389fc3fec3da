import * as m from '#messages/sync-problems';
import { z } from 'zod';
import { defineRoute, fileReply } from '../api.ts';

/** Entry of a folder of this computer or of a remote. */
export const SyncEntry = z.object({
  name: z.string(),
  path: z.string(),
  isFolder: z.boolean(),
  size: z.number(),
  modifiedAt: z.number().describe('ms since the epoch').nullable(),
});
export type SyncEntry = z.infer<typeof SyncEntry>;

/**
 * Folder that contains deleted files until they expire. It is in the folder that contained the files. Saved syncs exclude
 * it.
 */
export const trashFolderName = '.homeport-trash';

/** Maximum number of entries of a listed folder. */
export const maxListedEntries = 20_000;

const Path = z.string().min(1).max(4096);

/** Name of one file or folder. */
export const FileName = z
  .string()
  .min(1, { error: m.nameMissing })
  .max(255)
  .refine((name) => name !== '.' && name !== '..' && name.trim() !== '' && !hasForbiddenCharacter(name), {
    error: m.fileNameInvalid,
  });

/** Checks for separators of paths and for control characters, which would be other names on some systems. */
function hasForbiddenCharacter(name: string): boolean {
  return [...name].some((character) => '/\\'.includes(character) || character < ' ' || character === '\x7f');
}

/** File or folder that an operation is applied to. */
export const FileItem = z.object({ path: Path, isFolder: z.boolean() });
export type FileItem = z.infer<typeof FileItem>;

const Items = z.array(FileItem).min(1).max(1000);
const id = z.object({ id: z.int().describe('ID of the job, whose progress is shown like the progress of a sync.') });
const ok = z.object({ ok: z.literal(true) });

/** Routes of the file manager. Each location is checked like a call of rclone's API. */
export const fileRoutes = {
  browse: defineRoute({
    method: 'GET',
    path: '/api/sync/files',
    summary: 'Lists the contents of a folder on this computer or on a remote.',
    access: 'objects',
    query: z.object({ at: Path }),
    reply: z.object({
      entries: z.array(SyncEntry),
      /** The account may change the content of the folder. */
      canWrite: z.boolean(),
      /** Files that are deleted here move to the trash, so that the deletion can be undone. */
      hasTrash: z.boolean(),
    }),
  }),
  createFolder: defineRoute({
    method: 'POST',
    path: '/api/sync/files/folders',
    summary: 'Creates a folder.',
    access: 'objects',
    body: z.object({ at: Path.describe('Folder in which the new folder is created.'), name: FileName }),
    reply: ok,
  }),
  transferFiles: defineRoute({
    method: 'POST',
    path: '/api/sync/files/transfers',
    summary: 'Copies or moves files and folders to a folder, in the background. A single item can be renamed.',
    access: 'objects',
    body: z.object({
      action: z.enum(['copy', 'move']),
      items: Items,
      to: Path,
      name: FileName.optional(),
      replace: z
        .boolean()
        .default(false)
        .describe('If missing, the request is rejected (409) if one of the names already exists.'),
    }),
    reply: id,
  }),
  deleteFiles: defineRoute({
    method: 'POST',
    path: '/api/sync/files/deletions',
    summary:
      'Deletes files and folders, including their contents, in the background. They are moved to a trash in the ' +
      'same folder, and can be restored by undoing the job.',
    access: 'objects',
    body: z.object({
      items: Items,
      permanently: z
        .boolean()
        .default(false)
        .describe('If missing, the request is rejected (409) if the storage has no trash.'),
    }),
    reply: id,
  }),
  uploadFile: defineRoute({
    method: 'POST',
    path: '/api/sync/files/content',
    summary: 'Stores the request body as a file in a folder.',
    access: 'objects',
    bytes: true,
    query: z.object({
      at: Path,
      name: FileName,
      replace: z
        .enum(['yes', 'no'])
        .default('no')
        .describe('With `no`, the request is rejected (409) if the file already exists.'),
    }),
    reply: ok,
  }),
  fileContent: defineRoute({
    method: 'GET',
    path: '/api/sync/files/content/:path',
    summary: 'Returns a file, or the requested range of it.',
    access: 'objects',
    query: z.object({
      save: z.enum(['yes', 'no']).default('no').describe('Sends the file as a download with its name.'),
    }),
    reply: fileReply,
  }),
  publicLink: defineRoute({
    method: 'POST',
    path: '/api/sync/files/links',
    summary: "Creates a public link at a remote's provider, with which anyone can read a file or folder.",
    access: 'admin',
    body: z.object({ path: Path }),
    reply: z.object({ url: z.string() }),
  }),
  storage: defineRoute({
    method: 'GET',
    path: '/api/sync/remotes/:name/storage',
    summary:
      'Returns the storage use of a remote, and whether it supports public links; null for values that it does ' +
      'not report.',
    access: 'admin',
    reply: z.object({
      used: z.number().nullable(),
      total: z.number().nullable(),
      free: z.number().nullable(),
      hasPublicLinks: z.boolean(),
    }),
  }),
};
