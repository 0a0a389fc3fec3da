import * as texts from '#messages/gateway-texts';
import * as manifests from '#messages/manifests';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { downloads } from '../../../services/downloads/index.ts';
import { gateway } from '../../../services/gateway/index.ts';
import { push } from '../../../services/push/index.ts';
import { launchBrowser, noBrowser, openProfile } from '../../support/browser.ts';
import { lan, openHome, readPlainly, type Home } from '../../support/gateway/phone.ts';
import { seriousFindings } from '../../renderer/axe.ts';

let home: Home;
beforeAll(async () => {
  home = await openHome({
    services: [push, downloads, control, gateway],
    settings: { shared: ['push', 'downloads', 'control'] },
  });
});
afterAll(() => home[Symbol.asyncDispose]());

describe('landing page of the gateway', () => {
  it('describes services by their benefit and lists the app first', async () => {
    const { body } = await home.ask('https://nas.local/', { headers: { Accept: 'text/html' } });
    expect(body).toContain(texts.homeTitle());
    expect(body).toContain(manifests.downloadsSharedSummary());
    expect(body).not.toContain(manifests.downloadsSummary());
    expect(body.indexOf('href="/control/"')).toBeLessThan(body.indexOf('href="/push/"'));
  });

  it('serves the font of the product over HTTPS and with the certificate', async () => {
    const font = await home.ask('https://nas.local/.homeport/inter.woff2');
    expect([font.status, font.headers['content-type']]).toEqual([200, 'font/woff2']);
    const { trustUrl } = await home.state();
    const plain = await readPlainly(new URL('/.homeport/inter.woff2', trustUrl ?? '').href);
    expect([plain.status, plain.headers['content-type']]).toEqual([200, 'font/woff2']);
  });

  it.skipIf(noBrowser)('loads the font on a phone and has no problems of accessibility', async () => {
    await using browser = await launchBrowser('engine', [`--host-resolver-rules=MAP *.local ${lan}`]);
    await using context = await openProfile(browser, {
      ignoreHTTPSErrors: true,
      viewport: { width: 360, height: 740 },
    });
    const page = await context.newPage();
    for (const path of ['/', '/.homeport/sign-in']) {
      await page.goto(`https://nas.local:${home.port}${path}`);
      await expect.poll(() => page.evaluate(() => document.fonts.check('16px "Inter Variable"'))).toBe(true);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
      expect(await seriousFindings(page)).toEqual([]);
    }
  });
});
