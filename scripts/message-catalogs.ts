// Reads the catalogs of messages: one JSON file for each language and namespace, with texts by key.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sourceLanguage } from '../messages/language.ts';

/** Texts of one namespace in one language, as ICU messages by key. */
export type MessageCatalog = Readonly<Record<string, string>>;

/** Folder with a subfolder for each language. */
export const messagesFolder = fileURLToPath(new URL('../messages', import.meta.url));

/** Returns the languages of the catalogs. English is the first. */
export function listLanguages(): readonly string[] {
  const folders = readdirSync(messagesFolder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const others = folders.map(({ name }) => name).filter((name) => ![sourceLanguage, 'generated'].includes(name));
  return [sourceLanguage, ...others.sort()];
}

/** Returns the names of all namespaces. */
export function listNamespaces(): readonly string[] {
  return readdirSync(join(messagesFolder, sourceLanguage))
    .filter((name) => name.endsWith('.json'))
    .map((name) => basename(name, '.json'))
    .sort();
}

/** Reads one catalog. A namespace that a language lacks is empty. */
export function readCatalog(language: string, namespace: string): MessageCatalog {
  return readJson<MessageCatalog>(join(messagesFolder, language, `${namespace}.json`)) ?? {};
}

/** Reads the texts that are the same in a language and in English, such as names of products and units. */
export function readSharedTexts(language: string): readonly string[] {
  return readJson<readonly string[]>(join(messagesFolder, language, '_same.json')) ?? [];
}

function readJson<T>(file: string): T | undefined {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as T) : undefined;
}
