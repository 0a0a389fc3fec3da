import * as gatewayTexts from '#messages/gateway-texts';
import * as frameMessages from '#messages/frame';
import * as networkMessages from '#messages/network';
import * as partsMessages from '#messages/parts';
import * as stateMessages from '#messages/state';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SettingsView } from '../../services/contracts/control/settings.ts';
import { gateway } from '../../services/gateway/index.ts';
import { push } from '../../services/push/index.ts';
import { fixtureService } from '../support/fixture-service.ts';
import { noBrowser } from '../support/browser.ts';
import { lan, phoneAddress, readPlainly, sharing } from '../support/gateway/phone.ts';
import { api } from '../support/api.ts';
import { admin } from '../support/host.ts';
import { anyText, containing, startingWith } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';
import { openPages, type Pages } from './visit.ts';

describe.skipIf(noBrowser)('the Network page', () => {
  let pages: Pages;
  beforeEach(async () => {
    pages = await openPages({ also: [push, fixtureService('lamp'), gateway], environment: sharing() });
  });
  afterEach(() => pages[Symbol.asyncDispose]());

  it('shares a service, shows its addresses and how to trust it, and unshares it', async () => {
    await using visit = await pages.visit('/network');
    const { page } = visit;
    const row = page
      .getByRole('list', { name: networkMessages.services() })
      .getByRole('listitem')
      .filter({ hasText: frameMessages.pushTitle() })
      .first();
    await row.getByRole('radio', { name: networkMessages.off(), checked: true }).waitFor();
    await row.getByRole('radio', { name: networkMessages.shared() }).check();
    await row.getByText(`https://${lan}:`).waitFor();
    await row.getByRole('button', { name: networkMessages.openTitleDevice({ title: 'Messages' }) }).click();
    await page.getByRole('img', { name: networkMessages.theAddressUrl({ url: `https://${lan}:` }) }).waitFor();
    await page.getByRole('radio', { name: networkMessages.byName() }).check();
    await page
      .getByRole('img', { name: startingWith(networkMessages.theAddressUrl({ url: 'https://push.nas.local' })) })
      .waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('tab', { name: networkMessages.connect() }).click();
    await page.getByRole('heading', { name: networkMessages.trustOnADevice() }).waitFor();
    const trust = (await page.getByText(/\/trust$/).textContent()) ?? '';
    const fingerprint = (await page.getByText(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/).textContent()) ?? '';
    expect((await readPlainly(trust)).body).toContain(fingerprint);
    await page.getByRole('tab', { name: networkMessages.overview() }).click();
    await row.getByRole('radio', { name: networkMessages.off() }).check();
    await row.getByRole('radio', { name: networkMessages.off(), checked: true }).waitFor();
    // The page gets the event of the change before the listener is closed.
    const readResponse = (): Promise<string> => readPlainly(trust).then(() => 'an answer', String);
    await expect.poll(readResponse).toContain('ECONNREFUSED');
  });

  it('tests reachability, and signs out a browser of the network', async () => {
    await using visit = await pages.visit('/network');
    const { page } = visit;
    const row = page
      .getByRole('list', { name: networkMessages.services() })
      .getByRole('listitem')
      .filter({ hasText: 'lamp' })
      .first();
    await row.getByRole('radio', { name: networkMessages.shared() }).check();
    const address = (await row.getByText(/^https:\/\//).textContent()) ?? '';
    await page.getByRole('button', { name: networkMessages.test() }).click();
    const results = page.getByRole('list', { name: networkMessages.whatTheTestFound() });
    await results.getByText(containing(gatewayTexts.testTlsWorks({ url: anyText }))).waitFor();
    await results.getByText(containing(gatewayTexts.testNoDevice({ ports: anyText }))).waitFor();

    const { port, host } = new URL(address);
    const body = new URLSearchParams({ name: admin.name, password: admin.password }).toString();
    const challenge = request({
      host: lan,
      port,
      path: '/.homeport/sign-in',
      method: 'POST',
      rejectUnauthorized: false,
      agent: false,
      headers: {
        Host: host,
        Origin: address,
        'User-Agent': 'Mozilla/5.0 (Android 16; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0',
      },
      localAddress: phoneAddress,
    });
    const [response] = (await once(challenge.end(body), 'response')) as [IncomingMessage];
    expect(response.resume().statusCode).toBe(303);
    await page.getByRole('tab', { name: networkMessages.signIn() }).click();
    const devices = page.getByRole('list', { name: networkMessages.signedIn() }).getByRole('listitem');
    const device = devices.filter({ hasText: 'Firefox on Android' });
    await device.getByText(new RegExp(`from .* to ${host}`)).waitFor();
    await device.getByRole('button', { name: networkMessages.signOut() }).click();
    await device.getByRole('button', { name: networkMessages.reallySignOut() }).click();
    await device.waitFor({ state: 'detached' });
  });

  it('requires a confirmation before sharing without a sign-in', async () => {
    await using visit = await pages.visit('/network');
    const { page } = visit;
    const row = page
      .getByRole('list', { name: networkMessages.services() })
      .getByRole('listitem')
      .filter({ hasText: 'lamp' })
      .first();
    await row.getByRole('radio', { name: networkMessages.openExposure() }).click();
    await page.getByText(networkMessages.shareConsequences()).waitFor();
    await page.getByRole('button', { name: networkMessages.cancel() }).click();
    await expect.poll(() => row.getByRole('radio', { name: networkMessages.off() }).isChecked()).toBe(true);
    await row.getByRole('radio', { name: networkMessages.openExposure() }).click();
    await page.getByRole('button', { name: networkMessages.shareWithoutSignIn() }).click();
    await row.getByText(networkMessages.openToEverybody()).waitFor();
  });

  it('adds an external service by address, shares it, and removes it', async () => {
    await using visit = await pages.visit('/network/other');
    const { page } = visit;
    await page.getByRole('button', { name: networkMessages.addAnExternalService() }).click();
    await page.getByLabel(networkMessages.name(), { exact: true }).fill('photos');
    await page.getByLabel(networkMessages.address(), { exact: true }).fill('http://192.168.1.5:2342/album');
    await page.getByRole('button', { name: networkMessages.add(), exact: true }).click();
    await page.getByText(networkMessages.nameNote({ host: 'photos.nas.local' })).waitFor();
    await page.getByText(networkMessages.addressInvalid()).waitFor();
    await page.getByLabel(networkMessages.address(), { exact: true }).fill('http://127.0.0.1:2342/');
    await page.getByRole('button', { name: networkMessages.add(), exact: true }).click();
    const row = page.getByRole('list', { name: networkMessages.externalServices() }).getByRole('listitem').first();
    const opens = row.getByRole('heading').getByRole('link');
    expect(await opens.getAttribute('href')).toBe('http://127.0.0.1:2342');
    await row.getByRole('radio', { name: networkMessages.shared() }).check();
    await row.getByText(/^https:\/\/photos\.nas\.local:\d+$/).waitFor();
    await expect.poll(() => opens.getAttribute('href')).toMatch(/^https:\/\/photos\.nas\.local/);
    await page.getByRole('tab', { name: networkMessages.connect() }).click();
    await page.getByText(/^curl --cacert homeport\.crt -u "\w+:\$TOKEN" https:\/\/photos\.nas\.local/).waitFor();
  });

  it('edits an external service, which stays shared under its new name, and removes it with Undo', async () => {
    const settings = {
      shared: ['photos'],
      outside: ['photos=http://127.0.0.1:2342'],
      outsideUnverified: ['photos'],
      outsideHosts: ['photos=127.0.0.1:2342'],
      publicPaths: ['photos=/share/'],
    };
    await api(pages.url, '/api/settings/gateway', { method: 'PATCH', body: JSON.stringify(settings) });
    await using visit = await pages.visit('/network/other');
    const { page } = visit;
    const more = async (name: string, action: string): Promise<void> => {
      await page.getByRole('button', { name: networkMessages.moreAboutTitle({ title: name }) }).click();
      await page.getByRole('menuitem', { name: action }).click();
    };
    await more('photos', 'Edit');
    await page.getByLabel(networkMessages.name(), { exact: true }).fill('push');
    await page.getByRole('button', { name: networkMessages.save() }).click();
    await page.getByText(stateMessages.nameTaken({ name: 'push' })).waitFor();
    for (const refused of ['photo_s', '-photos', 'photos-']) {
      await page.getByLabel(networkMessages.name(), { exact: true }).fill(refused);
      expect(await page.locator('#outside-name:invalid').count()).toBe(1);
    }
    await page.getByLabel(networkMessages.name(), { exact: true }).fill('2-photo-album');
    await page.getByLabel(networkMessages.address(), { exact: true }).fill('https://127.0.0.1:2343');
    await page.getByRole('button', { name: networkMessages.save() }).click();
    const row = page.getByRole('list', { name: networkMessages.externalServices() }).getByRole('listitem').first();
    await row.getByText(/^https:\/\/2-photo-album\.nas\.local:\d+$/).waitFor();
    expect(await row.getByRole('radio', { name: networkMessages.shared() }).isChecked()).toBe(true);
    const { sections } = await api<SettingsView>(pages.url, '/api/settings');
    const fields = sections.find(({ id }) => id === 'gateway')?.fields ?? [];
    const values = ['outsideUnverified', 'outsideHosts', 'publicPaths'].map(
      (setting) => fields.find(({ name }) => name === setting)?.value,
    );
    expect(values).toEqual([['2-photo-album'], ['2-photo-album=127.0.0.1:2342'], ['2-photo-album=/share/']]);
    await more('2-photo-album', 'Remove');
    await page.getByRole('heading', { name: networkMessages.noExternalServicesYet() }).waitFor();
    await page.getByRole('button', { name: partsMessages.undo() }).click();
    await row.getByText(/^https:\/\/2-photo-album\.nas\.local:\d+$/).waitFor();
    await more('2-photo-album', 'Remove');
    await page.getByRole('heading', { name: networkMessages.noExternalServicesYet() }).waitFor();
  });

  it('shows the values that the identity provider needs', async () => {
    await using visit = await pages.visit('/network/sign-in');
    const { page } = visit;
    await page.getByText(networkMessages.anotherProvider(), { exact: true }).waitFor();
    const setUp = page.getByRole('link', { name: networkMessages.setUpAProvider() });
    expect(await setUp.getAttribute('href')).toBe('/settings/gateway/oidcIssuer');
    const body = { shared: ['lamp'], oidcIssuer: 'https://auth.example', oidcClientId: 'homeport' };
    await api(pages.url, '/api/settings/gateway', { method: 'PATCH', body: JSON.stringify(body) });
    await page.reload();
    await page.getByRole('heading', { name: 'auth.example' }).waitFor();
    await page.getByText(/^https:\/\/lamp\.nas\.local:\d+\/\.homeport\/oidc\/callback$/).waitFor();
  });

  it.each(screens)('fits with its other tabs on $on', async (screen) => {
    const settings = {
      shared: ['push', 'lamp'],
      outside: ['photos=http://127.0.0.1:2342'],
      oidcIssuer: 'https://auth.example',
      oidcClientId: 'homeport',
    };
    await api(pages.url, '/api/settings/gateway', { method: 'PATCH', body: JSON.stringify(settings) });
    for (const [tab, heading] of [
      ['other', 'Add an external service'],
      ['sign-in', 'auth.example'],
      ['connect', 'Programs'],
    ] as const) {
      await using visit = await pages.visit(`/network/${tab}`, screen);
      await visit.page.getByRole(tab === 'other' ? 'button' : 'heading', { name: heading }).waitFor();
      await expectFits(visit, `network-${tab}`, screen);
    }
  });

  it.each(screens)('fits on $on', async (screen) => {
    await using visit = await pages.visit('/network', screen);
    const { page } = visit;
    const row = page
      .getByRole('list', { name: networkMessages.services() })
      .getByRole('listitem')
      .filter({ hasText: frameMessages.pushTitle() })
      .first();
    await row.getByRole('radio', { name: networkMessages.shared() }).check();
    await row.getByText(`https://${lan}:`).waitFor();
    await page.getByRole('heading', { name: networkMessages.connectADevice() }).waitFor();
    await expectFits(visit, 'network', screen);
  });
});
