import * as m from '#messages/notify-labels';
import { leftQueueNote, parseSendFailure } from '../../../../../services/contracts/notify/send-failure.ts';
import type { NotifyFailureCode } from '../../../../../services/contracts/notify/statistics.ts';

const causes: Readonly<Record<NotifyFailureCode, () => string>> = {
  unknown_host: m.causeUnknownHost,
  refused: m.causeRefused,
  unreachable: m.causeUnreachable,
  timeout: m.causeTimeout,
  reset: m.causeReset,
  untrusted: m.causeUntrusted,
  own_address: m.causeOwnAddress,
  address_refused: m.causeAddressRefused,
  invalid_address: m.causeInvalidAddress,
  sign_in: m.causeSignIn,
  needs_engine: m.causeNeedsEngine,
  engine_failed: m.causeEngineFailed,
  too_large: m.causeTooLarge,
  request_failed: m.causeRequestFailed,
  mail_refused: m.causeMailRefused,
  publish_failed: m.causePublishFailed,
  unexpected_reply: m.causeUnexpectedReply,
  no_room: m.causeNoRoom,
  unknown_topic: m.causeUnknownTopic,
  unknown_key: m.causeUnknownKey,
};

/** Codes of failures whose report has a remark of Homeport in English in place of a reply. */
const codesWithoutReply: ReadonlySet<NotifyFailureCode | ''> = new Set([
  'unexpected_reply',
  'no_room',
  'unknown_topic',
  'unknown_key',
]);
/** Codes of several causes, which the report names. */
const codesWithDetails: ReadonlySet<NotifyFailureCode | ''> = new Set(['request_failed', 'publish_failed']);

/**
 * Formats the cause of a failed delivery in the language of the page, by its code or the status of the response. Other
 * causes are shown as they were recorded.
 */
export function formatCause(detail: string, code: NotifyFailureCode | '' = ''): string {
  if (!detail.endsWith(leftQueueNote)) return formatReport(detail, code);
  return m.causeOfDetached({ cause: formatReport(detail.slice(0, -leftQueueNote.length), code) });
}

function formatReport(detail: string, code: NotifyFailureCode | ''): string {
  if (code !== '' && codesWithoutReply.has(code)) return causes[code]();
  const failure = parseSendFailure(detail);
  if (code !== '' && codesWithDetails.has(code)) {
    const details = failure?.reason ?? detail.replace(/^[^:]*: /, '');
    return details === '' ? causes[code]() : m.causeWithDetails({ cause: causes[code](), details });
  }
  if (failure === undefined) return code === '' ? detail : causes[code]();
  const { status, reason, reply } = failure;
  const cause = code !== '' ? causes[code]() : status !== undefined ? formatStatus(status) : capitalize(reason);
  if (reply === '') return cause === '' ? m.notSent() : cause;
  return cause === '' ? m.replied({ reply }) : m.causeWithReply({ cause, reply });
}

function capitalize(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** Formats the status of a response; the number of the error is kept for lookup. */
function formatStatus(status: number): string {
  const values = { status: String(status) };
  if (status === 401 || status === 407) return m.signInRefused(values);
  if (status === 403) return m.notificationRefused(values);
  if (status === 404 || status === 410) return m.nothingAtAddress(values);
  if (status === 413) return m.notificationTooLarge(values);
  if (status === 429) return m.tooManyAtOnce(values);
  return status >= 500 ? m.faultOfDestination(values) : m.answeredWithError(values);
}
