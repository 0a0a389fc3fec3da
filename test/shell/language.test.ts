import { afterEach, describe, expect, it } from 'vitest';
import { getLocale, setLanguage } from '../../messages/language.ts';
import { languages } from '../../messages/generated/languages.ts';
import { applySystemLanguage, getSystemLanguage } from '../../main/shell/language.ts';
import { Problem } from '../../services/contracts/problem.ts';
import { MoodyService } from '../renderer/memory-services.ts';
import { FakeElectron, menuTree } from '../support/electron.ts';
import { openDesktop } from './rig.ts';

const other = languages.find((language) => language !== 'en') ?? 'en';

afterEach(() => setLanguage('en'));

describe('the language of the desktop app', () => {
  it.each([
    // As Electron documents it for Windows and macOS.
    [['xx-CA', 'en-US', 'zh-Hans-CN', 'fi', 'es-419'], { language: 'en', locale: 'en-US' }],
    [[`${other}-AT`, 'en-US', 'zh-Hans-FI', 'es-419'], { language: other, locale: `${other}-AT` }],
    [[other, 'en-US'], { language: other, locale: other }],
    [[], { language: 'en', locale: 'en' }],
  ])('is the first of the preferred system languages that has a catalog: %s', (systemLanguages, choice) => {
    const electron = new FakeElectron();
    electron.systemLanguages = systemLanguages;
    expect(getSystemLanguage(electron.parts.app)).toEqual(choice);
  });

  it('is that of the process once it was applied', async () => {
    const electron = new FakeElectron();
    electron.systemLanguages = ['en-GB'];
    await applySystemLanguage(electron.parts.app);
    expect(getLocale()).toBe('en-GB');
  });

  it('is that of the reasons in the tray, which the process of the services evaluates', async () => {
    const moody = new MoodyService();
    moody.failure = new Problem('moody.dark', 500, () => `Dark in ${getLocale()}`);
    await using rig = await openDesktop({
      moody,
      prepare(electron) {
        electron.systemLanguages = ['en-IE'];
      },
    });
    await rig.sees(() => expect(menuTree(rig.electron.tray?.menu ?? [])).toContain('Dark in en-IE'));
  });
});
