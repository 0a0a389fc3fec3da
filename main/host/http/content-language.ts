import type { ServerResponse } from 'node:http';
import { addHeaders } from '../../../services/kit/http/respond.ts';
import { findUsedLanguage } from '../../../services/kit/language.ts';

/**
 * Adds the language of a response with texts for the reader (RFC 9110, section 8.5). Data without texts has none, so that
 * a page whose language changes requests only the responses with this header again.
 */
export function addContentLanguage(response: ServerResponse): void {
  const language = findUsedLanguage();
  if (language === undefined) return;
  const vary = [response.getHeader('Vary'), 'Accept-Language'].filter((field) => field !== undefined).join(', ');
  addHeaders(response, { 'Content-Language': language, Vary: vary });
}
