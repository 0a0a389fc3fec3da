import { parseSendFailure } from '../../../../../services/contracts/notify/send-failure.ts';

/** Formats the reason of a failed delivery as a sentence; the number of the error is kept for lookup. */
export function formatCause(detail: string): string {
  const failure = parseSendFailure(detail);
  if (failure === undefined) return detail;
  const { status, reason } = failure;
  if (reason === '') return status === undefined ? detail : formatStatus(status);
  const sentence = reason.slice(0, 1).toUpperCase() + reason.slice(1);
  if (status === undefined) return sentence;
  const [first = '', ...rest] = sentence.split(/(?<=[.!?])\s+/);
  return [first.replace(/[.!?]?$/, ` (error ${String(status)})$&`), ...rest].join(' ');
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
