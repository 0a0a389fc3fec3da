import { expect, it } from 'vitest';
import { getCommandLanguage } from '../../main/host/cli/language.ts';
import { languages } from '../../messages/generated/languages.ts';

const other = languages.find((language) => language !== 'en') ?? 'en';

it.each([
  ['no locale', {}, { language: 'en', locale: 'en' }],
  ['the C locale', { LANG: 'C.UTF-8' }, { language: 'en', locale: 'en' }],
  ['POSIX', { LC_ALL: 'POSIX', LANG: 'en_GB' }, { language: 'en', locale: 'en' }],
  [
    'a locale with encoding and modifier',
    { LANG: `${other}_AT.UTF-8@euro` },
    { language: other, locale: `${other}-AT` },
  ],
  ['messages before the language', { LC_MESSAGES: 'en_GB.UTF-8', LANG: 'C' }, { language: 'en', locale: 'en-GB' }],
  ['all before messages', { LC_ALL: 'en_IE', LC_MESSAGES: 'en_GB', LANG: 'C' }, { language: 'en', locale: 'en-IE' }],
  ['an empty variable', { LC_ALL: '', LANG: 'en_GB' }, { language: 'en', locale: 'en-GB' }],
  ['a language without a catalog', { LANG: 'xx_YY.UTF-8' }, { language: 'en', locale: 'en' }],
  ['nonsense', { LANG: '../../etc/passwd' }, { language: 'en', locale: 'en' }],
])('reads the language of commands from the environment: %s', (_case, environment, choice) => {
  expect(getCommandLanguage(environment, 'linux')).toEqual(choice);
});

it.each(['win32', 'darwin'] as const)('uses the language of the system on %s', (platform) => {
  const { locale } = Intl.DateTimeFormat().resolvedOptions();
  expect(getCommandLanguage({ LANG: 'xx_YY' }, platform).language).toBe(locale.split('-')[0]);
});
