import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { needs } from '../requirements.ts';

needs('POSIX shell');

const program = fileURLToPath(new URL('program.ts', import.meta.url));
let launcher: string | undefined;

/**
 * Returns the environment in which the downloads service runs yt-dlp's recorded answers instead of yt-dlp. It starts
 * twenty times faster, needs no Python, and is for tests whose subject is the service: the queue, files, notifications
 * and pages. It has a single format of each video and converts nothing.
 */
export function useRecordedExtractor(): { readonly YTDLP_PATH: string } {
  if (launcher === undefined) {
    launcher = join(mkdtempSync(join(tmpdir(), 'recorded-extractor-')), 'yt-dlp');
    writeFileSync(launcher, `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`, { mode: 0o755 });
  }
  return { YTDLP_PATH: launcher };
}
