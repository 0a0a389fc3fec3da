import type { Recogniser } from './program.ts';

const maxErrorLines = 20;

/**
 * Returns what stands before the logs, and the errors in them. The logs have a heading of their own since VE 8.1, which is
 * underlined; before it they follow the table. A text without either is kept whole.
 */
function withoutLogs(text: string): string {
  const lines = text.split('\n');
  const start = lines.findIndex(
    (line, index) =>
      /^Detailed backup logs/i.test(line.trim()) ||
      (/^Logs:?$/i.test(line.trim()) && /^[=-]{3,}$/.test(lines[index + 1]?.trim() ?? '')),
  );
  if (start === -1) return text.trim();
  const errors = lines.slice(start + 1).flatMap((line) => {
    const error = /\bERROR:.*$/.exec(line);
    return error === null ? [] : [line.trim()];
  });
  const visible = [...new Set(errors)].slice(0, maxErrorLines);
  return [lines.slice(0, start).join('\n').trim(), visible.join('\n')].filter((part) => part !== '').join('\n\n');
}

/** Proxmox VE: `vzdump backup status (HOST): backup successful`; the logs behind the table are for its own pages. */
export const proxmox: Recogniser = ({ subject, text }) => {
  const [, host, outcome] = /^vzdump backup status \(([^)]+)\)\s*:\s*(.+)$/i.exec(subject) ?? [];
  if (host === undefined || outcome === undefined) return undefined;
  const well = /success/i.test(outcome) && !/fail/i.test(outcome);
  return {
    title: `Backup on ${host.replace(/\..*$/, '')}: ${outcome.replace(/^backup\s+/i, '')}`,
    body: withoutLogs(text),
    type: well ? 'success' : 'failure',
  };
};

const bad = /\b(failed|failure|degraded|crashed|critical|error|abnormal|lost|faulty|improper|overheat\w*|unable)\b/i;
const careful = /\b(warning|low|almost|unusual|blocked|disconnected|interrupted|battery)\b/i;
const good = /\b(completed|successful\w*|recovered|restored|finished|normal|repaired)\b/i;

/** The last words of DSM: `From NAS`, or whose sincere wishes they are. */
const closing =
  /^(?:From (\S{1,64})|Sincerely,?|Synology (?:DiskStation|NAS|RackStation|DSM)(?: [\w+-]{1,30})?|-{3,})$/i;

/** The news between greeting and closing lines, and the device that the closing names. */
function newsOf(text: string): { readonly news: string; readonly signed: boolean; readonly host: string | undefined } {
  const lines = text.trim().split('\n');
  let [signed, host]: [boolean, string | undefined] = [false, undefined];
  for (let line = lines.at(-1)?.trim(); line !== undefined; line = lines.at(-1)?.trim()) {
    const found = closing.exec(line);
    if (found === null && line !== '') break;
    signed ||= found !== null;
    host ??= found?.[1];
    lines.pop();
  }
  return { news: lines.join('\n').trim(), signed, host };
}

/** Synology DSM: a greeting, the news, and a closing line that names the device. */
export const synology: Recogniser = ({ subject, from, text }) => {
  const greeting = /^\s*Dear (?:user|administrator|[\w.-]{1,64}),/i.exec(text);
  if (greeting === null) return undefined;
  const { news, signed, host: named } = newsOf(text.slice(greeting[0].length));
  if (!signed && !/synology/i.test(`${subject} ${from} ${text}`)) return undefined;
  const [, bracketed, rest] = /^\[([^\]]+)\]\s*(.+)$/.exec(subject) ?? [];
  const host = named ?? bracketed;
  const title = rest ?? subject;
  const words = `${subject} ${news}`;
  const type = bad.test(words) ? 'failure' : careful.test(words) ? 'warning' : good.test(words) ? 'success' : undefined;
  return {
    title: host === undefined ? title : `${host}: ${title}`,
    body: news,
    ...(type === undefined ? {} : { type }),
  };
};
