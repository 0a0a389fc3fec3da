import { formatToParts, type Formats, type Formatters } from 'intl-messageformat';
import { isLiteralElement, type MessageFormatElement } from '@formatjs/icu-messageformat-parser';
import { getLanguage, remember, sourceLanguage } from './language.ts';

/** Parsed message: its text when it has no parameters, otherwise the elements of the ICU message. */
export type ParsedMessage = string | MessageFormatElement[];

/** Value of a parameter. Numbers in plural and number elements are formatted for the language. */
export type MessageValue = string | number | bigint;

type MessageValues = Readonly<Record<string, MessageValue>>;

/** Part of a message with tags: text, or a tag with its content. */
export type RichPart = string | { readonly tag: string; readonly children: readonly RichPart[] };

/** Message with tags, such as `Open <link>Network</link>`, for a component that renders each tag. */
export interface RichMessage {
  readonly parts: readonly RichPart[];
}

/**
 * Messages of one namespace in one language, in the order of the English catalog, because keys would take a third of the
 * size. `null` falls back to English.
 */
export type Translation = readonly (ParsedMessage | null)[];

/** Loaders of the translations of one namespace, by language. */
type TranslationLoaders = Readonly<Record<string, () => Promise<{ readonly default: Translation }>>>;

/** Formats the messages of one namespace in the current language. */
export interface Catalog {
  /** Returns a text. `index` is its position in the catalog, and `english` the message in the source language. */
  text(index: number, english: ParsedMessage, values?: MessageValues): string;
  /** Returns a message with tags. */
  rich(index: number, english: ParsedMessage, tags: readonly string[], values?: MessageValues): RichMessage;
}

const namespaces = new Map<string, TranslationLoaders>();
/** Loaded translations by language and namespace. */
const translations = new Map<string, Map<string, Translation>>();
/** Changes each literal text after the translation; used by pseudo-languages. */
let transformText: ((text: string) => string) | undefined;
let onNamespace = (): void => undefined;

/** Sets a function that changes each literal text of a message; undefined removes it. */
export function setTextTransform(transform: ((text: string) => string) | undefined): void {
  transformText = transform;
}

/** Calls a function whenever code with a further namespace was loaded, whose translation is not loaded yet. */
export function onNewNamespace(listener: () => void): void {
  onNamespace = listener;
}

/**
 * Loads a language for all namespaces in use that are not loaded yet. An unknown language loads nothing. Never rejects:
 * a namespace that cannot be loaded is in English, and the next call tries it again.
 */
export async function loadLanguage(language: string): Promise<void> {
  const loaded = translations.get(language) ?? new Map<string, Translation>();
  translations.set(language, loaded);
  const missing = [...namespaces].filter(([name]) => !loaded.has(name));
  await Promise.all(
    missing.map(async ([name, loaders]) => {
      const translation = await loadTranslation(loaders, language);
      if (translation !== undefined) loaded.set(name, translation);
    }),
  );
}

/** Returns the translation of a namespace; undefined when the language has none or its file cannot be read. */
async function loadTranslation(loaders: TranslationLoaders, language: string): Promise<Translation | undefined> {
  // A language is input of a client, such as `constructor`.
  if (!Object.hasOwn(loaders, language)) return undefined;
  try {
    return (await loaders[language]?.())?.default;
  } catch {
    return undefined;
  }
}

/** Registers a namespace with the loaders of its translations. Called by the generated modules. */
export function defineCatalog(name: string, loaders: TranslationLoaders): Catalog {
  namespaces.set(name, loaders);
  onNamespace();
  const format = (index: number, english: ParsedMessage, values: MessageValues = {}, tags: readonly string[] = []) => {
    const language = getLanguage();
    const translation = language === sourceLanguage ? null : (translations.get(language)?.get(name)?.[index] ?? null);
    return translation === null
      ? formatMessage(english, sourceLanguage, values, tags)
      : formatMessage(translation, language, values, tags);
  };
  return {
    text: (index, english, values) => toText(format(index, english, values)),
    rich: (index, english, tags, values) => ({ parts: format(index, english, values, tags) }),
  };
}

/** Returns the text of parts without their tags. */
export function toText(parts: readonly RichPart[]): string {
  return parts.map((part) => (typeof part === 'string' ? part : toText(part.children))).join('');
}

function formatMessage(
  message: ParsedMessage,
  language: string,
  values: MessageValues,
  tags: readonly string[],
): readonly RichPart[] {
  if (typeof message === 'string') return [transformText?.(message) ?? message];
  const renderers = tags.map((tag) => [tag, (children: RichPart[]) => ({ tag, children })] as const);
  const input = { ...values, ...Object.fromEntries(renderers) };
  const parts = formatToParts<RichPart>(transformLiterals(message), language, formatters, formats, input);
  return parts.map(({ value }) => value);
}

/** Applies the transform to the literal text of a message; values of parameters stay the same. */
function transformLiterals(message: MessageFormatElement[]): MessageFormatElement[] {
  const transform = transformText;
  if (transform === undefined) return message;
  return message.map((element) => {
    if ('children' in element) return { ...element, children: transformLiterals(element.children) };
    if ('options' in element) {
      const options = Object.entries(element.options).map(([name, { value }]) => [
        name,
        { value: transformLiterals(value) },
      ]);
      return { ...element, options: Object.fromEntries(options) };
    }
    return isLiteralElement(element) ? { ...element, value: transform(element.value) } : element;
  });
}

/** Named formats are not used: a message contains the skeleton of its style. */
const formats: Formats = { number: {}, date: {}, time: {} };

/** Formatters are reused, because creating one takes longer than formatting with it. */
const formatters: Formatters = {
  getNumberFormat: (language, options) =>
    remember('number', [language, options], () => new Intl.NumberFormat(language, options as Intl.NumberFormatOptions)),
  getDateTimeFormat: (language, options) =>
    remember('date', [language, options], () => new Intl.DateTimeFormat(language, options)),
  getPluralRules: (language, options) =>
    remember('plural', [language, options], () => new Intl.PluralRules(language, options)),
};
