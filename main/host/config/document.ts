import * as m from '#messages/config-problems';
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  stringify,
  YAMLMap,
} from 'yaml';
import type { SettingsProblem } from '../../../services/contracts/control/settings.ts';
import { readText, type Text } from '../../../services/contracts/text.ts';
import { currentVersion, migrate } from './migrations.ts';
import { isRecord } from '../../../services/contracts/is-record.ts';

/** Content of a homeport.yaml as plain values, before validation. */
export interface Content {
  readonly host: Readonly<Record<string, unknown>>;
  readonly services: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** In exports: accounts and data of services. */
  readonly portable: Readonly<Record<string, unknown>>;
}

/** Problem of a document, which is read again for each reader. */
export interface DocumentProblem extends Omit<SettingsProblem, 'message'> {
  readonly message: Text;
}

/** Returns a problem of a document in the current language. */
export function readDocumentProblem({ message, ...location }: DocumentProblem): SettingsProblem {
  return { ...location, message: readText(message) };
}

/** Parsed homeport.yaml in the current version. */
export interface SettingsDocument {
  /** Edit a clone, never this. */
  readonly yaml: Document;
  readonly content: Content;
  /** Set when the text could not be parsed; `yaml` is then an empty document. */
  readonly damaged: boolean;
  /** Original version of a migrated text. */
  readonly migratedFrom: number | undefined;
  readonly problems: readonly DocumentProblem[];
  readonly warnings: readonly DocumentProblem[];
  /** Returns the line (from 1) of a path, or of its nearest existing ancestor. */
  readonly line: (path: readonly (string | number)[]) => number | undefined;
}

const topLevel = new Set(['version', 'host', 'services', 'portable', 'provisioned']);

/** Maximum length of a settings file, 16 Mi characters. */
const maxLength = 16 * 1024 * 1024;

/** Parses a text and migrates older versions. Never throws for invalid text. */
export function readDocument(text: string): SettingsDocument {
  if (text.length > maxLength) return damagedDocument({ path: '', message: m.fileTooLarge });
  const lines = new LineCounter();
  const yaml: Document = parseDocument(text, { prettyErrors: false, lineCounter: lines });
  const [error] = yaml.errors;
  if (error !== undefined) {
    return damagedDocument({
      path: '',
      message: () => syntaxReason(error.code),
      line: lines.linePos(error.pos[0]).line,
    });
  }
  const { value, reason } = plainValue(yaml);
  if (reason !== undefined) return damagedDocument({ path: '', message: reason });
  if (value === null || value === undefined) {
    // The text has only comments, which are preserved.
    const begun = yaml.clone();
    begun.contents = begun.createNode({ version: currentVersion });
    return readDocument(writeDocument(begun));
  }
  if (!isRecord(value)) return damagedDocument({ path: '', message: m.notSettings, line: 1 });

  const line = (path: readonly (string | number)[]): number | undefined => getLine(yaml, lines, path);
  const version = Object.hasOwn(value, 'version') ? value['version'] : 0;
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 0) {
    return damagedDocument(problem('version', m.expectedInteger, line(['version'])));
  }
  if (version > currentVersion) {
    const message = (): string => m.fileTooNew({ version, currentVersion });
    return damagedDocument(problem('version', message, line(['version'])));
  }
  if (version < currentVersion) {
    // Parsed again, so that line numbers refer to the file as it will be written.
    return { ...readDocument(writeDocument(migrate(yaml, version))), migratedFrom: version };
  }
  return { yaml, ...toContent(value, line), damaged: false, migratedFrom: undefined, line };
}

/** Returns an empty document. */
export function emptyDocument(): SettingsDocument {
  return readDocument(`version: ${currentVersion}\n`);
}

/** Returns the text to save. */
export function writeDocument(yaml: Document): string {
  return yaml.toString({ lineWidth: 0 });
}

/** Sets one field (undefined removes it), preserving comments and everything else. */
export function setField(yaml: Document, section: readonly string[], name: string, value: unknown): void {
  let map = rootMap(yaml);
  for (const key of section) {
    const node = map.get(key, true);
    if (isMap(node)) {
      map = node;
      continue;
    }
    // Missing, a shared node (*alias) or a value of the wrong type: replaced by a separate group with the readable
    // part.
    if (value === undefined && !isAlias(node)) return;
    const shared = isAlias(node) ? node.resolve(yaml) : undefined;
    const newNode = isMap(shared) ? shared.clone() : new YAMLMap(yaml.schema);
    if (isMap(newNode)) {
      delete newNode.anchor;
      // A group written as {} or missing is continued in block style.
      map.set(key, newNode);
      map = newNode;
    }
  }
  if (value === undefined) map.delete(name);
  else map.set(name, typeof value === 'object' && value !== null ? yaml.createNode(value) : value);
  if (map.flow && map.items.length === 1) map.flow = false;
}

function rootMap(yaml: Document): YAMLMap {
  if (isMap(yaml.contents)) return yaml.contents;
  const root = new YAMLMap(yaml.schema);
  yaml.contents = root;
  return root;
}

/** Formats values as the text of a new document. */
export function formatDocument(value: Readonly<Record<string, unknown>>): string {
  return stringify(value, { lineWidth: 0 });
}

function damagedDocument(damage: DocumentProblem): SettingsDocument {
  return { ...emptyDocument(), damaged: true, problems: [damage] };
}

function problem(path: string, message: Text, line: number | undefined): DocumentProblem {
  return line === undefined ? { path, message } : { path, message, line };
}

function plainValue(yaml: Document): { readonly value?: unknown; readonly reason?: Text } {
  try {
    return { value: yaml.toJS({ maxAliasCount: 100 }) };
  } catch (error) {
    if (error instanceof ReferenceError) return { reason: m.aliasInvalid };
    throw error;
  }
}

function toContent(
  root: Record<string, unknown>,
  line: SettingsDocument['line'],
): Pick<SettingsDocument, 'content' | 'problems' | 'warnings'> {
  const problems: DocumentProblem[] = [];
  const group = (value: unknown, path: readonly string[]): Record<string, unknown> => {
    if (isRecord(value)) return value;
    if (value !== null && value !== undefined) {
      problems.push(problem(path.join('.'), m.expectedGroup, line(path)));
    }
    return {};
  };
  const services = group(root['services'], ['services']);
  const content: Content = {
    host: group(root['host'], ['host']),
    services: Object.fromEntries(Object.entries(services).map(([id, value]) => [id, group(value, ['services', id])])),
    portable: group(root['portable'], ['portable']),
  };
  const warnings = Object.keys(root)
    .filter((name) => !topLevel.has(name))
    .map((name) => problem(name, m.settingUnknownIgnored, line([name])));
  return { content, problems, warnings };
}

function getLine(yaml: Document, lines: LineCounter, path: readonly (string | number)[]): number | undefined {
  let node: unknown = yaml.contents;
  let document: number | undefined;
  for (const key of path) {
    if (isAlias(node)) node = node.resolve(yaml);
    let start: number | undefined;
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key));
      start = isScalar(pair?.key) ? pair.key.range?.[0] : undefined;
      node = pair?.value;
    } else if (isSeq(node)) {
      node = node.items[Number(key)];
      start = isScalar(node) || isCollection(node) ? node.range?.[0] : undefined;
    }
    if (start === undefined) break;
    document = lines.linePos(start).line;
  }
  return document;
}

/** The parser's messages may repeat the text, which may be a secret; its codes do not. */
function syntaxReason(code: string): string {
  const reasons: Readonly<Record<string, () => string>> = {
    DUPLICATE_KEY: m.duplicateName,
    TAB_AS_INDENT: m.tabIndent,
    BAD_INDENT: m.badIndent,
    MISSING_CHAR: m.missingCharacter,
    BLOCK_AS_IMPLICIT_KEY: m.twoNames,
    MULTIPLE_DOCS: m.severalDocuments,
  };
  return reasons[code]?.() ?? m.invalidYaml({ code });
}
