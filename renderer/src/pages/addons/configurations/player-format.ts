import { formatUserAgent } from '../../../parts/text/user-agent.ts';

/** Players by user agent. They precede browsers because some run in a browser engine. */
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

/** Formats the user agent of a player, such as `Stremio on a television`; unknown ones as a browser. */
export function formatPlayer(userAgent: string): string {
  const findLabel = (table: typeof players): string | undefined =>
    table.find(([pattern]) => pattern.test(userAgent))?.[1];
  const [player, system] = [findLabel(players), findLabel(systems)];
  if (player === undefined) return userAgent === '' ? 'A player without a name' : formatUserAgent(userAgent);
  return system === undefined ? player : `${player} on ${system}`;
}

/** Formats the distinct players of several requests. */
export function formatPlayers(requests: readonly { readonly userAgent: string }[]): string {
  return [...new Set(requests.map(({ userAgent }) => formatPlayer(userAgent)))].join(', ');
}
