import { sourceLanguage, withLanguage } from '../../../messages/language.ts';
import { readText, type Text } from '../../contracts/text.ts';

/**
 * Error with a text for users. A message function is for an error that is stored or shown to several readers: each of
 * them gets it in their language.
 */
export abstract class TextError extends Error {
  readonly text: Text;

  constructor(text: Text, options?: ErrorOptions) {
    // The message is for the log, which is in English.
    super(typeof text === 'string' ? text : withLanguage(sourceLanguage, text), options);
    this.text = text;
  }

  /** The text in the current language. */
  get sentence(): string {
    return readText(this.text);
  }
}
