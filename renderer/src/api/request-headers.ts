import { untrack } from 'svelte';
import { getLocale } from '../../../messages/language.ts';
import { sessionSecret } from './session-secret.ts';

/**
 * Returns the headers of each call: the session, and the language of the texts in the reply. An effect that makes a call
 * does not depend on the language, because data is not requested again when it changes.
 */
export function requestHeaders(): Readonly<Record<string, string>> {
  return { ...sessionSecret.headers(), 'Accept-Language': untrack(getLocale) };
}
