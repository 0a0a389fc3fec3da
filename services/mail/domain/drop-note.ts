import * as m from '#messages/mail-texts';

/** Note of a mail that a rule discarded, such as `rule:3`. Older versions stored a sentence, which is shown unchanged. */
const pattern = /^rule:(\d+)$/;

/** Returns the stored note of a mail that the rule with this number discarded. */
export function toDropNote(rule: number): string {
  return `rule:${String(rule)}`;
}

/** Formats a stored note as a sentence in the current language; other notes are returned unchanged. */
export function formatNote(note: string): string {
  const [, number] = pattern.exec(note) ?? [];
  return number === undefined ? note : m.droppedByRule({ number });
}
