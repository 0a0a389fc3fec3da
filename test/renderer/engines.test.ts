import * as accessMessages from '#messages/access';
import * as engineTexts from '#messages/engine-texts';
import * as enginesMessages from '#messages/engines';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { engineProgress } from '../../services/contracts/control/engines.ts';
import { noBrowser } from '../support/browser.ts';
import { api } from '../support/api.ts';
import { anyText, containing } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';
import { besidesRefusals, openPages, type Pages } from './visit.ts';

describe.skipIf(noBrowser)('the engines page', () => {
  let folder: string;
  let pages: Pages;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'engines-page-'));
    mkdirSync(join(folder, 'bin'));
    // Hides the programs of this computer and of the internet.
    vi.stubEnv('PATH', `${join(folder, 'bin')}:/bin`);
    vi.stubEnv('PIP_NO_INDEX', '1');
    vi.stubEnv('PIP_FIND_LINKS', '');
    installed('2026.01.01');
    write(join(folder, 'bin', 'ffmpeg'), '#!/bin/sh\necho "ffmpeg version 9.1-test Copyright (c)"\n');
    const missing = join(folder, 'nowhere', 'ffmpeg');
    pages = await openPages({
      environment: { HOMEPORT_ENGINES_DIR: join(folder, 'engines'), FFMPEG_PATH: missing },
    });
  });
  afterEach(async () => {
    await pages[Symbol.asyncDispose]();
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  });

  function write(path: string, text: string): void {
    writeFileSync(path, text);
    chmodSync(path, 0o755);
  }

  /** Writes the files of an installation. */
  function installed(version: string): void {
    const engineFolder = join(folder, 'engines', 'yt-dlp', `${version}-abcd`);
    mkdirSync(engineFolder, { recursive: true });
    write(join(engineFolder, 'yt-dlp'), `#!/bin/sh\n[ "$1" = --version ] && echo ${version}\n`);
    writeFileSync(
      join(folder, 'engines', 'yt-dlp', 'current'),
      JSON.stringify({ current: `${version}-abcd`, previous: null }),
    );
  }

  it('shows installed engines, their source, and what a missing one means', async () => {
    await using visit = await pages.visit('/settings/engines');
    const rows = visit.page.getByRole('list', { name: enginesMessages.engines() }).getByRole('listitem');
    const ytdlp = rows.filter({ has: visit.page.getByRole('heading', { name: /^yt-dlp/ }) });
    await ytdlp.getByText('2026.01.01', { exact: true }).waitFor();
    const source = ytdlp.getByText(enginesMessages.installedByHomeport());
    await source.waitFor();
    expect(await source.getAttribute('title')).toContain(join(folder, 'engines', 'yt-dlp'));
    const ffmpeg = rows.filter({ has: visit.page.getByRole('heading', { name: /^ffmpeg/ }) });
    await ffmpeg.getByText(enginesMessages.missing()).waitFor();
    await ffmpeg.getByText(engineTexts.ffmpegAbsence()).waitFor();
    await ffmpeg.getByText(containing(engineTexts.correctPath({ reasons: anyText }))).waitFor();
    // Another installation would have no effect while the settings contain a path.
    const itsPath = ffmpeg.getByRole('link', { name: enginesMessages.pathInSettings() });
    expect(await itsPath.getAttribute('href')).toBe('/settings/engines/ffmpegPath');
    expect(
      await ffmpeg.getByRole('button', { name: enginesMessages.installName({ name: 'ffmpeg' }), exact: true }).count(),
    ).toBe(0);
    expect(await rows.count()).toBe(6);
    expect(visit.complaints).toEqual([]);
  });

  it('checks an engine again, which may have been replaced manually', async () => {
    await using visit = await pages.visit('/settings/engines');
    const { page } = visit;
    await page.getByText('2026.01.01', { exact: true }).waitFor();
    installed('2026.03.03');
    await page.getByRole('button', { name: enginesMessages.moreForName({ name: 'yt-dlp' }) }).click();
    await page.getByRole('menuitem', { name: enginesMessages.check() }).click();
    await page.getByText(enginesMessages.nameAnswersVersion({ name: 'yt-dlp', version: '2026.03.03' })).waitFor();
    installed('2026.04.04');
    await page.getByRole('button', { name: enginesMessages.checkAll() }).click();
    await page.getByText('2026.04.04', { exact: true }).waitFor();
    await page.getByText(containing(enginesMessages.stillMissing({ names: `ffmpeg${anyText}` }))).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('shows the progress of an installation in every window, and the reason of a failure', async () => {
    await using visit = await pages.visit('/settings/engines');
    const { page } = visit;
    await page.getByText('2026.01.01', { exact: true }).waitFor();
    const step = engineTexts.stepDownload();
    pages.inbox.bus?.publish(engineProgress, { name: 'yt-dlp', work: { step, percent: 42 } });
    await page.getByText(`${step}, 42%`).waitFor();
    expect(
      await page
        .getByRole('progressbar', { name: enginesMessages.installationOfName({ name: 'yt-dlp' }) })
        .getAttribute('value'),
    ).toBe('42');
    await page.getByRole('button', { name: enginesMessages.moreForName({ name: 'yt-dlp' }) }).click();
    expect(await page.getByRole('menuitem', { name: enginesMessages.remove() }).getAttribute('aria-disabled')).toBe(
      'true',
    );
    await page.keyboard.press('Escape');
    pages.inbox.bus?.publish(engineProgress, { name: 'yt-dlp', work: null });
    await page.getByText(step).waitFor({ state: 'detached' });
    await page.route('**/api/engines/yt-dlp/install', (route) =>
      route.fulfill({
        status: 503,
        json: {
          error: {
            code: 'engines.not_installed',
            status: 503,
            detail: engineTexts.notInstalled({ engine: 'yt-dlp', reasons: 'No network.' }),
          },
        },
      }),
    );
    await page.getByRole('button', { name: enginesMessages.updateName({ name: 'yt-dlp' }) }).click();
    await page.getByText(engineTexts.notInstalled({ engine: 'yt-dlp', reasons: 'No network.' })).waitFor();
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('shows the reason of a failed installation until the next one starts', async () => {
    await using visit = await pages.visit('/settings/engines');
    const { page } = visit;
    const apprise = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: /^apprise/ }) });
    await apprise.getByText(enginesMessages.notInstalled()).waitFor();
    await api(pages.url, '/api/engines/apprise/install?wait=false', { method: 'POST' });
    await apprise
      .getByRole('alert')
      .getByText(engineTexts.notInstalled({ engine: 'apprise', reasons: '' }).trim())
      .waitFor();
    expect(await apprise.getByText(/homeport engines install/).count()).toBe(0);
    expect(visit.complaints).toEqual([]);
  });

  it('removes an engine that Homeport installed, by keyboard, after confirmation', async () => {
    await using visit = await pages.visit('/settings/engines');
    const { page } = visit;
    await page.getByRole('button', { name: enginesMessages.moreForName({ name: 'yt-dlp' }) }).press('Enter');
    await page.getByRole('menuitem', { name: enginesMessages.remove() }).press('Enter');
    const dialog = page.getByRole('dialog', { name: enginesMessages.removeName({ name: 'yt-dlp' }) });
    await dialog.getByText(engineTexts.runningDownloadsFail()).waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(existsSync(join(folder, 'engines', 'yt-dlp', 'current'))).toBe(true);
    await page.getByRole('button', { name: enginesMessages.moreForName({ name: 'yt-dlp' }) }).press('Enter');
    await page.getByRole('menuitem', { name: enginesMessages.remove() }).press('Enter');
    await dialog.getByRole('button', { name: enginesMessages.removeTheEngine() }).press('Enter');
    await page.getByText(enginesMessages.nameIsRemoved({ name: 'yt-dlp' })).waitFor();
    await page.getByText(engineTexts.ytDlpAbsence()).waitFor();
    await page.getByRole('button', { name: enginesMessages.installName({ name: 'yt-dlp' }) }).waitFor();
    expect(existsSync(join(folder, 'engines', 'yt-dlp', 'current'))).toBe(false);
    expect(visit.complaints).toEqual([]);
  });

  it('shows other accounts that the page is only for administrators', async () => {
    const body = JSON.stringify({ name: 'grace', password: 'harbour light' });
    await api(pages.url, '/api/accounts', { method: 'POST', body });
    await using visit = await pages.visit('/settings/engines', { signedIn: false });
    const { page } = visit;
    await page.getByLabel(accessMessages.name()).fill('grace');
    await page.getByLabel(accessMessages.password()).fill('harbour light');
    await page.keyboard.press('Enter');
    await page.getByText(enginesMessages.onlyAdministratorSeeEngines()).waitFor();
  });

  it.each(screens)('fits on $on', async (screen) => {
    await using visit = await pages.visit('/settings/engines', screen);
    await visit.page.getByRole('list', { name: enginesMessages.engines() }).waitFor();
    pages.inbox.bus?.publish(engineProgress, {
      name: 'yt-dlp',
      work: { step: engineTexts.stepDownload(), percent: 62 },
    });
    await visit.page.getByText('62%').waitFor();
    await expectFits(visit, 'engines', screen);
  });
});
