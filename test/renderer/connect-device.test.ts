import * as accessMessages from '#messages/access';
import * as m from '#messages/connect-device';
import * as frameMessages from '#messages/frame';
import * as homeMessages from '#messages/home';
import * as networkMessages from '#messages/network';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addons } from '../../services/addons/index.ts';
import { gateway } from '../../services/gateway/index.ts';
import { git } from '../../services/git/index.ts';
import { push } from '../../services/push/index.ts';
import { api } from '../support/api.ts';
import { noBrowser } from '../support/browser.ts';
import { lan, phoneAddress, sharing } from '../support/gateway/phone.ts';
import { adminAuthorization } from '../support/host.ts';
import { anyText, startingWith } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';
import { openPages, type Pages } from './visit.ts';

/** Stream of the ntfy app on a phone of the network. */
interface Phone extends Disposable {
  readonly lines: string[];
}

async function subscribe(address: string, topic: string): Promise<Phone> {
  const { port } = new URL(address);
  const outgoing = request({
    host: lan,
    port,
    path: `/${topic}/json`,
    rejectUnauthorized: false,
    agent: false,
    localAddress: phoneAddress,
    headers: { Authorization: adminAuthorization, 'User-Agent': 'ntfy/1.16.0 (play; Android 16; SDK 36)' },
  });
  const [response] = (await once(outgoing.end(), 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  const lines: string[] = [];
  response.setEncoding('utf8').on('data', (chunk: string) => lines.push(...chunk.split('\n')));
  response.on('error', () => undefined);
  return { lines, [Symbol.dispose]: () => outgoing.destroy() };
}

describe.skipIf(noBrowser)('setup of another device', () => {
  let pages: Pages;
  beforeEach(async () => {
    pages = await openPages({ also: [push, addons, git, gateway], environment: sharing() });
  });
  afterEach(() => pages[Symbol.asyncDispose]());

  const share = (...ids: readonly string[]): Promise<unknown> =>
    api(pages.url, '/api/settings/gateway', { method: 'PATCH', body: JSON.stringify({ shared: ids }) });
  const getAddress = async (service: string): Promise<string> => {
    const { services } = await api<{ services: { id: string; url: string }[] }>(pages.url, '/api/gateway/addresses');
    return services.find(({ id }) => id === service)?.url ?? '';
  };

  it('leads from Home to a phone that received a test message', async () => {
    await using visit = await pages.visit('/');
    const { page } = visit;
    await page.getByRole('link', { name: homeMessages.connectMyPhone() }).click();
    const step = (title: string) =>
      page.getByRole('list', { name: m.stepsForPhone() }).locator('> li').filter({ hasText: title });

    await page.getByRole('button', { name: m.shareTitles({ titles: 'Messages and Homeport' }) }).click();
    await step(m.certificateTitle()).getByRole('img', { name: m.certificateCode() }).waitFor();
    expect(await page.locator('[aria-current=step]').count()).toBe(1);
    await page.getByRole('button', { name: m.certificateInstalled() }).click();

    const topic = 'hello';
    const address = await getAddress('push');
    await step(m.subscribeTitle()).getByText(m.waitingForPhone({ topic })).waitFor();
    await step(m.subscribeTitle()).getByText(address).first().waitFor();
    using phone = await subscribe(address, topic);
    const device = `ntfy app on Android (${phoneAddress})`;
    await step(m.subscribeTitle()).getByText(m.connectedDevice({ device })).waitFor();

    await page.getByRole('button', { name: m.sendTestMessage() }).click();
    await page.getByText(m.deliveredToDevice({ device })).waitFor();
    await expect.poll(() => phone.lines.some((line) => line.includes(m.testMessageText()))).toBe(true);
    await page.getByRole('button', { name: m.itArrived() }).click();
    const end = page.getByRole('heading', { name: m.phoneIsConnected() });
    await end.waitFor();
    expect(await end.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(await page.locator('[aria-current=step]').count()).toBe(0);

    await page.getByRole('link', { name: m.backToHome() }).click();
    await page.getByRole('heading', { level: 1, name: frameMessages.homeTitle() }).waitFor();
    await page.getByRole('region', { name: homeMessages.recentActivity() }).waitFor();
    expect(await page.getByRole('link', { name: homeMessages.connectMyPhone() }).count()).toBe(0);
    expect(visit.complaints).toEqual([]);
  });

  it('reports a TV that requests streams', async () => {
    await share('addons');
    await using visit = await pages.visit('/network');
    const { page } = visit;
    await page.getByRole('link', { name: networkMessages.startSetup() }).click();
    await page.getByRole('tab', { name: m.tv() }).click();
    await page.getByRole('link', { name: m.createConfiguration() }).waitFor();
    const config = { formatter: { id: 'gdrive' }, sortCriteria: { global: [] }, presets: [] };
    await api(pages.url, '/api/addons/profiles', { method: 'POST', body: JSON.stringify({ config }) });
    await page.getByRole('img', { name: m.installCode() }).waitFor();
    await page.getByRole('button', { name: m.addonInstalled() }).click();
    await page.getByText(m.waitingForTv()).waitFor();
    const { profiles } = await api<{ profiles: { installPath: string }[] }>(pages.url, '/api/addons/profiles');
    const path = profiles[0]?.installPath.replace('/manifest.json', '/stream/movie/tt0111161.json') ?? '';
    await fetch(pages.host.url('addons') + path, { headers: { 'User-Agent': 'Stremio/1.0 (BRAVIA; Android 12)' } });
    await page.getByText(m.playerConnected({ player: 'Stremio' }), { exact: false }).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('shows commands for another computer with the certificate, and shares what is missing', async () => {
    await share('push');
    await using visit = await pages.visit('/connect/computer');
    const { page } = visit;
    await page.getByText(/^curl http:.*\/homeport\.crt -o "\$HOME\/homeport\.crt"$/).waitFor();
    await page.getByRole('button', { name: m.shareTitles({ titles: 'Code' }) }).click();
    const address = async (): Promise<string> => getAddress('git');
    await expect.poll(address).toContain('https:');
    await page
      .getByText(`git config --global http.${await address()}.sslCAInfo "$HOME/homeport.crt"`, { exact: true })
      .waitFor();
    await page.getByText(`git clone ${await address()}/ada/project.git`, { exact: true }).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('asks an administrator where an account may not share', async () => {
    const grants = [{ service: 'push', resource: '*', permission: 'write' }];
    const account = { name: 'grace', password: 'harbour light' };
    await api(pages.url, '/api/accounts', { method: 'POST', body: JSON.stringify({ ...account, grants }) });
    await using visit = await pages.visit('/connect', { signedIn: false });
    const { page } = visit;
    await page.getByLabel(accessMessages.name()).fill(account.name);
    await page.getByLabel(accessMessages.password(), { exact: true }).fill(account.password);
    await page.keyboard.press('Enter');
    await page.getByText(m.askAdministrator({ titles: 'Messages and Homeport' })).waitFor();
    expect(await page.getByRole('button', { name: startingWith(m.shareTitles({ titles: anyText })) }).count()).toBe(0);
    await share('push', 'control');
    await page.getByRole('img', { name: m.certificateCode() }).waitFor();
  });

  it.each(screens)('fits $on, where a phone gets links instead of codes', async (screen) => {
    await using visit = await pages.visit('/connect', screen);
    const { page } = visit;
    await page.getByRole('button', { name: m.shareTitles({ titles: 'Messages and Homeport' }) }).waitFor();
    await expectFits(visit, 'connect-share', screen);
    await share('push', 'control', 'addons', 'git');
    const certificate = page.getByRole('link', { name: m.openCertificatePage() });
    await page.getByRole('button', { name: m.certificateInstalled() }).waitFor();
    expect(await certificate.isVisible()).toBe(screen.touch);
    await expectFits(visit, 'connect-trust', screen);
    await page.getByRole('button', { name: m.certificateInstalled() }).click();
    await page.getByText(m.waitingForPhone({ topic: 'hello' })).waitFor();
    await expectFits(visit, 'connect-subscribe', screen);
    await page.getByRole('button', { name: m.continueAnyway() }).click();
    await page.getByRole('button', { name: m.sendTestMessage() }).click();
    await page.getByRole('button', { name: m.itDidNotArrive() }).click();
    await page.getByText(m.checkNetwork()).waitFor();
    await expectFits(visit, 'connect-test', screen);
    for (const path of ['tv', 'computer']) {
      await page.goto(`${pages.url}/connect/${path}`);
      await page.getByText(path === 'tv' ? m.tvIntroduction() : m.computerIntroduction()).waitFor();
      await expectFits(visit, `connect-${path}`, screen);
    }
  });
});
