import type { z } from 'zod';
import { plainIssue } from '../runtime/plain-issues.ts';
import type { SettingsProblem } from '../../../services/contracts/control/settings.ts';

/**
 * Why a value was refused, as one sentence. About a secret it only says what kind of thing is wrong: a schema's own
 * message might repeat the value.
 */
export function reasonOf(issue: z.core.$ZodIssue, secret: boolean): string {
  // Without its input, which the issue no longer has: what stands there is not missing.
  if (issue.code === 'invalid_type' && secret) return plainIssue({ ...issue, input: null });
  if (!secret) return /[.!?]$/.test(issue.message) ? issue.message : `${issue.message}.`;
  if (issue.code === 'too_small') return 'It is too short or too small.';
  if (issue.code === 'too_big') return 'It is too long or too large.';
  return 'It is not of the expected form.';
}

/** A problem of the settings on one line: where, and why. */
export function settingsSentence({ path, line, message }: SettingsProblem): string {
  return [path, line === undefined ? '' : `line ${line}`, message].filter((part) => part !== '').join(': ');
}
