/**
 * Format in which Apprise API reports that a notification was not sent: `Failed to send <service> notification`, with
 * `, error=<status>` after a response of the service, the reason after a colon, and the reply of the service at the
 * end. Clients, logs and failed jobs contain it in English, so both directions are defined here.
 */

/** Parts of the report. `reason` and `reply` are empty without one. */
export interface SendFailure {
  /** HTTP status of the service, or the number of an error of its protocol. */
  readonly status: number | undefined;
  readonly reason: string;
  /** Words of the service. */
  readonly reply: string;
}

/** End of a report whose delivery left its queue. */
export const leftQueueNote = ' Those behind it do not wait for it.';

/** Formats the beginning of the report, without a full stop. */
export function formatSendFailure(service: string, status?: number): string {
  return `Failed to send ${service} notification${status === undefined ? '' : `, error=${String(status)}`}`;
}

/** Formats the words of the service, for the end of a report. `speaker` is the program that passes them on. */
export function formatReply(reply: string, speaker = 'It'): string {
  return reply === '' ? '' : ` ${speaker} said: ${reply}`;
}

/** Parses a report; undefined for any other text. */
export function parseSendFailure(text: string): SendFailure | undefined {
  const match = /^Failed to send .{1,60}? notification(?:, error=(\d+))?(?=[:.]|$)(.*)$/s.exec(text);
  if (match === null) return undefined;
  const [, status, rest = ''] = match;
  const [, beginning = rest, reply = ''] = /^(.*?)\.? (?:It|The Apprise library) said: (.*)$/s.exec(rest) ?? [];
  const reason = /^: (.+)$/s.exec(beginning)?.[1] ?? '';
  if (reason === '' && beginning !== '' && beginning !== '.') return undefined;
  return { status: status === undefined ? undefined : Number(status), reason, reply };
}
