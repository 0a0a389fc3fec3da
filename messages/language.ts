/** Language of the messages in the source code, and the fallback of each message. */
export const sourceLanguage = 'en';

/** Language of messages, and the locale (language with region) of dates and numbers. Both are BCP 47 tags. */
export interface LanguageChoice {
  readonly language: string;
  readonly locale: string;
}

let current: LanguageChoice = { language: sourceLanguage, locale: sourceLanguage };
let read = (): LanguageChoice => current;

/**
 * Sets how the current language is read. Pages pass a function that reads reactive state, so that visible texts follow a
 * change of the language.
 */
export function setLanguageReader(reader: () => LanguageChoice): void {
  read = reader;
}

/** Returns the language of messages, such as `de`. */
export function getLanguage(): string {
  return read().language;
}

/** Returns the locale of dates, numbers and lists, such as `de-AT`. */
export function getLocale(): string {
  return read().locale;
}

/** Returns the language that {@link setLanguage} has set for this process or page; English by default. */
export function getProcessLanguage(): LanguageChoice {
  return current;
}

/** Makes a language the current one of this process or page. Its messages must be loaded before. */
export function setLanguage(language: string, locale = language): void {
  current = { language, locale };
}

/** Runs a synchronous function with another current language, for a text for one account or one request. */
export function withLanguage<T>(language: string, run: () => T): T {
  const readBefore = read;
  read = () => ({ language, locale: language });
  try {
    return run();
  } finally {
    read = readBefore;
  }
}

/**
 * Returns the best language for a list of wishes, such as `navigator.languages` or an `Accept-Language` header that was
 * split: the first wish whose language exists, with its region as the locale.
 */
export function negotiateLanguage(wishes: readonly string[], languages: readonly string[]): LanguageChoice {
  for (const wish of wishes) {
    const exact = languages.find((language) => language.toLowerCase() === wish.toLowerCase());
    const base = wish.toLowerCase().split('-')[0] ?? '';
    const language = exact ?? languages.find((each) => each.toLowerCase() === base);
    if (language !== undefined) return { language, locale: findLocale(wish) ?? language };
  }
  return { language: sourceLanguage, locale: sourceLanguage };
}

/**
 * Returns the locale in which a tag is formatted, without extensions: `de-AT` for `de-AT-u-nu-thai`. Clients send the
 * tags, so that only the locales of this program are distinguished. Undefined for a malformed tag.
 */
function findLocale(tag: string): string | undefined {
  return remember('locale', [tag], () => {
    try {
      return new Intl.Locale(new Intl.NumberFormat(tag).resolvedOptions().locale).baseName;
    } catch {
      return undefined; // Not a language tag.
    }
  });
}

/** Maximum number of formatters that are reused. A host with pages in all languages uses about 200. */
const maxFormatters = 1000;

const formatters = new Map<string, unknown>();

/** Serialized options. Each format has one options object, which would otherwise be serialized for every value. */
const serializedOptions = new WeakMap<object, string>();

function serialize(parameter: unknown): string {
  if (typeof parameter !== 'object' || parameter === null) return String(parameter);
  const existing = serializedOptions.get(parameter);
  if (existing !== undefined) return existing;
  const serialized = JSON.stringify(parameter);
  serializedOptions.set(parameter, serialized);
  return serialized;
}

/**
 * Returns the formatter of a kind for these parameters, which is created once. The formatter that was created first is
 * dropped when there are too many, because clients choose the locales.
 */
export function remember<T>(kind: string, parameters: readonly unknown[], create: () => T): T {
  const key = [kind, ...parameters.map(serialize)].join('\n');
  const existing = formatters.get(key);
  if (existing !== undefined) return existing as T;
  const created = create();
  formatters.set(key, created);
  const [oldest] = formatters.keys();
  if (formatters.size > maxFormatters && oldest !== undefined) formatters.delete(oldest);
  return created;
}
