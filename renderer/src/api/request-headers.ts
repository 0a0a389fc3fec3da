import { getLocale } from '../../../messages/language.ts';
import { sessionSecret } from './session-secret.ts';

/** Returns the headers of each call: the session, and the language of the texts in the reply. */
export function requestHeaders(): Readonly<Record<string, string>> {
  return { ...sessionSecret.headers(), 'Accept-Language': getLocale() };
}
