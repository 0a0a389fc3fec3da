import { z } from 'zod';
import { defineRoute, fileReply } from '../api.ts';
import { BackupContents, BackupFile, SetAsideData } from './backups.ts';

const ok = z.object({ ok: z.literal(true) });

/** Routes for backups and what restores have replaced. */
export const backupRoutes = {
  backups: defineRoute({
    method: 'GET',
    path: '/api/backups',
    summary: 'The backups in the folder of backups, newest first.',
    access: 'admin',
    reply: z.object({
      folder: z.string(),
      backups: z.array(BackupFile),
      isOld: z.boolean(),
      setAside: z.array(SetAsideData).describe('What restores have replaced, newest first.'),
    }),
  }),
  takeBackup: defineRoute({
    method: 'POST',
    path: '/api/backups/file',
    summary:
      'Keeps a backup that was made elsewhere, such as on the computer before this one; 422 `backup.damaged` ' +
      'where a file of it is not whole.',
    access: 'admin',
    bytes: true,
    reply: BackupFile,
  }),
  backupContents: defineRoute({
    method: 'GET',
    path: '/api/backups/:name/contents',
    summary: 'What a backup holds, after each of its files was verified; 422 `backup.damaged`.',
    access: 'admin',
    reply: BackupContents,
  }),
  restoreBackup: defineRoute({
    method: 'POST',
    path: '/api/backups/:name/restore',
    summary:
      'Verifies a backup and starts Homeport anew with it, right after the answer. What there was before is set ' +
      'aside in the data folder.',
    access: 'admin',
    body: z.object({ confirm: z.literal('restore').describe('So that nobody does it by mistake.') }),
    reply: ok,
  }),
  putBack: defineRoute({
    method: 'POST',
    path: '/api/backups/set-aside/:name/put-back',
    summary: 'Starts Homeport anew with what a restore had replaced; what there is now is set aside in its turn.',
    access: 'admin',
    reply: ok,
  }),
  removeSetAside: defineRoute({
    method: 'DELETE',
    path: '/api/backups/set-aside/:name',
    summary: 'Removes what a restore had replaced for good.',
    access: 'admin',
    reply: ok,
  }),
  backupFile: defineRoute({
    method: 'GET',
    path: '/api/backups/:name/file',
    summary: 'A backup, to be kept elsewhere. It holds the key of the stored secrets.',
    access: 'admin',
    reply: fileReply,
  }),
  makeBackup: defineRoute({
    method: 'POST',
    path: '/api/backups',
    summary: 'Saves the whole data folder into a backup, while everything runs.',
    access: 'admin',
    reply: BackupFile,
  }),
  removeBackup: defineRoute({
    method: 'DELETE',
    path: '/api/backups/:name',
    summary: 'Removes a backup for good.',
    access: 'admin',
    reply: ok,
  }),
};
