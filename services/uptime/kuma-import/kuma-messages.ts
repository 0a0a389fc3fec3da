import type { Past, Contents } from './backup.ts';

/** Request to the process that reads a kuma.db: its contents, or the history of one monitor. */
export interface KumaQuestion {
  readonly file: string;
  readonly history?: { readonly monitor: number; readonly now: number };
}

export type KumaAnswer =
  | { readonly kind: 'holding'; readonly holding: Contents }
  | { readonly kind: 'past'; readonly past: Past }
  | { readonly kind: 'refused'; readonly detail: string };
