import { AsyncLocalStorage } from 'node:async_hooks';
import {
  getProcessLanguage,
  negotiateLanguage,
  setLanguageReader,
  sourceLanguage,
  type LanguageChoice,
} from '../../messages/language.ts';
import { languages } from '../../messages/generated/languages.ts';
import { loadLanguage } from '../../messages/runtime.ts';

const english: LanguageChoice = { language: sourceLanguage, locale: sourceLanguage };

/** Language of a piece of work. */
interface LanguageScope {
  readonly choice: LanguageChoice;
  /** The work has made a text, or formatted a value, in this language. */
  isUsed: boolean;
}

const storage = new AsyncLocalStorage<LanguageScope>();

// Texts outside of a request of a page are in English: the peers' clients and the log expect it. Only the desktop shell
// sets another language for its process.
setLanguageReader(() => {
  const scope = storage.getStore();
  if (scope === undefined) return getProcessLanguage();
  scope.isUsed = true;
  return scope.choice;
});

/** Returns the language of the current work if it has made a text in it; undefined if its result has no language. */
export function findUsedLanguage(): string | undefined {
  const scope = storage.getStore();
  return scope?.isUsed === true ? scope.choice.language : undefined;
}

/** Maximum length of an Accept-Language header that is read. Browsers send less than 200 characters. */
const maxHeaderLength = 500;

/**
 * Returns the language for the wishes of a client: the first of an `Accept-Language` header (RFC 9110, section 12.5.4)
 * that has a catalog, with its region as the locale. English without a header or without a match.
 */
export function negotiateRequestLanguage(acceptLanguage: string | undefined): LanguageChoice {
  if (acceptLanguage === undefined) return english;
  const wishes = acceptLanguage
    .slice(0, maxHeaderLength)
    .split(',')
    .map((part) => parseWish(part))
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight);
  return negotiateLanguage(
    wishes.map(({ tag }) => tag),
    languages,
  );
}

function parseWish(part: string): { readonly tag: string; readonly weight: number } {
  const [tag = '', ...parameters] = part.split(';').map((each) => each.trim());
  const quality = parameters.find((each) => /^q=/i.test(each));
  const weight = quality === undefined ? 1 : Number(quality.slice(2));
  return { tag, weight: Number.isFinite(weight) ? weight : 0 };
}

/** Locale of the system, which does not change while the process runs. Reading it takes longer than a translation. */
const systemLocale = Intl.DateTimeFormat().resolvedOptions().locale;

/** Returns the language of a host for its setting; empty means the language of the system. */
export function resolveHostLanguage(setting: string): LanguageChoice {
  const isSystemLanguage = setting === '' || systemLocale.split('-')[0] === setting;
  return negotiateLanguage([isSystemLanguage ? systemLocale : setting], languages);
}

/**
 * Runs work whose texts are in a language, including everything that it awaits. The translations are loaded first.
 * Other work of the process is not affected.
 */
export async function runInLanguage<T>(choice: LanguageChoice, work: () => T | Promise<T>): Promise<T> {
  if (choice.language !== sourceLanguage) await loadLanguage(choice.language);
  return storage.run({ choice, isUsed: false }, work);
}

/**
 * Returns a function that runs later synchronous work in the current language, such as the events of a stream in that of
 * the page that opened it.
 */
export function keepLanguage(): <T>(work: () => T) => T {
  const choice = storage.getStore()?.choice ?? getProcessLanguage();
  return (work) => storage.run({ choice, isUsed: false }, work);
}

/** Runs work whose texts are in English, within the current request. */
export function runInEnglish<T>(work: () => T): T {
  return storage.run({ choice: english, isUsed: false }, work);
}

/**
 * Runs work that outlives the current request, or whose result others receive: the subscribers of the bus, the attempts
 * of jobs, the start of a service. It has nothing of the request: its texts are in English, its reads do not end with the
 * client, and the log does not name the client's address.
 */
export const runOutsideRequests: <T>(work: () => T) => T = runInEnglish(() => AsyncLocalStorage.snapshot());
