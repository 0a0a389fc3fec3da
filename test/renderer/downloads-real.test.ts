import * as downloadsMessages from '#messages/downloads';
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { downloads } from '../../services/downloads/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { openRig, type Rig } from '../services/downloads/rig.ts';
import { anyCount, anyText, matching, startingWith } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { closeToasts } from './toasts.ts';
import { screens } from './screens.ts';
import { launchBrowser, noBrowser, openPage, signIn } from '../support/browser.ts';

describe.skipIf(noBrowser)('Downloads with the real service', () => {
  let rig: Rig;
  beforeAll(async () => {
    const built = process.env['HOMEPORT_TEST_PAGES'];
    rig = await openRig({ services: [downloads, inbox, control], ...(built ? { pages: built } : {}) });
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  it('previews a link, downloads it with a pause, opens it and deletes it with its file', async () => {
    await using resources = new AsyncDisposableStack();
    const browser = await launchBrowser('whole');
    resources.defer(() => browser.close());
    const browserPage = resources.use(await openPage(browser, { width: 1280, height: 900 }));
    const { page } = browserPage;
    await signIn(page.context(), rig.host.url('control'));
    // The root of the port of the service, as a browser opens it.
    await page.goto(rig.client.base);
    await page.waitForURL('**/downloads');
    await page.getByText(downloadsMessages.emptyTitle()).waitFor();
    await page.keyboard.type(rig.site.url('/p/og?title=Harbour+at+dawn&src=/slow/400/big.mp4'));
    const preview = page.getByRole('region', { name: downloadsMessages.previewLabel() });
    await preview.getByText('Harbour at dawn').waitFor();
    await expect.poll(() => preview.getByRole('img').or(preview.locator('img')).count()).toBe(1);
    await page.keyboard.press('Enter');
    const row = page.getByRole('listitem').filter({ hasText: 'Harbour at dawn' });
    await row.getByRole('progressbar').waitFor();
    await row.getByRole('button', { name: 'Pause Harbour at dawn' }).click();
    await row.getByText(startingWith(downloadsMessages.downloadPaused())).waitFor();
    await row.getByRole('button', { name: 'Resume Harbour at dawn' }).click();
    await page.mouse.move(5, 5);
    await row.getByText(/MP4$/).waitFor();
    await row.getByRole('button', { name: 'Play Harbour at dawn' }).click();
    await page.getByRole('dialog', { name: 'Harbour at dawn' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: downloadsMessages.statistics() }).click();
    await page.getByRole('heading', { name: downloadsMessages.spanTitle({ span: '30' }) }).waitFor();
    await page
      .getByRole('img', { name: startingWith(downloadsMessages.speedChartSummary({ count: anyCount })) })
      .waitFor();
    // About 400 KiB/s are shown in kB/s, not in MB/s.
    await page.getByText(/\d\d:\d\d:\d\d\s+[\d.]+\skB\/s$/).waitFor();
    await page.getByRole('listitem').filter({ hasText: '127.0.0.1' }).getByText('1 download').waitFor();
    await expectFits(browserPage, 'downloads-volume', { ...screens[1] });
    await page.getByRole('radio', { name: downloadsMessages.aYear() }).check();
    await page
      .getByRole('img', { name: startingWith(downloadsMessages.downloadedSummary({ span: '365', total: anyText })) })
      .waitFor();
    await expect.poll(() => new URL(page.url()).search).toBe('?days=365');
    await page.getByRole('link', { name: matching(downloadsMessages.finishedInHistory({ count: anyCount })) }).click();
    await page.getByRole('button', { name: downloadsMessages.moreForName({ name: 'Harbour at dawn' }) }).click();
    await page.getByRole('menuitem', { name: downloadsMessages.deleteWithItsFile() }).click();
    await expect.poll(() => closeToasts(page).then(async () => (await rig.client.history()).done)).toEqual([]);
    expect(browserPage.complaints).toEqual([]);
    await expect.poll(() => existsSync(rig.file('Harbour at dawn.mp4'))).toBe(false);
  });
});
