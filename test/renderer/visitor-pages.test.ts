import * as uptimeTexts from '#messages/uptime-texts';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { gateway } from '../../services/gateway/index.ts';
import { git } from '../../services/git/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { notify } from '../../services/notify/index.ts';
import { uptime } from '../../services/uptime/index.ts';
import { launchBrowser, noBrowser, openPage, openProfile, getBrowser } from '../support/browser.ts';
import { lan, openHome, type Home } from '../support/gateway/phone.ts';
import { adminAuthorization } from '../support/host.ts';
import { openMailServer } from '../support/mail-server.ts';
import { openUptime } from '../services/uptime/rig.ts';

/** Font families of the app, followed by those of the system. */
const fontStack = /^"Inter Variable", Inter, system-ui, sans-serif$/;

/** Records all requests and violations of the content security policy of a page. */
function watch(page: Page): { readonly hosts: Set<string>; readonly problems: string[] } {
  const [hosts, problems] = [new Set<string>(), [] as string[]];
  page.on('request', (request) => {
    if (!request.url().startsWith('data:')) hosts.add(new URL(request.url()).hostname);
  });
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load')) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  return { hosts, problems };
}

describe.skipIf(noBrowser)('pages for visitors', () => {
  let home: Home;
  beforeAll(async () => {
    home = await openHome({
      services: [uptime, git, inbox, control, gateway],
      settings: { shared: ['git'], open: ['uptime'] },
    });
    const headers = { Authorization: adminAuthorization, 'Content-Type': 'application/json' };
    const post = async (url: string, body: object, method = 'POST'): Promise<void> => {
      const reply = await fetch(url, { method, headers, body: JSON.stringify(body) });
      expect(reply.ok, `${url} ${await reply.text()}`).toBe(true);
    };
    await post(`${home.host.url('uptime')}/api/status-pages`, { slug: 'harbour', title: 'Harbour' });
    await post(`${home.host.url('git')}/api/v1/user/repos`, { name: 'lamp', private: false, auto_init: true });
  });
  afterAll(() => home[Symbol.asyncDispose]());

  it.each([
    ['a status page', () => `${home.host.url('uptime')}/status/harbour`],
    ['a missing status page', () => `${home.host.url('uptime')}/status/nothing`],
    ['a public repository', () => `${home.host.url('git')}/ada/lamp`],
    ['the sign-in of the gateway', () => `https://git.nas.local:${String(home.port)}/`],
    ['an error of the gateway', () => `https://nas.local:${String(home.port)}/nothing/here`],
    ['the page to trust the certificate', async () => (await home.state()).trustUrl ?? ''],
    ['the page that says how to share the app', () => `https://uptime.nas.local:${String(home.port)}/`],
  ])(
    'uses fonts of the app or the system, its own origin only, and the colors of the app: %s',
    async (_case, getUrl) => {
      const browser = await launchBrowser('engine', [
        `--host-resolver-rules=MAP *.nas.local ${lan}, MAP nas.local ${lan}`,
      ]);
      try {
        await using context = await openProfile(browser, { ignoreHTTPSErrors: true });
        const page = await context.newPage();
        const { hosts, problems } = watch(page);
        const url = await getUrl();
        const reply = await page.goto(url);
        expect(await page.evaluate(() => getComputedStyle(document.body).fontFamily)).toMatch(fontStack);
        expect([...hosts]).toEqual([new URL(url).hostname]);
        const policy = reply?.headers()['content-security-policy'] ?? '';
        expect(policy).toContain("default-src 'none'");
        expect(policy).toContain("base-uri 'none'");
        expect(policy).not.toMatch(/script-src[^;]*'unsafe|(?:font|connect)-src[^;]*(?:https?:|\*)/);
        const colors = await page
          .locator('meta[name=theme-color]')
          .evaluateAll((metas) => metas.map((meta) => meta.getAttribute('content')));
        expect(colors).toEqual(['#f7fbfc', '#0d151b']);
        expect(problems).toEqual([]);
      } finally {
        await browser.close();
      }
    },
  );

  it('updates a status page in place and keeps typed text', async () => {
    await using mail = await openMailServer();
    const subscriberMail = `mailto://127.0.0.1:${String(mail.port)}?from=status@example.org&to=all@example.org&mode=insecure`;
    await using rig = await openUptime({
      services: [uptime, notify, inbox, control],
      environment: { UPTIME_SUBSCRIBER_MAIL: subscriberMail },
    });
    const job = await rig.add({ type: 'manual', name: 'Mail', manual_status: 1, interval: 3600 });
    await rig.until(job.id, 1);
    await rig.call('POST', '/api/status-pages', { slug: 'live', title: 'Live' });
    await rig.call('PUT', '/api/status-pages/live', {
      publicGroupList: [{ name: 'All', monitorList: [{ id: job.id }] }],
      autoRefreshInterval: 30,
      subscribable: true,
    });
    await using visit = await openPage(await getBrowser());
    const { page } = visit;
    await page.clock.install();
    await page.goto(`${rig.url}/status/live`);
    expect(await page.locator('head meta[http-equiv=refresh]').count()).toBe(0);
    await page.locator('.all.up').waitFor();
    const field = page.getByLabel(uptimeTexts.mailAddress());
    await field.pressSequentially('grace@exam');
    await rig.call('PATCH', `/api/monitors/${String(job.id)}`, { manual_status: 0 });
    await rig.until(job.id, 0);
    await page.clock.runFor(31_000);
    await page.locator('.all.down').waitFor();
    // The outage is listed, and the form was not touched.
    await page.getByRole('heading', { name: uptimeTexts.outagesTitle() }).waitFor();
    await page.keyboard.type('ple.org');
    expect(await field.inputValue()).toBe('grace@example.org');
    await rig.call('PATCH', `/api/monitors/${String(job.id)}`, { manual_status: 1 });
    await rig.until(job.id, 1);
    await page.clock.runFor(31_000);
    await page.locator('.all.up').waitFor();
    expect(await field.inputValue()).toBe('grace@example.org');
    expect(visit.complaints).toEqual([]);
  });

  it('does not reload a status page, and shows times by the clock of the visitor', async () => {
    const text = await (await fetch(`${home.host.url('uptime')}/status/harbour`)).text();
    expect(text).not.toContain('http-equiv="refresh"');
    const browser = await getBrowser();
    const times = await Promise.all(
      ['Asia/Tokyo', 'America/New_York'].map(async (timezoneId) => {
        await using context = await openProfile(browser, { timezoneId });
        const page = await context.newPage();
        await page.goto(`${home.host.url('uptime')}/status/harbour`);
        const updated = page.locator('footer time');
        const shown = await updated.textContent();
        const expected = await updated.evaluate((time: HTMLTimeElement) =>
          new Date(time.dateTime).toLocaleTimeString('en', { hour: 'numeric', minute: '2-digit' }),
        );
        expect(shown).toContain(expected);
        return shown;
      }),
    );
    expect(times[0]).not.toBe(times[1]);
  });

  it('shows a status page in the font of the app', async () => {
    await using visit = await openPage(await getBrowser());
    const { page } = visit;
    const font = page.waitForResponse((response) => response.url().endsWith('.woff2'));
    await page.goto(`${home.host.url('uptime')}/status/harbour`);
    expect((await font).headers()['content-type']).toBe('font/woff2');
    await page.waitForFunction(() => document.fonts.check('16px "Inter Variable"'));
    expect(visit.complaints).toEqual([]);
  });
});
