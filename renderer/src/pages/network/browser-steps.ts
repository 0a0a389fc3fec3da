/** Later ones contain the words of earlier ones, so the first that fits counts. */
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

/** `Firefox on Android`, of what a browser calls itself; its own words where they are of none that is known. */
export function browserWords(userAgent: string): string {
  const of = (known: typeof browsers): string | undefined => known.find(([sign]) => sign.test(userAgent))?.[1];
  const [browser, system] = [of(browsers), of(systems)];
  if (browser === undefined) return userAgent === '' ? 'Unknown browser' : userAgent;
  return system === undefined ? browser : `${browser} on ${system}`;
}
