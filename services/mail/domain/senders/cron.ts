import * as m from '#messages/mail-texts';
import type { Recognizer } from './program.ts';

/** Words in the output of a job that indicate an error; other output does not indicate a problem. */
const errorPattern =
  /\b(error|errors|failed|failure|fatal|refused|denied|not found|no such file|cannot|panic|traceback)\b/i;

/**
 * `Cron <root@host> command`, as written by Vixie cron, cronie and Debian's cron, with the output of the job as the
 * body.
 */
export const cron: Recognizer = ({ subject, text }) => {
  const [, host, command] = /^Cron <[^@<>]*@?([^<>]*)>\s+(.+)$/.exec(subject) ?? [];
  if (host === undefined || command === undefined) return undefined;
  const title = m.cronOutput({ host, command: command.trim() });
  return { title, ...(errorPattern.test(text) ? { type: 'warning' as const } : {}) };
};
