import type { NotificationType } from '../../../contracts/notify/notification.ts';

/** Text of a mail for recognizers, without control characters. */
export interface MailText {
  readonly subject: string;
  readonly from: string;
  /** Plain text part, or the HTML part as text; lines end with `\n`. */
  readonly text: string;
  /** Media types of the attachments. */
  readonly attachmentTypes: readonly string[];
}

/** Improved fields of a mail from a known program; omitted fields stay unchanged. */
export interface Rendering {
  readonly title?: string;
  /** Plain text. */
  readonly body?: string;
  readonly type?: NotificationType;
}

/**
 * Returns undefined for mails of other programs. The title is used without the sender, because it contains the
 * computer's name.
 */
export type Recognizer = (mail: MailText) => Rendering | undefined;

/**
 * Returns the lines before the first one that matches `end`. Each line is tested once, so that hostile text costs no
 * more.
 */
export function getTextBefore(text: string, end: RegExp): string {
  const lines = text.split('\n');
  const endIndex = lines.findIndex((line) => end.test(line.trim()));
  return (endIndex === -1 ? text : lines.slice(0, endIndex).join('\n')).trim();
}
