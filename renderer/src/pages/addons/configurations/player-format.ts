import * as m from '#messages/addons';
import { formatList } from '../../../../../messages/format.ts';
import { formatUserAgent } from '../../../parts/text/user-agent.ts';

/** Players by user agent. They precede browsers because some run in a browser engine. */
const players: readonly (readonly [RegExp, string])[] = [
  [/\bstremio/i, 'Stremio'],
  [/\bnuvio/i, 'Nuvio'],
  [/\bkodi\b/i, 'Kodi'],
  [/\bvlc\b/i, 'VLC'],
];
const systems: readonly (readonly [RegExp, () => string])[] = [
  [/\b(BRAVIA|AFT|SHIELD|Android ?TV|GoogleTV|TV\b)/i, m.aTelevision],
  [/\b(iPhone|iPad)\b/, m.anIPhoneOrIPad],
  [/\b(Android|okhttp|Dalvik)\b/, () => 'Android'],
  [/\bWindows\b/, () => 'Windows'],
  [/\bMac OS X\b/, m.aMac],
  [/\bLinux\b/, () => 'Linux'],
];

/** Formats the user agent of a player, such as `Stremio on a television`; unknown ones as a browser. */
export function formatPlayer(userAgent: string): string {
  const player = findLabel(players, userAgent);
  const system = findLabel(systems, userAgent);
  if (player === undefined) return userAgent === '' ? m.aPlayerWithoutAName() : formatUserAgent(userAgent);
  return system === undefined ? player : m.playerOnSystem({ player, system: system() });
}

function findLabel<Label>(table: readonly (readonly [RegExp, Label])[], userAgent: string): Label | undefined {
  return table.find(([pattern]) => pattern.test(userAgent))?.[1];
}

/** Formats the distinct players of several requests. */
export function formatPlayers(requests: readonly { readonly userAgent: string }[]): string {
  return formatList([...new Set(requests.map(({ userAgent }) => formatPlayer(userAgent)))], 'unit');
}
