import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parse } from 'yaml';

interface Found {
  readonly urls: readonly string[];
  /** What could not be taken, as sentences without addresses. */
  readonly left: readonly string[];
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined ? [] : [value];

/** Arguments that stand beside an address belong to its query; tags mean nothing to a recipient. */
function withArguments(url: string, given: unknown): string {
  const pairs = isRecord(given) ? Object.entries(given) : [];
  const query = pairs
    .filter(([name, value]) => !['tag', 'tags', 'url'].includes(name) && !isRecord(value) && !Array.isArray(value))
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
    .join('&');
  return query === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${query}`;
}

/** `url`, `{url: …, more}`, `{ADDRESS: {more}}` or `{ADDRESS: [{more}, …]}`, as the peer writes destinations. */
function urlsIn(entry: unknown): readonly string[] {
  if (typeof entry === 'string') return entry.trim().split(/[\s,]+(?=[a-z][\w+.-]*:\/\/)/i);
  if (!isRecord(entry)) return [];
  if (typeof entry['url'] === 'string') return [withArguments(entry['url'], entry)];
  return Object.entries(entry).flatMap(([url, given]) =>
    Array.isArray(given) && given.length > 0
      ? given.map((each) => withArguments(url, each))
      : [withArguments(url, given)],
  );
}

/** Files that include each other are followed this deep. */
const deepest = 5;

/** The destinations of one entry: those it lists and those of the files it includes, read from `folder`; without one none is. */
export async function urlsOf(
  config: Readonly<Record<string, unknown>>,
  folder: string | undefined,
  depth = 0,
): Promise<Found> {
  const urls = listOf(config['urls'])
    .flatMap(urlsIn)
    .filter((url) => url.trim() !== '');
  const left: string[] = [];
  for (const include of listOf(config['include'])) {
    if (typeof include !== 'string' || /^https?:\/\//i.test(include)) {
      left.push('an include from the network stays behind; add its destinations by hand.');
      continue;
    }
    if (folder === undefined) {
      left.push('the files it includes stay behind; add their destinations by hand.');
      continue;
    }
    const path = resolve(folder, include.replace(/^file:\/\//, '').replace(/\?.*$/, ''));
    const text = depth < deepest ? await readFile(path, 'utf8').catch(() => undefined) : undefined;
    if (text === undefined) {
      left.push(`the included file ${path} cannot be read.`);
      continue;
    }
    const inner = await urlsOf(readIncluded(text), folder, depth + 1);
    urls.push(...inner.urls);
    left.push(...inner.left);
  }
  return { urls, left };
}

/** A file of destinations: YAML with `urls`, else one a line, tags before it, `include` and comments between. */
function readIncluded(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = parse(text);
    if (isRecord(value) && ('urls' in value || 'include' in value)) return value;
  } catch {
    // Not YAML, so it is lines.
  }
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  return {
    urls: lines.flatMap((line) => /^(?:[\w\s,-]+=\s*)?([a-z][\w+.-]*:\/\/\S+)$/i.exec(line)?.[1] ?? []),
    include: lines.flatMap((line) => /^include\s+(\S.*)$/i.exec(line)?.[1] ?? []),
  };
}
