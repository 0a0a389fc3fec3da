import {
  negotiateLanguage,
  setLanguageReader,
  sourceLanguage,
  type LanguageChoice,
} from '../../../messages/language.ts';
import { formatLanguageName } from '../../../messages/format.ts';
import { languages } from '../../../messages/generated/languages.ts';
import { findPseudoTransform, pseudoLanguages } from '../../../messages/pseudo-language.ts';
import { loadLanguage, onNewNamespace, setTextTransform } from '../../../messages/runtime.ts';
import { readLocalStorage, writeLocalStorage } from './local-storage.ts';

const storageKey = 'homeport.language';
/** Languages that a stored choice may have; pages offer only those with a catalog. */
const knownLanguages: readonly string[] = [...languages, ...pseudoLanguages];

/** The language of the pages in this browser. */
class Language {
  /** Selected language; empty follows the browser. */
  choice = $state(readStoredChoice());
  #current = $state.raw<LanguageChoice>({ language: sourceLanguage, locale: sourceLanguage });
  /** Incremented when translations were loaded, so that texts which were shown in English are formatted again. */
  #loads = $state(0);

  readonly #listeners = new Set<() => void>();

  constructor() {
    setLanguageReader(() => {
      void this.#loads;
      return this.#current;
    });
    onNewNamespace(() => queueMicrotask(() => void this.#loadNamespaces()));
    // Another tab of this browser has selected a language.
    addEventListener('storage', ({ key }) => {
      if (key === storageKey) void this.choose(readStoredChoice());
    });
  }

  /** Returns the language of the visible texts, such as `de`. */
  get current(): string {
    return this.#current.language;
  }

  /** Languages of the catalogs, each with its own name, such as `Deutsch`. */
  get available(): readonly { readonly language: string; readonly name: string }[] {
    return languages.map((language) => ({ language, name: formatLanguageName(language) }));
  }

  /** Applies the stored choice or the browser's language. Resolves when the texts of the first page are loaded. */
  async start(): Promise<void> {
    await this.#apply();
  }

  /** Resolves when the texts of all loaded code are in the current language. */
  async ready(): Promise<void> {
    await this.#loadNamespaces();
  }

  /** Selects a language, or the browser's with an empty text. Visible texts change without a reload of the page. */
  async choose(choice: string): Promise<void> {
    this.choice = choice;
    writeLocalStorage(storageKey, choice === '' ? null : choice);
    const before = this.#current.locale;
    await this.#apply();
    if (this.#current.locale === before) return;
    for (const listener of this.#listeners) listener();
  }

  /** Calls the listener after a change of the language, for texts that the host makes. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  async #apply(): Promise<void> {
    const { choice } = this;
    const wishes = this.choice === '' ? navigator.languages : [this.choice, ...navigator.languages];
    const requested = negotiateLanguage(wishes, knownLanguages);
    const isChosenLanguage = this.choice !== '' && navigator.languages[0]?.split('-')[0] === requested.language;
    const next = isChosenLanguage ? { ...requested, locale: navigator.languages[0] ?? requested.locale } : requested;
    await loadLanguage(next.language);
    // Another language was selected while this one was loading.
    if (this.choice !== choice) return;
    setTextTransform(findPseudoTransform(next.language));
    this.#current = next;
    document.documentElement.lang = next.language;
    document.documentElement.dir = getDirection(next.language);
  }

  async #loadNamespaces(): Promise<void> {
    const { language } = this.#current;
    if (language === sourceLanguage) return;
    await loadLanguage(language);
    this.#loads += 1;
  }
}

function readStoredChoice(): string {
  const choice = readLocalStorage(storageKey) ?? '';
  return knownLanguages.includes(choice) ? choice : '';
}

/** Scripts that are written from right to left. */
const rightToLeftScripts = ['Arab', 'Hebr', 'Thaa', 'Syrc', 'Nkoo', 'Adlm'];

function getDirection(language: string): 'ltr' | 'rtl' {
  const script = new Intl.Locale(language).maximize().script ?? '';
  return rightToLeftScripts.includes(script) ? 'rtl' : 'ltr';
}

export const language = new Language();
