import * as gitCodeMessages from '#messages/git-code';
import * as gatewayTexts from '#messages/gateway-texts';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { launchBrowser, noBrowser, openProfile } from '../../support/browser.ts';
import { secondMachine, type Machine } from '../../support/gateway/machine.ts';
import { openHome, type Home } from '../../support/gateway/phone.ts';
import { admin, adminAuthorization } from '../../support/host.ts';

const services = ['addons', 'downloads', 'notify', 'push', 'uptime', 'sync', 'git'];
const pages: Readonly<Record<string, string>> = { notify: '/delivery' };
const folder = mkdtempSync(join(tmpdir(), 'gateway-browser-'));
let machine: Machine;
let home: Home;
let browser: Browser;

/** Script that starts another program on the second computer with the inherited pipes. */
function onMachine(executable: string): string {
  const file = join(folder, 'browser');
  writeFileSync(file, `#!/bin/sh\nexec ${[...machine.inside, executable].join(' ')} "$@"\n`);
  chmodSync(file, 0o755);
  return file;
}

describe.skipIf(noBrowser !== undefined)('a browser on another computer', () => {
  beforeAll(async () => {
    machine = secondMachine();
    home = await openHome({
      environment: { GATEWAY_ADDRESSES: machine.lan },
      settings: { shared: [...services, 'control'] },
    });
    const rules = `MAP *.nas.local ${machine.lan}, MAP nas.local ${machine.lan}`;
    browser = await launchBrowser('engine', [`--host-resolver-rules=${rules}`], onMachine);
  }, 180_000);
  afterAll(async () => {
    await browser.close();
    await home[Symbol.asyncDispose]();
    machine[Symbol.dispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const openNewPage = async (): Promise<{ page: Page } & AsyncDisposable> => {
    const context = await openProfile(browser, { ignoreHTTPSErrors: true });
    return { page: await context.newPage(), [Symbol.asyncDispose]: () => context.close() };
  };
  /** Fills in the sign-in form of the gateway and waits until the browser has left it. */
  const signInWhereAsked = async (page: Page, arrived: (url: URL) => boolean): Promise<void> => {
    for (let form = 0; form < 3; form += 1) {
      await page.waitForURL((url) => url.pathname === '/.homeport/sign-in' || arrived(url));
      if (arrived(new URL(page.url()))) return;
      await page.getByLabel(gatewayTexts.name()).fill(admin.name);
      await page.getByLabel(gatewayTexts.password()).fill(admin.password);
      const submitted = page.waitForResponse((response) => response.request().method() === 'POST');
      await page.getByRole('button', { name: gatewayTexts.signIn() }).click();
      await submitted;
      await page.waitForLoadState('load');
    }
    await page.waitForURL(arrived);
  };
  const openOnce = async (address: string, id: string): Promise<void> => {
    await using opened = await openNewPage();
    const { page } = opened;
    await page.goto(address);
    await signInWhereAsked(page, ({ pathname }) => pathname === (pages[id] ?? `/${id}`));
    await page.locator('#app > *').first().waitFor();
    expect(new URL(page.url()).protocol).toBe('https:');
  };
  /** Opens a page, once more if an interface of the computer changed meanwhile: the browser then ends its requests. */
  const opens = (address: string, id: string): Promise<void> =>
    openOnce(address, id).catch((error: unknown) => {
      if (!String(error).includes('net::ERR_NETWORK_CHANGED')) throw error;
      return openOnce(address, id);
    });

  it.each(services)('opens the page of a service by its name: %s', async (id) => {
    await opens(`https://${id}.nas.local:${String(home.port)}/`, id);
  });

  it.each(services)("opens the page of a service at the service's own port: %s", async (id) => {
    await opens(`https://${machine.lan}:${String(home.host.port(id))}/`, id);
  });

  it.each(services)('opens the page of a service by its path: %s', async (id) => {
    await opens(`https://nas.local:${String(home.port)}/${id}/`, id);
  });

  it('opens every service from the list of shared services', async () => {
    await using opened = await openNewPage();
    const { page } = opened;
    await page.goto(`https://nas.local:${String(home.port)}/`);
    const links = await page
      .locator('.shared a')
      .evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href));
    expect(links).toHaveLength(services.length + 1);
    for (const link of links) {
      await page.goto(link);
      await signInWhereAsked(
        page,
        ({ hostname, pathname }) => hostname === 'control.nas.local' && pathname !== '/.homeport/sign-in',
      );
      await page.locator('#app > *').first().waitFor();
    }
  });

  it('shows a clone address that this computer reaches', async () => {
    const headers = { Authorization: adminAuthorization, 'Content-Type': 'application/json' };
    const repository = { method: 'POST', headers, body: JSON.stringify({ name: 'boat', auto_init: true }) };
    expect((await fetch(`${home.host.url('git')}/api/v1/user/repos`, repository)).status).toBe(201);
    await using opened = await openNewPage();
    const { page } = opened;
    await page.goto(`https://control.nas.local:${String(home.port)}/git/repositories/${admin.name}~boat`);
    await signInWhereAsked(page, ({ pathname }) => pathname.startsWith('/git/repositories/'));
    const [clone, password] = [
      page.getByRole('button', { name: gitCodeMessages.clone() }),
      page.getByLabel(gatewayTexts.password()),
    ];
    await clone.or(password).first().waitFor();
    if (await password.isVisible()) {
      await page.getByLabel(gatewayTexts.name()).fill(admin.name);
      await password.fill(admin.password);
      await page.getByRole('button', { name: gatewayTexts.signIn() }).click();
    }
    await clone.click();
    const shared = (await home.state()).services.find(({ id }) => id === 'git')?.addresses.map(({ url }) => url) ?? [];
    const command = page.locator('#clone code').filter({ hasText: 'git clone https://' });
    const text = (await command.first().textContent()) ?? '';
    expect(shared.map((url) => `git clone ${url}/${admin.name}/boat.git`)).toContain(text.trim());
    expect(await page.locator('#clone').textContent()).not.toContain('127.0.0.1');
  });

  it('opens the link of a delivered message', async () => {
    const shared = (await home.state()).services.find(({ id }) => id === 'control');
    const headers = { Authorization: adminAuthorization, 'Content-Type': 'application/json' };
    const monitor = { name: 'Door', type: 'port', hostname: '127.0.0.1', port: 9, interval: 20, maxretries: 0 };
    const body = JSON.stringify(monitor);
    const added = await fetch(`${home.host.url('control')}/api/uptime/monitors`, { method: 'POST', headers, body });
    expect(added.status).toBe(200);
    const link = await vi.waitFor(
      async () => {
        const reply = await fetch(`${home.host.url('control')}/api/inbox`, { headers });
        const { items } = (await reply.json()) as { items: { link: string | null }[] };
        const link = items.find((item) => item.link?.includes('/uptime/') === true)?.link;
        return link ?? Promise.reject(new Error('no message yet'));
      },
      { timeout: 60_000, interval: 200 },
    );
    expect(link.startsWith(`${shared?.addresses[0]?.url ?? 'none'}/uptime/monitors/`)).toBe(true);
    await using opened = await openNewPage();
    await opened.page.goto(link);
    await signInWhereAsked(opened.page, ({ pathname }) => pathname.startsWith('/uptime/monitors/'));
    await opened.page.locator('#app > *').first().waitFor();
  });
});
