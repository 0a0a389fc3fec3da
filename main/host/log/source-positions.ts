import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Decoded maps use several megabytes; errors often come in groups. */
const keepMapsMs = 10_000;
const builtPosition = /(file:\/\/[^\s)]+\.js):(\d+):(\d+)/;

interface OpenedMap {
  readonly folder: string;
  readonly map: SourceMap;
}

/** Maps by the URL of the built file; undefined for files without a map. */
const openedMaps = new Map<string, OpenedMap | undefined>();

/**
 * Replaces the position in a line of a stack trace by the one in the sources. Node would do so itself with
 * `--enable-source-maps`, but that reads all maps at startup. Lines of files without a source map stay.
 */
export function toSourcePosition(frame: string): string {
  const [position = '', url = '', line, column] = builtPosition.exec(frame) ?? [];
  const opened = url === '' ? undefined : openMap(url);
  if (opened === undefined) return frame;
  const entry = opened.map.findEntry(Number(line) - 1, Number(column) - 1);
  if (!('originalSource' in entry)) return frame;
  const source = resolve(opened.folder, entry.originalSource);
  const path = relative(resolve(opened.folder, '..', '..'), source).replaceAll('\\', '/');
  return frame.replace(position, `${path}:${entry.originalLine + 1}:${entry.originalColumn + 1}`);
}

function openMap(url: string): OpenedMap | undefined {
  if (openedMaps.has(url)) return openedMaps.get(url);
  if (openedMaps.size === 0) setTimeout(() => openedMaps.clear(), keepMapsMs).unref();
  const opened = readMap(url);
  openedMaps.set(url, opened);
  return opened;
}

function readMap(url: string): OpenedMap | undefined {
  try {
    const file = fileURLToPath(url);
    const payload = JSON.parse(readFileSync(`${file}.map`, 'utf8')) as SourceMapPayload;
    return { folder: dirname(file), map: new SourceMap(payload) };
  } catch {
    // Sources that were not built have no map.
    return undefined;
  }
}
