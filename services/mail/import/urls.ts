import * as m from '#messages/mail-texts';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { isRecord } from '../../contracts/is-record.ts';

interface DestinationResult {
  readonly urls: readonly string[];
  /** Notes about skipped entries, without URLs. */
  readonly notes: readonly string[];
}

const toList = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined ? [] : [value];

/** Appends arguments of a destination to its query; tags are omitted. */
function withArguments(url: string, args: unknown): string {
  const pairs = isRecord(args) ? Object.entries(args) : [];
  const query = pairs
    .filter(([name, value]) => !['tag', 'tags', 'url'].includes(name) && !isRecord(value) && !Array.isArray(value))
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
    .join('&');
  return query === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${query}`;
}

/**
 * Returns the URLs of an entry: `url`, `{url: …, more}`, `{ADDRESS: {more}}` or `{ADDRESS: [{more}, …]}`, as in
 * Apprise.
 */
function getUrls(entry: unknown): readonly string[] {
  if (typeof entry === 'string') return entry.trim().split(/[\s,]+(?=[a-z][\w+.-]*:\/\/)/i);
  if (!isRecord(entry)) return [];
  if (typeof entry['url'] === 'string') return [withArguments(entry['url'], entry)];
  return Object.entries(entry).flatMap(([url, args]) =>
    Array.isArray(args) && args.length > 0 ? args.map((item) => withArguments(url, item)) : [withArguments(url, args)],
  );
}

/** Maximum depth of nested includes. */
const maxDepth = 5;

/**
 * Returns the destinations of the entry with this name and of the files that it includes, read from `folder`; without a folder,
 * includes are skipped.
 */
export async function readDestinations(
  name: string,
  config: Readonly<Record<string, unknown>>,
  folder: string | undefined,
  depth = 0,
): Promise<DestinationResult> {
  const urls = toList(config['urls'])
    .flatMap(getUrls)
    .filter((url) => url.trim() !== '');
  const notes: string[] = [];
  for (const include of toList(config['include'])) {
    if (typeof include !== 'string' || /^https?:\/\//i.test(include)) {
      notes.push(m.includeFromNetwork({ name }));
      continue;
    }
    if (folder === undefined) {
      notes.push(m.includeFromFiles({ name }));
      continue;
    }
    const path = resolve(folder, include.replace(/^file:\/\//, '').replace(/\?.*$/, ''));
    const text = depth < maxDepth ? await readFile(path, 'utf8').catch(() => undefined) : undefined;
    if (text === undefined) {
      notes.push(m.includeUnreadable({ name, path }));
      continue;
    }
    const included = await readDestinations(name, parseIncluded(text), folder, depth + 1);
    urls.push(...included.urls);
    notes.push(...included.notes);
  }
  return { urls, notes };
}

/** Parses a file of destinations: YAML with `urls`, or one per line with optional tags, `include` and comments. */
function parseIncluded(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = parse(text);
    if (isRecord(value) && ('urls' in value || 'include' in value)) return value;
  } catch {
    // Not YAML, so it is parsed as lines.
  }
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  return {
    urls: lines.flatMap((line) => /^(?:[\w\s,-]+=\s*)?([a-z][\w+.-]*:\/\/\S+)$/i.exec(line)?.[1] ?? []),
    include: lines.flatMap((line) => /^include\s+(\S.*)$/i.exec(line)?.[1] ?? []),
  };
}
