import { sourceLanguage, withLanguage } from '../../../../messages/language.ts';
import type { Text } from '../../../../services/contracts/text.ts';

/** Thrown with the reason when an installation source cannot be used; the next one is tried. */
export class SourceUnavailable extends Error {
  override readonly name = 'SourceUnavailable';
  /** Sentence for display. The message is for the log, which is in English. */
  readonly text: Text;

  constructor(text: Text, options?: ErrorOptions) {
    super(typeof text === 'string' ? text : withLanguage(sourceLanguage, text), options);
    this.text = text;
  }
}

/** Returns the reason of an error for display. */
export function getReason(error: unknown): Text {
  if (error instanceof SourceUnavailable) return error.text;
  return error instanceof Error ? error.message : String(error);
}
