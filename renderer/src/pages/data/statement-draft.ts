import { keep, readKept } from '../../state/kept.ts';

const name = 'homeport.data.draft';

/** The statements that were being written when this browser left their page; empty: none. */
export function readDraft(): string {
  return readKept(name) ?? '';
}

export function keepDraft(text: string): void {
  keep(name, text === '' ? null : text);
}
