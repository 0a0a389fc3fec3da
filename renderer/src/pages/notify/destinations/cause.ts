import * as m from '#messages/notify-labels';
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
  return [first.replace(/[.!?]?$/, (end) => ` ${m.errorNumber({ status: String(status) })}${end}`), ...rest].join(' ');
}

/** Formats a reply that has only a status. */
function formatStatus(status: number): string {
  const values = { status: String(status) };
  if (status === 401 || status === 407) return m.signInRefused(values);
  if (status === 403) return m.notificationRefused(values);
  if (status === 404 || status === 410) return m.nothingAtAddress(values);
  if (status === 413) return m.notificationTooLarge(values);
  if (status === 429) return m.tooManyAtOnce(values);
  return status >= 500 ? m.faultOfDestination(values) : m.answeredWithError(values);
}
