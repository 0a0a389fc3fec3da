import type { Past, Contents } from './backup.ts';

/** Asks the thread for what a monitor did. */
export interface ToKuma {
  readonly monitor: number;
  readonly now: number;
}

/** What the thread tells: one `holding` or `refused` first, then one `past` for each question. */
export type FromKuma =
  | { readonly kind: 'holding'; readonly holding: Contents }
  | { readonly kind: 'past'; readonly past: Past }
  | { readonly kind: 'refused'; readonly detail: string };
