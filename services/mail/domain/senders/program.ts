import type { NotificationType } from '../../../contracts/notify/notification.ts';

/** What recognisers look at: the words of a mail, control characters gone. */
export interface Words {
  readonly subject: string;
  readonly from: string;
  /** The plain part, else the HTML part as text; lines end in `\n`. */
  readonly text: string;
  /** Media types of what is attached. */
  readonly attached: readonly string[];
}

/** What a mail of a known program is better told as; what is left out stays as it came. */
export interface Rendering {
  readonly title?: string;
  /** Plain text. */
  readonly body?: string;
  readonly type?: NotificationType;
}

/** Undefined for mails of others. A rendering's title stands alone, without the sender: it names the machine itself. */
export type Recogniser = (words: Words) => Rendering | undefined;

/** The lines before the first that begins as `end` says. Looks at each line once, so that a hostile text costs no more. */
export function until(text: string, end: RegExp): string {
  const lines = text.split('\n');
  const at = lines.findIndex((line) => end.test(line.trim()));
  return (at === -1 ? text : lines.slice(0, at).join('\n')).trim();
}
