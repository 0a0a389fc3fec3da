import * as m from '#messages/mail-texts';
import type { Recognizer } from './program.ts';

const maxErrorLines = 20;

/**
 * Returns the text before the logs, and the errors in them. Since VE 8.1, logs have an underlined heading; before, they
 * followed the table. A text without logs is kept completely.
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
  return [lines.slice(0, start).join('\n').trim(), visible.join('\n')].filter((section) => section !== '').join('\n\n');
}

/** Proxmox VE: `vzdump backup status (HOST): backup successful`; logs are omitted. */
export const proxmox: Recognizer = ({ subject, text }) => {
  const [, host, outcome] = /^vzdump backup status \(([^)]+)\)\s*:\s*(.+)$/i.exec(subject) ?? [];
  if (host === undefined || outcome === undefined) return undefined;
  const isSuccess = /success/i.test(outcome) && !/fail/i.test(outcome);
  return {
    title: m.backupResult({ host: host.replace(/\..*$/, ''), result: outcome.replace(/^backup\s+/i, '') }),
    body: withoutLogs(text),
    type: isSuccess ? 'success' : 'failure',
  };
};

const failurePattern =
  /\b(failed|failure|degraded|crashed|critical|error|abnormal|lost|faulty|improper|overheat\w*|unable)\b/i;
const warningPattern = /\b(warning|low|almost|unusual|blocked|disconnected|interrupted|battery)\b/i;
const successPattern = /\b(completed|successful\w*|recovered|restored|finished|normal|repaired)\b/i;

/** Closing lines of DSM: `From NAS`, or its greetings. */
const closingPattern =
  /^(?:From (\S{1,64})|Sincerely,?|Synology (?:DiskStation|NAS|RackStation|DSM)(?: [\w+-]{1,30})?|-{3,})$/i;

/** Returns the text between greeting and closing lines, and the device named in the closing. */
function extractBody(text: string): {
  readonly body: string;
  readonly isSigned: boolean;
  readonly host: string | undefined;
} {
  const lines = text.trim().split('\n');
  let [isSigned, host]: [boolean, string | undefined] = [false, undefined];
  for (let line = lines.at(-1)?.trim(); line !== undefined; line = lines.at(-1)?.trim()) {
    const closingMatch = closingPattern.exec(line);
    if (closingMatch === null && line !== '') break;
    isSigned ||= closingMatch !== null;
    host ??= closingMatch?.[1];
    lines.pop();
  }
  return { body: lines.join('\n').trim(), isSigned, host };
}

/** Synology DSM: greeting, text, and a closing line with the name of the device. */
export const synology: Recognizer = ({ subject, from, text }) => {
  const greeting = /^\s*Dear (?:user|administrator|[\w.-]{1,64}),/i.exec(text);
  if (greeting === null) return undefined;
  const { body: bodyText, isSigned, host: signedHost } = extractBody(text.slice(greeting[0].length));
  if (!isSigned && !/synology/i.test(`${subject} ${from} ${text}`)) return undefined;
  const [, bracketed, subjectText] = /^\[([^\]]+)\]\s*(.+)$/.exec(subject) ?? [];
  const host = signedHost ?? bracketed;
  const title = subjectText ?? subject;
  const combinedText = `${subject} ${bodyText}`;
  const type = failurePattern.test(combinedText)
    ? 'failure'
    : warningPattern.test(combinedText)
      ? 'warning'
      : successPattern.test(combinedText)
        ? 'success'
        : undefined;
  return {
    title: host === undefined ? title : `${host}: ${title}`,
    body: bodyText,
    ...(type === undefined ? {} : { type }),
  };
};
