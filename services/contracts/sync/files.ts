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
const id = z.object({ id: z.int().describe('The job, whose progress is listed like that of a sync.') });
const ok = z.object({ ok: z.literal(true) });

/** Routes of the file manager. Each location is checked like a call of rclone's API. */
export const fileRoutes = {
  browse: defineRoute({
    method: 'GET',
    path: '/api/sync/files',
    summary: 'What a folder holds, of this computer or of a remote.',
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
    body: z.object({ at: Path.describe('The folder that contains it.'), name: FileName }),
    reply: ok,
  }),
  transferFiles: defineRoute({
    method: 'POST',
    path: '/api/sync/files/transfers',
    summary: 'Copies or moves files and folders into a folder, in the background. A single one can get another name.',
    access: 'objects',
    body: z.object({
      action: z.enum(['copy', 'move']),
      items: Items,
      to: Path,
      name: FileName.optional(),
      replace: z
        .boolean()
        .default(false)
        .describe('Without it, the request is refused (409) if one of the names exists there.'),
    }),
    reply: id,
  }),
  deleteFiles: defineRoute({
    method: 'POST',
    path: '/api/sync/files/deletions',
    summary:
      'Deletes files, and folders with everything in them, in the background. They move to the trash of their folder and can be restored with the undo of the job.',
    access: 'objects',
    body: z.object({
      items: Items,
      permanently: z
        .boolean()
        .default(false)
        .describe('Without it, the request is refused (409) if the storage has no trash.'),
    }),
    reply: id,
  }),
  uploadFile: defineRoute({
    method: 'POST',
    path: '/api/sync/files/content',
    summary: 'Stores the body as a file in a folder.',
    access: 'objects',
    bytes: true,
    query: z.object({
      at: Path,
      name: FileName,
      replace: z
        .enum(['yes', 'no'])
        .default('no')
        .describe('With `no`, the request is refused (409) if the file exists.'),
    }),
    reply: ok,
  }),
  fileContent: defineRoute({
    method: 'GET',
    path: '/api/sync/files/content/:path',
    summary: 'A file, or the requested range of it.',
    access: 'objects',
    query: z.object({ save: z.enum(['yes', 'no']).default('no').describe('As a download with its name.') }),
    reply: fileReply,
  }),
  publicLink: defineRoute({
    method: 'POST',
    path: '/api/sync/files/links',
    summary: 'Creates a link at the provider of a remote, with which everyone can read a file or folder.',
    access: 'admin',
    body: z.object({ path: Path }),
    reply: z.object({ url: z.string() }),
  }),
  storage: defineRoute({
    method: 'GET',
    path: '/api/sync/remotes/:name/storage',
    summary: 'How much of its storage a remote uses, and whether it has public links; null where it does not say.',
    access: 'admin',
    reply: z.object({
      used: z.number().nullable(),
      total: z.number().nullable(),
      free: z.number().nullable(),
      hasPublicLinks: z.boolean(),
    }),
  }),
};
