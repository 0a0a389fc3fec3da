import { z } from 'zod';
import { defineRoute, fileReply } from '../api.ts';
import { BackupContents, BackupFile, SetAsideData } from './backups.ts';

const ok = z.object({ ok: z.literal(true) });

/** Routes for backups and what restores have replaced. */
export const backupRoutes = {
  backups: defineRoute({
    method: 'GET',
    path: '/api/backups',
    summary: 'Lists the backups in the backup folder, newest first.',
    access: 'admin',
    reply: z.object({
      folder: z.string(),
      backups: z.array(BackupFile),
      isOld: z.boolean(),
      setAside: z.array(SetAsideData).describe('Data that was replaced by restores, newest first.'),
    }),
  }),
  takeBackup: defineRoute({
    method: 'POST',
    path: '/api/backups/file',
    summary:
      'Stores an uploaded backup, for example from another computer. Returns 422 `backup.damaged` if one of its ' +
      'files is damaged.',
    access: 'admin',
    bytes: true,
    reply: BackupFile,
  }),
  backupContents: defineRoute({
    method: 'GET',
    path: '/api/backups/:name/contents',
    summary:
      'Verifies all files in a backup and returns its contents. Returns 422 `backup.damaged` if a file is ' +
      'damaged.',
    access: 'admin',
    reply: BackupContents,
  }),
  restoreBackup: defineRoute({
    method: 'POST',
    path: '/api/backups/:name/restore',
    summary: 'Verifies a backup and then restarts Homeport with it. The current data is set aside in the data folder.',
    access: 'admin',
    body: z.object({ confirm: z.literal('restore').describe('Prevents accidental restores.') }),
    reply: ok,
  }),
  putBack: defineRoute({
    method: 'POST',
    path: '/api/backups/set-aside/:name/put-back',
    summary: 'Restarts Homeport with data that a restore replaced. The current data is set aside.',
    access: 'admin',
    reply: ok,
  }),
  removeSetAside: defineRoute({
    method: 'DELETE',
    path: '/api/backups/set-aside/:name',
    summary: 'Permanently deletes data that a restore replaced.',
    access: 'admin',
    reply: ok,
  }),
  backupFile: defineRoute({
    method: 'GET',
    path: '/api/backups/:name/file',
    summary: 'Downloads a backup. It contains the key that decrypts the stored secrets.',
    access: 'admin',
    reply: fileReply,
  }),
  makeBackup: defineRoute({
    method: 'POST',
    path: '/api/backups',
    summary: 'Creates a backup of the whole data folder while Homeport is running.',
    access: 'admin',
    reply: BackupFile,
  }),
  removeBackup: defineRoute({
    method: 'DELETE',
    path: '/api/backups/:name',
    summary: 'Permanently deletes a backup.',
    access: 'admin',
    reply: ok,
  }),
};
