const programs: readonly (readonly [RegExp, string])[] = [
  [/Edg(?:e|A|iOS)?\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\/|FxiOS\//, 'Firefox'],
  [/Chrome\/|CriOS\//, 'Chrome'],
  [/Version\/[\d.]+.* Safari\//, 'Safari'],
];
const systems: readonly (readonly [RegExp, string])[] = [
  [/Android/, 'Android'],
  [/iPhone|iPad|iPod/, 'iOS'],
  [/Windows/, 'Windows'],
  [/Macintosh|Mac OS X/, 'macOS'],
  [/Linux|X11/, 'Linux'],
];

/** What somebody signed in with, in few words: `Firefox on Linux`; programs keep their own name. */
export function deviceWords(userAgent: string): string {
  if (userAgent === '') return 'A program that does not say what it is';
  const find = (list: typeof programs): string | undefined => list.find(([shape]) => shape.test(userAgent))?.[1];
  const [program, system] = [find(programs), find(systems)];
  if (program === undefined) return userAgent.split('/', 1)[0] ?? userAgent;
  return system === undefined ? program : `${program} on ${system}`;
}
