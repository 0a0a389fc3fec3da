import { links } from '../../state/links.svelte.ts';

const players: Readonly<Record<string, 'video' | 'audio'>> = {
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

/** How the page plays a finished file; null: not at all. */
export function playAs(filename: string | null): 'video' | 'audio' | null {
  return players[filename?.split('.').at(-1)?.toLowerCase() ?? ''] ?? null;
}

const pathOf = (uid: string): string => `/api/downloads/${encodeURIComponent(uid)}/file`;

/** Where the browser reads the finished file; `save`: to be saved in place of shown. Undefined until that is known. */
export function fileAddress(uid: string, save = false): string | undefined {
  return links.findUrl(pathOf(uid), save ? { save: 'yes' } : {});
}

/** Lets the browser save the finished file. @throws Problem */
export async function saveFile(uid: string): Promise<void> {
  location.assign(await links.loadUrl(pathOf(uid), { save: 'yes' }));
}
