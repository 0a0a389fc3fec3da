import type { Readable } from 'node:stream';
import { z } from 'zod';

/** Backup in the backup folder. */
export const BackupFile = z
  .object({
    /** File name without folder. */
    name: z.string(),
    bytes: z.number(),
    createdAt: z.number().describe('ms since the epoch'),
  })
  .meta({ id: 'BackupFile' });
export type BackupFile = z.infer<typeof BackupFile>;

/** Time of the newest backup in milliseconds since the epoch; null for none. */
export const BackupAge = z.object({ newestAt: z.number().nullable(), isOld: z.boolean() }).meta({ id: 'BackupAge' });
export type BackupAge = z.infer<typeof BackupAge>;

/** Contents of a backup whose files have all been verified. */
export const BackupContents = z
  .object({
    /** Version of Homeport that created it. */
    homeport: z.string(),
    createdAt: z.number().describe('ms since the epoch'),
    tables: z.enum(['here', 'elsewhere']).describe('`elsewhere` if the tables were in a database server.'),
    parts: z
      .array(z.object({ service: z.string(), files: z.int(), bytes: z.number() }))
      .describe('Contents by service; `host` stands for settings, accounts and keys.'),
  })
  .meta({ id: 'BackupContents' });
export type BackupContents = z.infer<typeof BackupContents>;

/** Data that a restore replaced, kept in a subfolder of the data folder. */
export const SetAsideData = z
  .object({
    name: z.string(),
    createdAt: z.number().describe('Time when the data was replaced, in ms since the epoch.'),
  })
  .meta({ id: 'SetAside' });
export type SetAsideData = z.infer<typeof SetAsideData>;

/** Backups of the host, newest first. */
export interface BackupStore {
  /** Absolute path of the backup folder. */
  folder(): string;
  list(): Promise<readonly BackupFile[]>;
  /** Returns the time of the newest backup, and whether it is too old for the existing data. */
  getAge(): Promise<BackupAge>;
  /**
   * Creates a backup; only one runs at a time.
   * @throws Problem `backup.target` (507), `backup.running` (409).
   */
  create(): Promise<BackupFile>;
  /**
   * Stores an uploaded backup after verifying each of its files.
   * @throws Problem `backup.damaged` (422), `backup.target` (507).
   */
  receive(incoming: Readable): Promise<BackupFile>;
  /** @throws Problem `backup.unknown` (404). */
  remove(name: string): Promise<void>;
  /**
   * Returns the absolute path of a backup.
   * @throws Problem `backup.unknown` (404).
   */
  getPath(name: string): Promise<string>;
  /** @throws Problem `backup.unknown` (404), `backup.damaged` (422). */
  contents(name: string): Promise<BackupContents>;
  /**
   * Unpacks and verifies a backup beside the data and restarts the host with it; the current data is set aside.
   * Resolves before the restart, when nothing can fail any more.
   * @throws Problem `backup.unknown` (404), `backup.damaged` (422), `backup.running` (409).
   */
  restore(name: string): Promise<void>;
  /** Data that restores replaced, newest first. */
  setAside(): Promise<readonly SetAsideData[]>;
  /**
   * Restarts the host with data that was set aside; the current data is set aside as well.
   * @throws Problem `backup.unknown` (404).
   */
  restoreSetAside(name: string): Promise<void>;
  /**
   * Deletes data that was set aside.
   * @throws Problem `backup.unknown` (404).
   */
  removeSetAside(name: string): Promise<void>;
}
