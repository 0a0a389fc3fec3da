import type { Readable } from 'node:stream';
import { z } from 'zod';

/** A backup that lies in the folder of backups. */
export const BackupFile = z
  .object({
    /** File name, without a folder. */
    name: z.string(),
    bytes: z.number(),
    createdAt: z.number().describe('ms since the epoch'),
  })
  .meta({ id: 'BackupFile' });
export type BackupFile = z.infer<typeof BackupFile>;

export const BackupAge = z.object({ newestAt: z.number().nullable(), isOld: z.boolean() }).meta({ id: 'BackupAge' });
export type BackupAge = z.infer<typeof BackupAge>;

/** What a backup holds, each of its files verified. */
export const BackupContents = z
  .object({
    /** The version that made it. */
    homeport: z.string(),
    createdAt: z.number().describe('ms since the epoch'),
    tables: z.enum(['here', 'elsewhere']).describe('`elsewhere`: the tables were on a database server.'),
    parts: z
      .array(z.object({ service: z.string(), files: z.int(), bytes: z.number() }))
      .describe('By service; `host`: settings, accounts and keys.'),
  })
  .meta({ id: 'BackupContents' });
export type BackupContents = z.infer<typeof BackupContents>;

/** The data that a restore has replaced, in a folder of the data folder. */
export const SetAsideData = z
  .object({ name: z.string(), createdAt: z.number().describe('When it was replaced, ms since the epoch.') })
  .meta({ id: 'SetAside' });
export type SetAsideData = z.infer<typeof SetAsideData>;

/** The host's backups, newest first. */
export interface BackupStore {
  /** Absolute path of the folder. */
  folder(): string;
  list(): Promise<readonly BackupFile[]>;
  /** When the newest one was made, and whether that is too long ago for what there is to lose. */
  getAge(): Promise<BackupAge>;
  /** Writes one now; one at a time. @throws Problem `backup.target` (507), `backup.running` (409). */
  create(): Promise<BackupFile>;
  /**
   * Keeps one that was made elsewhere, after each of its files was verified. @throws Problem `backup.damaged` (422),
   * `backup.target` (507).
   */
  receive(incoming: Readable): Promise<BackupFile>;
  /** @throws Problem `backup.unknown` (404). */
  remove(name: string): Promise<void>;
  /** Absolute path of one that is there. @throws Problem `backup.unknown` (404). */
  getPath(name: string): Promise<string>;
  /** This and the next: @throws Problem `backup.unknown` (404), `backup.damaged` (422). */
  contents(name: string): Promise<BackupContents>;
  /**
   * Unpacks and verifies one beside the data, and begins anew with it; what there is now is set aside. Resolves before
   * that, with nothing left that could refuse. @throws Problem `backup.running` (409).
   */
  restore(name: string): Promise<void>;
  /** What restores have replaced, newest first. */
  setAside(): Promise<readonly SetAsideData[]>;
  /** Begins anew with what was set aside; what there is now is set aside in its turn. @throws Problem `backup.unknown` (404). */
  restoreSetAside(name: string): Promise<void>;
  /** Removes what was set aside for good. @throws Problem `backup.unknown` (404). */
  removeSetAside(name: string): Promise<void>;
}
