import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { fileURLToPath } from 'node:url';
import { parseJson } from '../../../services/contracts/parse-json.ts';

/** Decoded maps use several megabytes, and decoding takes a tenth of a second; errors often come in groups. */
const keepMapsMs = 10_000;
const builtPosition = /(file:\/\/[^\s)]+\.js):(\d+):(\d+)/;

/** Maps by the URL of the built file; undefined for files without a map. */
const openedMaps = new Map<string, SourceMap | undefined>();
/** Runs again after the last use of a map. */
const forgetting = setTimeout(() => openedMaps.clear(), keepMapsMs).unref();

/**
 * Replaces the position in a line of a stack trace by the one in the sources. Node would do so itself with
 * `--enable-source-maps`, but that reads all maps at startup. Lines of files without a source map stay.
 */
export function toSourcePosition(frame: string): string {
  const [position = '', url = '', line, column] = builtPosition.exec(frame) ?? [];
  const map = url === '' ? undefined : openMap(url);
  const entry = map?.findEntry(Number(line) - 1, Number(column) - 1);
  if (entry === undefined || !('originalSource' in entry)) return frame;
  // Sources are relative to the built file, some folders below the folder of the sources.
  const path = entry.originalSource.replace(/^(?:\.\.\/)+/, '');
  return frame.replace(position, `${path}:${entry.originalLine + 1}:${entry.originalColumn + 1}`);
}

function openMap(url: string): SourceMap | undefined {
  forgetting.refresh();
  if (openedMaps.has(url)) return openedMaps.get(url);
  const opened = readMap(url);
  openedMaps.set(url, opened);
  return opened;
}

function readMap(url: string): SourceMap | undefined {
  try {
    const payload = parseJson(readFileSync(`${fileURLToPath(url)}.map`, 'utf8')) as SourceMapPayload;
    return new SourceMap(payload);
  } catch {
    // Sources that were not built have no map.
    return undefined;
  }
}
