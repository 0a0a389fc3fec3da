/**
 * Format in which Apprise API reports that a notification was not sent: `Failed to send <service> notification`, with
 * `, error=<status>` after a response of the service, and with the reason after a colon. Clients, logs and failed jobs
 * contain it, so both directions are defined here.
 */

/** Parts of the report. `reason` is empty without one. */
export interface SendFailure {
  /** HTTP status of the service, or the number of an error of its protocol. */
  readonly status: number | undefined;
  readonly reason: string;
}

/** Formats the beginning of the report, without a full stop. */
export function formatSendFailure(service: string, status?: number): string {
  return `Failed to send ${service} notification${status === undefined ? '' : `, error=${String(status)}`}`;
}

/** Parses a report; undefined for any other text. */
export function parseSendFailure(text: string): SendFailure | undefined {
  const match = /^Failed to send .{1,60}? notification(?:, error=(\d+))?(?:: (.+)|\.)?$/s.exec(text);
  if (match === null) return undefined;
  const [, status, reason = ''] = match;
  return { status: status === undefined ? undefined : Number(status), reason };
}
