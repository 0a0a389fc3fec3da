import * as downloadsMessages from '#messages/downloads';
import * as pushMessages from '#messages/push';
import * as serviceMessages from '#messages/service';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addons } from '../../services/addons/index.ts';
import { control } from '../../services/control/index.ts';
import { downloads } from '../../services/downloads/index.ts';
import { gateway } from '../../services/gateway/index.ts';
import { git } from '../../services/git/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { notify } from '../../services/notify/index.ts';
import { push } from '../../services/push/index.ts';
import { sync } from '../../services/sync/index.ts';
import { uptime } from '../../services/uptime/index.ts';
import { api } from '../support/api.ts';
import { noBrowser } from '../support/browser.ts';
import { sharing } from '../support/gateway/phone.ts';
import { admin, adminAuthorization } from '../support/host.ts';
import { anyText, containing, getTagText } from '../support/message-patterns.ts';
import { seriousFindings } from './axe.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';
import { openPages, type Pages } from './visit.ts';

/** Hint for phones and for other devices, which is next to the shared address. */
const trustHint = new RegExp(
  [serviceMessages.phoneTrustHint, serviceMessages.deviceTrustHint]
    .map((hint) => containing(hint({ url: anyText })).source)
    .join('|'),
);

describe.skipIf(noBrowser)('the Connect tab', () => {
  let pages: Pages;
  beforeAll(async () => {
    pages = await openPages({ services: [push, downloads, inbox, control] });
  });
  afterAll(() => pages[Symbol.asyncDispose]());

  it('shows the address for clients of Messages', async () => {
    await using visit = await pages.visit('/push/connect');
    const { page } = visit;
    await page.getByText(`Server ${pages.host.url('push')}`).waitFor();
    const command = (await page.getByText(/-d "Backup finished"/).textContent()) ?? '';
    expect(command).toContain(`${pages.host.url('push')}/TOPIC`);
    expect(await seriousFindings(page)).toEqual([]);
    const phones = page.getByRole('listitem').filter({ hasText: pushMessages.setDefaultServer() });
    await phones
      .getByRole('link', { name: getTagText(serviceMessages.shareFirst({ label: '', subject: '' }), 'link') })
      .waitFor();
    await phones
      .getByText(
        containing(serviceMessages.shareFirst({ label: anyText, subject: pushMessages.theAddressForPhones() })),
      )
      .waitFor();
    expect(await phones.textContent()).not.toContain('127.0.0.1');
    await page.getByRole('radio', { name: serviceMessages.otherDevices() }).check();
    await page.getByRole('heading', { name: serviceMessages.notShared({ label: 'Messages' }) }).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('scrolls the Connect tab of Downloads into view on a phone', async () => {
    await using visit = await pages.visit('/downloads/connect', screens[0]);
    const tab = visit.page
      .getByRole('navigation', { name: downloadsMessages.downloads() })
      .getByRole('link', { name: downloadsMessages.connect() });
    await expect.poll(() => tab.evaluate((element) => element.getBoundingClientRect().right <= innerWidth)).toBe(true);
    expect(visit.complaints).toEqual([]);
  });

  it('offers a bookmarklet of Downloads that adds the address of the current page', async () => {
    await using visit = await pages.visit('/downloads/connect');
    const { page } = visit;
    // Phones must not receive an address that only this computer can reach.
    await page.getByText(containing(serviceMessages.shareForCode({ service: anyText }))).waitFor();
    const bookmark = page.getByRole('link', { name: getTagText(downloadsMessages.dragBookmark(), 'bookmark') });
    const script = ((await bookmark.getAttribute('href')) ?? '').replace(/^javascript:/, '');
    expect(await seriousFindings(page)).toEqual([]);
    const film = 'https://videos.example/watch?v=1&t=2#now';
    await page.route('https://videos.example/**', (route) =>
      route.fulfill({ contentType: 'text/html', body: '<link rel="icon" href="data:,"><h1>A film</h1>' }),
    );
    await page.goto(film);
    const opened = page.context().waitForEvent('page');
    await page.evaluate(script);
    const tab = await opened;
    await tab.waitForURL(`${pages.url}/downloads?add=**`);
    await expect.poll(() => new URL(tab.url()).searchParams.get('add')).toBe(film);
    expect(visit.complaints).toEqual([]);
  });

  it.each([...screens])('fits on $on', async (screen) => {
    for (const service of ['push', 'downloads']) {
      await using visit = await pages.visit(`/${service}/connect`, screen);
      await visit.page.getByRole('heading', { name: pushMessages.scripts() }).waitFor();
      await expectFits(visit, `connect-${service}`, screen);
    }
  });
});

describe.skipIf(noBrowser)('connections from other devices', () => {
  let pages: Pages;
  beforeAll(async () => {
    pages = await openPages({ also: [uptime, push, gateway], environment: sharing() });
  });
  afterAll(async () => {
    await pages[Symbol.asyncDispose]();
    if (setup !== undefined) await (await setup).shared[Symbol.asyncDispose]();
  });
  let setup: Promise<{ readonly shared: Pages; readonly configuration: string }> | undefined;
  /** Shares all services of one host, which the tests of the hint use. */
  const shareEverything = (): NonNullable<typeof setup> => (setup ??= openShared());
  async function openShared(): Promise<{ readonly shared: Pages; readonly configuration: string }> {
    const otherServices = [push, addons, uptime, git, sync, notify, gateway];
    const shared = await openPages({ services: [downloads, inbox, control, ...otherServices], environment: sharing() });
    const ids = ['push', 'downloads', 'addons', 'uptime', 'git', 'sync', 'notify'];
    await api(shared.url, '/api/settings/gateway', { method: 'PATCH', body: JSON.stringify({ shared: ids }) });
    const post = (path: string, body: object): Promise<{ uuid: string }> =>
      api(shared.url, path, { method: 'POST', body: JSON.stringify(body) });
    await fetch(`${shared.host.url('push')}/harbour`, {
      method: 'POST',
      body: 'Ahoy',
      headers: { Authorization: adminAuthorization },
    });
    await fetch(`${shared.host.url('uptime')}/api/status-pages`, {
      method: 'POST',
      body: JSON.stringify({ slug: 'harbour', title: 'Harbour' }),
      headers: { Authorization: adminAuthorization, 'Content-Type': 'application/json' },
    });
    const { uuid } = await post('/api/addons/profiles', {
      config: { formatter: { id: 'gdrive' }, sortCriteria: { global: [] }, presets: [] },
    });
    return { shared, configuration: uuid };
  }

  it('shows the address once the service is shared, and a link to share it until then', async () => {
    await using visit = await pages.visit('/uptime/connect');
    const { page } = visit;
    await page.getByText(`curl -u ${admin.name} ${pages.host.url('uptime')}/metrics`).waitFor();
    await page.getByRole('radio', { name: serviceMessages.otherDevices() }).check();
    await page.getByRole('heading', { name: serviceMessages.notShared({ label: 'Uptime' }) }).waitFor();
    expect(
      await page
        .getByRole('link', { name: getTagText(serviceMessages.shareForAddress(), 'link') })
        .getAttribute('href'),
    ).toBe('/network');
    const share = (shared: readonly string[]): Promise<unknown> =>
      api(pages.url, '/api/settings/gateway', { method: 'PATCH', body: JSON.stringify({ shared }) });
    await share(['uptime']);
    const { services, trustUrl } = await api<{ services: { id: string; url: string }[]; trustUrl: string }>(
      pages.url,
      '/api/gateway/addresses',
    );
    expect(services).toEqual([{ id: 'uptime', url: expect.stringMatching(/^https:/), asksFirst: false }]);
    await page.getByText(`curl -u ${admin.name} ${services[0]?.url ?? ''}/metrics`).waitFor();
    await page.getByRole('link', { name: trustUrl }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await share([]);
    await page.getByRole('heading', { name: serviceMessages.notShared({ label: 'Uptime' }) }).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it.each([
    ['/push/connect', 'push'],
    ['/push/topics/harbour?show=subscribe', 'push'],
    ['/downloads/connect', 'downloads'],
    ['/addons/connect', 'addons'],
    ['/addons/configurations/new', 'addons'],
    ['/uptime/connect', 'uptime'],
    ['/uptime/pages', 'uptime'],
    ['/git/connect', 'git'],
    ['/sync/connect', 'sync'],
    ['/delivery/connect', 'notify'],
  ])('explains once how devices trust the certificate, next to the shared address: %s', async (path, service) => {
    const { shared, configuration } = await shareEverything();
    await using visit = await shared.visit(path.replace('/new', `/${configuration}`), { width: 1440, height: 900 });
    const { page } = visit;
    const { trustUrl, services } = await api<{ services: { id: string; url: string }[]; trustUrl: string }>(
      shared.url,
      '/api/gateway/addresses',
    );
    const hint = page.getByText(trustHint);
    const devices = page.getByRole('radio', { name: serviceMessages.otherDevices() });
    // Pages with a code or an address for phones have the hint immediately.
    if (/push|downloads|addons|pages/.test(path)) {
      await hint.waitFor();
      expect(await hint.count()).toBe(1);
    }
    if (!/pages|configurations/.test(path)) {
      await devices.check();
      const { host } = new URL(services.find(({ id }) => id === service)?.url ?? '');
      await page.getByText(host).first().waitFor();
      await hint.waitFor();
      expect(await hint.count()).toBe(1);
    }
    expect(await hint.getByRole('link').getAttribute('href')).toBe(trustUrl);
    expect(visit.complaints).toEqual([]);
  });

  it('shows no hint about the certificate for an address with another one', async () => {
    const { shared } = await shareEverything();
    await using visit = await shared.visit('/push/topics/harbour?show=subscribe');
    const { page } = visit;
    await page.getByText(pushMessages.reachedByAnotherAddress()).click();
    await page.getByLabel(pushMessages.addressOfThisServer()).fill('https://push.example.org');
    await page
      .getByText('curl -d "Hello" https://push.example.org/harbour')
      .or(page.getByText(/push\.example\.org\/harbour/))
      .first()
      .waitFor();
    await page.getByText(trustHint).waitFor({ state: 'detached' });
  });

  it('shows phones the shared address for Messages, even while commands are for this computer', async () => {
    await using visit = await pages.visit('/push/connect');
    const { page } = visit;
    const phones = page.getByRole('listitem').filter({ hasText: pushMessages.setDefaultServer() });
    await phones
      .getByText(
        containing(serviceMessages.shareFirst({ label: anyText, subject: pushMessages.theAddressForPhones() })),
      )
      .waitFor();
    await api(pages.url, '/api/settings/gateway', { method: 'PATCH', body: JSON.stringify({ shared: ['push'] }) });
    const reached = async () =>
      (await api<{ services: { url: string }[] }>(pages.url, '/api/gateway/addresses')).services[0]?.url ?? 'none';
    await phones.getByText(await reached(), { exact: true }).waitFor();
    await page.getByText(`Server ${pages.host.url('push')}`).waitFor();
    expect(visit.complaints).toEqual([]);
  });
});
