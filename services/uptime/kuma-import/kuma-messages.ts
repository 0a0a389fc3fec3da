import type { MonitorHistory, BackupContents } from './backup.ts';

/** Request to the process that reads a kuma.db: its contents, or the history of one monitor. */
export interface KumaRequest {
  readonly file: string;
  readonly history?: { readonly monitor: number; readonly now: number };
}

export type KumaAnswer =
  | { readonly kind: 'holding'; readonly holding: BackupContents }
  | { readonly kind: 'past'; readonly past: MonitorHistory }
  | { readonly kind: 'refused'; readonly reason: 'unreadable' | 'foreign' };
