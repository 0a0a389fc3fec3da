import * as m from '#messages/parts';
import type { IconName } from '../../icons/icons.ts';

/** Ordered: the user agents of later browsers contain the names of earlier ones, so the first match is used. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const systems: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'Mac'],
  [/\b(Linux|CrOS)\b/, 'Linux'],
];

/** Returns the icon of the device of a user agent. */
export function findDeviceIcon(userAgent: string): IconName {
  if (/\b(iPhone|iPad|Android|Mobile)\b/.test(userAgent)) return 'connect';
  return /\bMozilla\//.test(userAgent) ? 'computer' : 'log';
}

/** Formats a user agent: `Firefox on Android`; unknown ones stay unchanged. */
export function formatUserAgent(userAgent: string): string {
  const findName = (patterns: typeof browsers): string | undefined =>
    patterns.find(([pattern]) => pattern.test(userAgent))?.[1];
  const [browser, system] = [findName(browsers), findName(systems)];
  if (browser === undefined) return userAgent === '' ? m.unknownBrowser() : userAgent;
  return system === undefined ? browser : m.browserOnSystem({ browser, system });
}
