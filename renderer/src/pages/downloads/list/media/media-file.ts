import * as m from '#messages/downloads';
import { toasts } from '../../../../state/toasts.svelte.ts';
import { links } from '../../../../state/links.svelte.ts';

const playerKinds: Readonly<Record<string, 'video' | 'audio'>> = {
  mp4: 'video',
  m4v: 'video',
  webm: 'video',
  mkv: 'video',
  m4a: 'audio',
  mp3: 'audio',
  ogg: 'audio',
  opus: 'audio',
  flac: 'audio',
  wav: 'audio',
};

/** Finds the player for a finished file; `null` when the browser has none. */
export function findPlayerKind(filename: string | null): 'video' | 'audio' | null {
  return playerKinds[filename?.split('.').at(-1)?.toLowerCase() ?? ''] ?? null;
}

const buildFilePath = (uid: string): string => `/api/downloads/${encodeURIComponent(uid)}/file`;

/**
 * Finds the address of a finished file. It is undefined until the link token is loaded.
 *
 * @param save Asks the browser to save the file instead of showing it.
 */
export function findFileUrl(uid: string, save = false): string | undefined {
  return links.findUrl(buildFilePath(uid), save ? { save: 'yes' } : {});
}

/** Lets the browser save the finished file. @throws Problem */
export async function saveFile(uid: string): Promise<void> {
  location.assign(await links.loadUrl(buildFilePath(uid), { save: 'yes' }));
}

/** Maximum number of files in an archive, as on the host. */
const maxArchiveFiles = 300;

/** Lets the browser save finished files: one file as it is, several as one ZIP archive. @throws Problem */
export async function saveFiles(uids: readonly string[]): Promise<void> {
  const [first] = uids;
  if (uids.length === 1 && first !== undefined) return await saveFile(first);
  if (uids.length > maxArchiveFiles) toasts.show(m.archiveLimited({ count: maxArchiveFiles }));
  location.assign(await links.loadUrl('/api/downloads/archive', { uids: uids.slice(0, maxArchiveFiles).join(',') }));
}
