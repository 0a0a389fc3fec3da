import type { z } from 'zod';
import type { SettingsProblem } from '../../../services/contracts/control/settings.ts';

const kinds: Readonly<Record<string, string>> = {
  number: 'a number',
  int: 'a whole number',
  string: 'text',
  boolean: 'true or false',
  array: 'a list',
  object: 'a group of fields',
  record: 'a group of fields',
};

/**
 * Why a value was refused, as one sentence. About a secret it only says what kind of thing is wrong: a schema's own
 * message might repeat the value.
 */
export function reasonOf(issue: z.core.$ZodIssue, secret: boolean): string {
  if (issue.code === 'invalid_type' && (secret || issue.message.startsWith('Invalid input'))) {
    return `Expected ${kinds[issue.expected] ?? issue.expected}.`;
  }
  if (!secret) return /[.!?]$/.test(issue.message) ? issue.message : `${issue.message}.`;
  if (issue.code === 'too_small') return 'It is too short or too small.';
  if (issue.code === 'too_big') return 'It is too long or too large.';
  return 'It is not of the expected form.';
}

/** A problem of the settings on one line: where, and why. */
export function settingsSentence({ path, line, message }: SettingsProblem): string {
  return [path, line === undefined ? '' : `line ${line}`, message].filter((part) => part !== '').join(': ');
}
