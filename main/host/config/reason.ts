import * as m from '#messages/config-problems';
import type { z } from 'zod';
import { formatIssueMessage } from '../runtime/plain-issues.ts';
import type { SettingsProblem } from '../../../services/contracts/control/settings.ts';

/**
 * Returns the reason why a value was refused, as one sentence. For secrets it contains only the kind of the error,
 * since a schema's own message may repeat the value.
 */
export function getReason(issue: z.core.$ZodIssue, secret: boolean): string {
  // The issue has no input any more, and the value is not missing.
  if (issue.code === 'invalid_type' && secret) return formatIssueMessage({ ...issue, input: null });
  if (!secret) return endSentence(issue.message);
  if (issue.code === 'too_small') return m.tooShortOrSmall();
  if (issue.code === 'too_big') return m.tooLongOrLarge();
  return m.invalidForm();
}

function endSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Formats a problem of the settings as one line with its location. */
export function formatSettingsProblem({ path, line, message }: SettingsProblem): string {
  return [path, line === undefined ? '' : m.line({ line: String(line) }), message]
    .filter((part) => part !== '')
    .join(': ');
}
