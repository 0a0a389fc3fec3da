import type { ParsedMail } from '../domain/notification.ts';
import { parseMail } from './parse.ts';

/** Parses a large mail. Runs in a limited process. */
export function run({
  raw,
  isShortened,
}: {
  readonly raw: Uint8Array;
  readonly isShortened: boolean;
}): Promise<ParsedMail> {
  return parseMail(raw, isShortened);
}
