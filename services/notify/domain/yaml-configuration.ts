import * as m from '#messages/notify-problems';
import { isMap, isScalar, isSeq, parseDocument, LineCounter, type Document, type Node } from 'yaml';
import {
  applyGroups,
  getIncludeReason,
  configurationLimits,
  parseNames,
  type Configuration,
  type ConfigurationEntry,
  type Group,
} from './configuration.ts';
import type { Tag } from './tags.ts';

type YamlPath = readonly (string | number)[];

const urlStart = /^[a-z0-9][a-z0-9.+_-]*:\/\//i;

interface ParserState {
  readonly lines: LineCounter;
  readonly base: readonly Tag[];
  readonly entries: ConfigurationEntry[];
  readonly skipped: { line: number; reason: string }[];
}

/** Parses a document with all scalars as text: `tag: yes` is the tag yes. */
export function parseYaml(text: string): { readonly document: Document.Parsed; readonly lines: LineCounter } {
  const lines = new LineCounter();
  return { document: parseDocument(text, { schema: 'failsafe', lineCounter: lines, logLevel: 'silent' }), lines };
}

/** Returns the texts of a scalar, of a list, or the keys of a map, whose values are comments (`- tag: comment`). */
function extractTexts(node: unknown): readonly string[] {
  if (isScalar(node)) return typeof node.value === 'string' && node.value !== '' ? [node.value] : [];
  if (isMap(node)) return node.items.flatMap(({ key }) => extractTexts(key));
  return isSeq(node) ? node.items.flatMap((item) => (isSeq(item) ? [] : extractTexts(item))) : [];
}

function parseTags(node: unknown, limit: number = configurationLimits.names): readonly Tag[] | undefined {
  const text = extractTexts(node).join(',').trim();
  return text === '' ? [] : parseNames(text, limit);
}

function splitNames(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((name) => name !== '');
}

function getLine(node: unknown, lines: LineCounter): number {
  const start = (node as Partial<Node> | null)?.range?.[0];
  return start === undefined ? 1 : lines.linePos(start).line;
}

/** Adds the arguments that are keys of a map to the URL; they override those of the URL. */
function withArguments(url: string, node: unknown): string {
  if (!isMap(node)) return url;
  const pairs = node.items.flatMap(({ key, value }): string[] => {
    const name = isScalar(key) ? String(key.value) : '';
    if (['', 'tag', 'tags', 'url'].includes(name.toLowerCase()) || !isScalar(value)) return [];
    return [`${encodeURIComponent(name)}=${encodeURIComponent(extractTexts(value)[0] ?? '')}`];
  });
  return pairs.length === 0 ? url : `${url}${url.includes('?') ? '&' : '?'}${pairs.join('&')}`;
}

function mergeTags(...lists: readonly (readonly Tag[])[]): readonly Tag[] {
  return [...new Map(lists.flat().map((tag) => [tag.name, tag])).values()];
}

/** Adds one destination with its own arguments and tags. */
function addEntry(reading: ParserState, url: string, own: unknown, positionNode: unknown, path: YamlPath): void {
  const line = getLine(positionNode, reading.lines);
  const written = isMap(own) ? [own.get('tag', true), own.get('tags', true)] : [];
  const tags = written.map((node) => parseTags(node));
  if (!urlStart.test(url)) reading.skipped.push({ line, reason: m.lineNotADestination() });
  else if (!tags.every((each) => each !== undefined)) reading.skipped.push({ line, reason: m.lineTagsInvalid() });
  else {
    const entry = {
      url: withArguments(url, own),
      line,
      path,
      ownTags: written.flatMap(extractTexts).flatMap(splitNames),
    };
    reading.entries.push({ ...entry, tags: mergeTags(reading.base, ...tags) });
  }
}

/** Adds an item of `urls`: an address, a map with `url`, or an address with a map or a list of maps. */
function addItem(reading: ParserState, item: unknown, path: YamlPath): void {
  if (isScalar(item)) {
    addEntry(reading, String(item.value).trim(), undefined, item, path);
    return;
  }
  if (!isMap(item)) {
    reading.skipped.push({ line: getLine(item, reading.lines), reason: m.lineNotADestination() });
    return;
  }
  const url = item.get('url');
  if (typeof url === 'string') {
    addEntry(reading, url.trim(), item, item, path);
    return;
  }
  for (const { key, value } of item.items) {
    const address = isScalar(key) ? String(key.value).trim() : '';
    const itemPath = [...path, isScalar(key) ? String(key.value) : ''];
    if (isSeq(value)) value.items.forEach((own, index) => addEntry(reading, address, own, own, [...itemPath, index]));
    else addEntry(reading, address, value, key, itemPath);
  }
}

/** Parses `groups`: a map from names to members, or a list of such maps. */
function parseGroups(node: unknown, lines: LineCounter, skipped: ParserState['skipped']): readonly Group[] {
  const maps = isSeq(node) ? node.items : [node];
  const groups = maps.flatMap((map) =>
    !isMap(map)
      ? []
      : map.items.flatMap(({ key, value }): readonly Group[] => {
          const names = parseTags(key);
          const members = parseTags(value, configurationLimits.members);
          if (names !== undefined && members !== undefined)
            return [{ names, members: members.map(({ name }) => name) }];
          skipped.push({ line: getLine(key, lines), reason: m.lineTagsInvalid() });
          return [];
        }),
  );
  return groups.slice(0, configurationLimits.groups);
}

/**
 * Maximum number of open brackets. Parsing deeper text takes increasingly long, and no valid configuration needs it.
 */
const maxDepth = 100;

function isTooDeep(text: string): boolean {
  let open = 0;
  for (const { 0: bracket } of text.matchAll(/[[\]{}]/g)) {
    open = bracket === '[' || bracket === '{' ? open + 1 : Math.max(0, open - 1);
    if (open > maxDepth) return true;
  }
  return false;
}

/**
 * Parses the YAML format of Apprise: `urls` with tags and arguments, `tag` for all of them, `groups`. `include` is
 * not followed; `asset` only affects the client of Apprise and is ignored.
 */
export function parseYamlConfiguration(text: string): Configuration {
  if (isTooDeep(text)) return { entries: [], skipped: [{ line: 1, reason: m.yamlTooDeep() }] };
  const { document, lines } = parseYaml(text);
  const [problem] = document.errors;
  if (problem !== undefined) {
    return {
      entries: [],
      skipped: [{ line: lines.linePos(problem.pos[0]).line, reason: m.yamlInvalid() }],
    };
  }
  const root = document.contents;
  if (!isMap(root)) return { entries: [], skipped: [{ line: 1, reason: m.yamlNotAConfiguration() }] };
  const skipped: { line: number; reason: string }[] = [];
  const base = mergeTags(parseTags(root.get('tag', true)) ?? [], parseTags(root.get('tags', true)) ?? []);
  const reading: ParserState = { lines, base, entries: [], skipped };
  const urls = root.get('urls', true);
  if (isSeq(urls)) urls.items.forEach((item, index) => addItem(reading, item, ['urls', index]));
  else if (urls !== undefined) addItem(reading, urls, ['urls']);
  const include = root.get('include', true);
  if (include !== undefined) skipped.push({ line: getLine(include, lines), reason: getIncludeReason() });
  const groups = parseGroups(root.get('groups', true), lines, skipped);
  return { entries: applyGroups(reading.entries, groups), skipped: skipped.sort((a, b) => a.line - b.line) };
}
