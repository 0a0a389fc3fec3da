import type { IncomingMessage } from 'node:http';
import { negotiateRequestLanguage, runInLanguage } from '../../kit/language.ts';
import { sendsForm, wantsPage } from './responses.ts';

/** Runs work for a page or form of a browser in its language. Programs get their answers in English. */
export async function runInPageLanguage<T>(request: IncomingMessage, work: () => T | Promise<T>): Promise<T> {
  if (!wantsPage(request) && !sendsForm(request)) return work();
  return runInLanguage(negotiateRequestLanguage(request.headers['accept-language']), work);
}
