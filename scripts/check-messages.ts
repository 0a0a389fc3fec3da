// Checks the catalogs of messages: syntax, the same parameters in each language, no missing, unused or untranslated
// message, and no word that docs/glossary.md replaces. Part of `npm run check`.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isStructurallySame } from '@formatjs/icu-messageformat-parser/manipulator.js';
import { parseMessage } from './message-syntax.ts';
import { findOddWording } from './message-wording.ts';
import { sourceLanguage } from '../messages/language.ts';
import {
  listLanguages,
  listNamespaces,
  messagesFolder,
  readCatalog,
  readSharedTexts,
  type MessageCatalog,
} from './message-catalogs.ts';

/** Namespaces whose English was not revised by section 5 of the style guide yet. */
const unrevised = ['gallery'];
/** Folders whose files may use messages. */
const sourceFolders = ['main', 'renderer/src', 'services', 'test'];

/** Returns the problems of one catalog in the source language. */
export function checkSource(namespace: string, catalog: MessageCatalog): readonly string[] {
  const problems: string[] = [];
  for (const [key, text] of Object.entries(catalog)) {
    const where = `${namespace}.${key}`;
    if (!/^[a-z][A-Za-z0-9]*$/.test(key)) problems.push(`${where}: keys are camelCase words`);
    if (text.trim() !== text || text === '') problems.push(`${where}: empty, or spaces at its ends`);
    const error = findSyntaxError(text);
    if (error !== undefined) problems.push(`${where}: ${error}`);
    if (unrevised.includes(namespace)) continue;
    for (const finding of findOddWording(text)) problems.push(`${where}: ${finding}`);
  }
  return problems;
}

/**
 * Returns the problems of one catalog in another language.
 *
 * @param shared Texts that are the same in this language, such as names and units.
 */
export function checkTranslation(
  language: string,
  namespace: string,
  source: MessageCatalog,
  catalog: MessageCatalog,
  shared: readonly string[],
): readonly string[] {
  const problems: string[] = [];
  for (const key of Object.keys(catalog)) {
    if (!(key in source)) problems.push(`${language} ${namespace}.${key}: is not in the English catalog`);
  }
  for (const [key, english] of Object.entries(source)) {
    const text = catalog[key] ?? '';
    const where = `${language} ${namespace}.${key}`;
    if (text === '') problems.push(`${where}: missing`);
    else if (text === english && /[a-z]{2}/.test(english) && !shared.includes(english))
      problems.push(`${where}: untranslated; add the text to messages/${language}/_same.json if it is the same`);
    else problems.push(...compareStructure(where, english, text));
  }
  return problems;
}

function compareStructure(where: string, english: string, text: string): readonly string[] {
  const error = findSyntaxError(text);
  if (error !== undefined) return [`${where}: ${error}`];
  const { success, error: difference } = isStructurallySame(parseMessage(english), parseMessage(text));
  return success ? [] : [`${where}: other parameters or tags than in English: ${difference?.message ?? ''}`];
}

function findSyntaxError(text: string): string | undefined {
  try {
    parseMessage(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Returns the keys of all messages that no source file uses. */
export function findUnused(
  catalogs: ReadonlyMap<string, MessageCatalog>,
  sources: readonly string[],
): readonly string[] {
  const used = new Set<string>();
  for (const source of sources) {
    for (const [, alias = '', namespace = ''] of source.matchAll(/import \* as (\w+) from '#messages\/([\w-]+)'/g)) {
      for (const [, key = ''] of source.matchAll(new RegExp(`\\b${alias}\\.(\\w+)`, 'g')))
        used.add(`${namespace}.${key}`);
    }
  }
  return [...catalogs].flatMap(([namespace, catalog]) =>
    Object.keys(catalog)
      .map((key) => `${namespace}.${key}`)
      .filter((name) => !used.has(name)),
  );
}

function readSources(): readonly string[] {
  return sourceFolders.flatMap((folder) =>
    readdirSync(join(messagesFolder, '..', folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(ts|svelte)$/.test(name))
      .map((name) => readFileSync(join(messagesFolder, '..', folder, name), 'utf8')),
  );
}

/** Returns all problems of the catalogs. */
function checkCatalogs(): readonly string[] {
  const catalogs = new Map(listNamespaces().map((name) => [name, readCatalog(sourceLanguage, name)]));
  const problems = [...catalogs].flatMap(([namespace, catalog]) => checkSource(namespace, catalog));
  const [, ...translations] = listLanguages();
  for (const language of translations) {
    const shared = readSharedTexts(language);
    for (const [namespace, source] of catalogs) {
      const catalog = readCatalog(language, namespace);
      problems.push(...checkTranslation(language, namespace, source, catalog, shared));
    }
  }
  problems.push(...findUnused(catalogs, readSources()).map((name) => `${name}: unused`));
  return problems;
}

if (import.meta.main) {
  const problems = checkCatalogs();
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) console.error(`${String(problems.length)} problems in the catalogs of messages`);
  process.exit(problems.length === 0 ? 0 : 1);
}
