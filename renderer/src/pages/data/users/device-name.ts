import * as m from '#messages/data-users';

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

/** Formats a user agent as browser and system: `Firefox on Linux`; other programs keep their name. */
export function formatDevice(userAgent: string): string {
  if (userAgent === '') return m.aProgramThatDoesNot();
  const findName = (list: typeof programs): string | undefined =>
    list.find(([pattern]) => pattern.test(userAgent))?.[1];
  const [program, system] = [findName(programs), findName(systems)];
  if (program === undefined) return userAgent.split('/', 1)[0] ?? userAgent;
  return system === undefined ? program : m.programOnSystem({ program, system });
}
