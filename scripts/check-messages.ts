// Checks the catalogs of messages: syntax, the same parameters and cases in each language, typography, no missing, unused
// or untranslated message, and no word that docs/glossary.md replaces. Part of `npm run check`.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeMessage, findNamedFormats, listLiterals, listSelectCases } from './message-syntax.ts';
import { findTypographicErrors } from './message-typography.ts';
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

/** Folders whose files may use messages. */
const sourceFolders = ['main', 'renderer/src', 'services', 'test'];

/** Returns the problems of one catalog in the source language. */
export function checkSource(namespace: string, catalog: MessageCatalog): readonly string[] {
  const problems: string[] = [];
  for (const [key, text] of Object.entries(catalog)) {
    const where = `${namespace}.${key}`;
    if (!/^[a-z][A-Za-z0-9]*$/.test(key)) problems.push(`${where}: keys are camelCase words`);
    if (text.trim() !== text || text === '') problems.push(`${where}: empty, or spaces at its ends`);
    for (const error of findSyntaxErrors(text)) problems.push(`${where}: ${error}`);
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
    else problems.push(...compareStructure(where, english, text), ...findTypography(where, language, text));
  }
  return problems;
}

function compareStructure(where: string, english: string, text: string): readonly string[] {
  const errors = findSyntaxErrors(text);
  if (errors.length > 0) return errors.map((error) => `${where}: ${error}`);
  // Errors of the English message are reported once, for English.
  if (findSyntaxErrors(english).length > 0) return [];
  const [expected, actual] = [describeParameters(english), describeParameters(text)];
  if (expected !== actual)
    return [`${where}: other parameters or tags than in English: "${actual}" instead of "${expected}"`];
  const [expectedCases, actualCases] = [listSelectCases(english), listSelectCases(text)];
  const otherCases = [...new Set([...expectedCases, ...actualCases])].filter(
    (name) => expectedCases.has(name) !== actualCases.has(name),
  );
  return otherCases.length === 0 ? [] : [`${where}: other cases than in English: ${otherCases.join(', ')}`];
}

function findTypography(where: string, language: string, text: string): readonly string[] {
  if (findSyntaxErrors(text).length > 0) return [];
  return findTypographicErrors(language, listLiterals(text)).map((error) => `${where}: ${error}`);
}

/**
 * Returns the parameters and tags of a message as text. A number and a plural are the same, because languages need
 * the plural in different places.
 */
function describeParameters(text: string): string {
  const { values, tags } = describeMessage(text);
  const parameters = Object.entries(values).map(([name, type]) => `{${name}: ${type}}`);
  return [...parameters.sort(), ...tags.map((tag) => `<${tag}>`).sort()].join(' ');
}

/** Returns what is wrong with one message, whatever its language is. */
function findSyntaxErrors(text: string): readonly string[] {
  try {
    const { values, tags } = describeMessage(text);
    return [
      ...tags.filter((tag) => tag in values).map((tag) => `the tag <${tag}> and a parameter have the same name`),
      ...findNamedFormats(text).map((style) => `the format "${style}" is not defined; write a skeleton: "::${style}"`),
    ];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
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
