import type { Recogniser } from './program.ts';

/** Words in a job's output that mean trouble; a job that says anything at all may only be talkative. */
const trouble = /\b(error|errors|failed|failure|fatal|refused|denied|not found|no such file|cannot|panic|traceback)\b/i;

/** `Cron <root@host> command`, as Vixie cron, cronie and Debian's cron write it, with the job's output as the body. */
export const cron: Recogniser = ({ subject, text }) => {
  const [, host, command] = /^Cron <[^@<>]*@?([^<>]*)>\s+(.+)$/.exec(subject) ?? [];
  if (host === undefined || command === undefined) return undefined;
  const program = command.trim();
  return { title: `Cron on ${host}: ${program}`, ...(trouble.test(text) ? { type: 'warning' as const } : {}) };
};
