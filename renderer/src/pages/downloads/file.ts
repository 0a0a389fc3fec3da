const players: Readonly<Record<string, 'video' | 'audio'>> = {
  ...{ mp4: 'video', m4v: 'video', webm: 'video', mkv: 'video' },
  ...{ m4a: 'audio', mp3: 'audio', ogg: 'audio', opus: 'audio', flac: 'audio', wav: 'audio' },
};

/** How the page plays a finished file; null: not at all. */
export function playAs(filename: string | null): 'video' | 'audio' | null {
  return players[filename?.split('.').at(-1)?.toLowerCase() ?? ''] ?? null;
}

/** The finished file on our own origin; `save`: to be saved in place of shown. */
export function fileAddress(uid: string, save = false): string {
  return `/api/downloads/${encodeURIComponent(uid)}/file${save ? '?save=yes' : ''}`;
}
