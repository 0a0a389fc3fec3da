import * as m from '#messages/push-texts';
import { findOwn } from '../../contracts/find-own.ts';

const messages = {
  run_missed: m.runMissed,
  run_account_missing: m.runAccountMissing,
  run_denied: m.runDenied,
} as const;

/** Stored code of a run that was skipped. */
export type RunErrorCode = keyof typeof messages;

/** Formats a stored error of a schedule in the current language. Other errors were stored as a sentence. */
export function formatRunError(error: string, schedule: { readonly account: string; readonly topic: string }): string {
  return findOwn(messages, error)?.(schedule) ?? error;
}
