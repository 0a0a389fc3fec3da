/**
 * Formats the reason of a failed delivery as a sentence. The reply to programs starts with the peer's wording, such
 * as "Failed to send JSON POST notification, error=401: "; the number is kept for lookup.
 */
export function formatCause(detail: string): string {
  const [, status] = /^Failed to send .{1,60}? notification, error=(\d{3})\.?$/.exec(detail) ?? [];
  if (status !== undefined) return formatStatus(Number(status));
  const [, code, reply = ''] = /^Failed to send .{1,60}? notification(?:, error=(\d+))?: (.+)$/s.exec(detail) ?? [];
  if (reply === '') return detail;
  const sentence = reply.slice(0, 1).toUpperCase() + reply.slice(1);
  if (code === undefined) return sentence;
  const [first = '', ...rest] = sentence.split(/(?<=[.!?])\s+/);
  return [first.replace(/[.!?]?$/, ` (error ${code})$&`), ...rest].join(' ');
}

/** Formats a reply that has only a status. */
function formatStatus(status: number): string {
  const withStatus = (text: string): string => `${text} (error ${String(status)}).`;
  if (status === 401 || status === 407) return withStatus('It does not accept the sign-in');
  if (status === 403) return withStatus('It refuses the notification');
  if (status === 404 || status === 410) return withStatus('There is nothing at its address');
  if (status === 413) return withStatus('The notification is too large for it');
  if (status === 429) return withStatus('It is sent too many at once');
  if (status >= 500) return withStatus('It reports a fault on its side');
  return `It answered with error ${String(status)}.`;
}
