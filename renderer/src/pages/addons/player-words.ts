import { formatUserAgent } from '../network/browser-steps.ts';

/** Players, by what they call themselves; what runs inside of a browser's engine says so too. */
const players: readonly (readonly [RegExp, string])[] = [
  [/\bstremio/i, 'Stremio'],
  [/\bnuvio/i, 'Nuvio'],
  [/\bkodi\b/i, 'Kodi'],
  [/\bvlc\b/i, 'VLC'],
];
const systems: readonly (readonly [RegExp, string])[] = [
  [/\b(BRAVIA|AFT|SHIELD|Android ?TV|GoogleTV|TV\b)/i, 'a television'],
  [/\b(iPhone|iPad)\b/, 'an iPhone or iPad'],
  [/\b(Android|okhttp|Dalvik)\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'a Mac'],
  [/\bLinux\b/, 'Linux'],
];

/** `Stremio on a television`, of what a player calls itself; its own words where they are of none that is known. */
export function playerWords(userAgent: string): string {
  const of = (known: typeof players): string | undefined => known.find(([sign]) => sign.test(userAgent))?.[1];
  const [player, system] = [of(players), of(systems)];
  if (player === undefined) return userAgent === '' ? 'A player without a name' : formatUserAgent(userAgent);
  return system === undefined ? player : `${player} on ${system}`;
}

/** The same of several, each named once. */
export function playersWords(asked: readonly { readonly userAgent: string }[]): string {
  return [...new Set(asked.map(({ userAgent }) => playerWords(userAgent)))].join(', ');
}
