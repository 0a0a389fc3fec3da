import * as pushMessages from '#messages/push';
import * as serviceMessages from '#messages/service';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { gateway } from '../../services/gateway/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { notify } from '../../services/notify/index.ts';
import { push } from '../../services/push/index.ts';
import { api } from '../support/api.ts';
import { noBrowser } from '../support/browser.ts';
import { sharing } from '../support/gateway/phone.ts';
import { adminAuthorization } from '../support/host.ts';
import { getTagText } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';
import { openPages, type Pages } from './visit.ts';

describe.skipIf(noBrowser)('addresses and commands on pages', () => {
  let pages: Pages;
  const folder = mkdtempSync(join(tmpdir(), 'reach-'));

  beforeAll(async () => {
    pages = await openPages({
      services: [push, notify, inbox, control, gateway],
      environment: sharing(),
    });
    await share('push');
    const body = JSON.stringify({ key: 'house', text: 'push://porch\n' });
    await api(pages.url, '/api/notify/keys', { method: 'POST', body });
  });
  afterAll(async () => {
    await pages[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const share = (...shared: readonly string[]): Promise<unknown> =>
    api(pages.url, '/api/settings/gateway', { method: 'PATCH', body: JSON.stringify({ shared }) });
  const createToken = async (label: string): Promise<string> => {
    const body = JSON.stringify({ label, expiresAt: null });
    return (await api<{ text: string }>(pages.url, '/api/accounts/ada/tokens', { method: 'POST', body })).text;
  };
  const run = (command: string, environment: Readonly<Record<string, string>> = {}): Promise<unknown> =>
    promisify(execFile)('sh', ['-c', command], { cwd: folder, env: { ...process.env, ...environment } });
  const readMessages = async (topic: string): Promise<readonly string[]> => {
    const headers = { Authorization: adminAuthorization };
    const text = await (await fetch(`${pages.host.url('push')}/${topic}/json?poll=1`, { headers })).text();
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { message: string }).message);
  };

  it('publishes from a script once the token was created, and opens the shared topic on a phone', async () => {
    await using visit = await pages.visit('/push/topics/lawn?show=subscribe');
    const { page } = visit;
    await page.getByLabel(pushMessages.nameOfTheToken()).fill('Mower');
    await page.getByRole('button', { name: pushMessages.makeAToken() }).click();
    const command = page.getByText(/-d "Hello" http.*\/lawn$/);
    await expect.poll(() => command.innerText()).toContain('Bearer tk_');
    await run(await command.innerText());
    expect(await readMessages('lawn')).toEqual(['Hello']);
    await page.getByRole('img', { name: pushMessages.subscribeToTopicWithThe({ topic: 'lawn' }) }).waitFor();
    // Only shown on phones: it is not needed next to the code.
    const link = page.getByRole('link', { name: pushMessages.openItInTheApp(), includeHidden: true });
    expect(await link.getAttribute('href')).toBe(`ntfy://127.0.0.2:${String(pages.host.port('push'))}/lawn`);
    expect(visit.complaints).toEqual([]);
  });

  it('works on another device, and explains how it trusts this computer', async () => {
    const TOKEN = await createToken('curl');
    await using visit = await pages.visit('/push/connect');
    const { page } = visit;
    await page.getByRole('img', { name: pushMessages.subscribeToTopicWithThe({ topic: 'lawn' }) }).waitFor();
    const command = page.getByText(/-d "Backup finished"/);
    expect(await command.innerText()).toContain(pages.host.url('push').replace(/\/$/, ''));
    await page.getByRole('radio', { name: serviceMessages.otherDevices() }).check();
    await expect.poll(() => command.innerText()).toContain('https://127.0.0.2:');
    const trust = await page.getByRole('link', { name: /\/trust$/ }).innerText();
    await run(`curl -sS ${trust}/homeport.crt -o homeport.crt`);
    // The commands use the topic of the code.
    await run(await command.innerText(), { TOKEN, CURL_CA_BUNDLE: 'homeport.crt' });
    expect(await readMessages('lawn')).toContain('Backup finished');
    expect(visit.complaints).toEqual([]);
  });

  it('shows what must be shared first, and is correct on this computer until then', async () => {
    await using visit = await pages.visit('/delivery/keys/house');
    const { page } = visit;
    await run(await page.getByText(/^curl -d title=Hello/).innerText());
    await expect.poll(() => readMessages('porch')).toContain('First light');
    await page.getByRole('radio', { name: serviceMessages.otherDevices() }).check();
    await page.getByRole('heading', { name: serviceMessages.notShared({ label: 'Delivery' }) }).waitFor();
    expect(
      await page
        .getByRole('link', { name: getTagText(serviceMessages.shareForAddress(), 'link') })
        .getAttribute('href'),
    ).toBe('/network');
    // The gateway requires a sign-in where the service itself does not.
    await share('push', 'notify');
    const command = await page.getByText(/^curl -u .* -d title=Hello/).innerText();
    const trust = await page.getByRole('link', { name: /\/trust$/ }).innerText();
    await run(`curl -sS ${trust}/homeport.crt -o homeport.crt`);
    const before = (await readMessages('porch')).length;
    await run(command, { TOKEN: await createToken('elsewhere'), CURL_CA_BUNDLE: 'homeport.crt' });
    await expect.poll(async () => (await readMessages('porch')).length).toBe(before + 1);
    expect(visit.complaints).toEqual([]);
  });

  it.each(screens)('fits on $on', async (screen) => {
    await using visit = await pages.visit('/push/connect', screen);
    await visit.page.getByRole('radio', { name: serviceMessages.otherDevices() }).check();
    await visit.page.getByRole('link', { name: /\/trust$/ }).waitFor();
    await expectFits(visit, 'connect-elsewhere', screen);
    await visit.page.goto(`${pages.url}/push/topics/lawn?show=subscribe`);
    // Phones open the app, where other devices show a code.
    const code = visit.page.getByRole('img', { name: pushMessages.subscribeToTopicWithThe({ topic: 'lawn' }) });
    await code
      .or(visit.page.getByRole('link', { name: pushMessages.openItInTheApp() }))
      .first()
      .waitFor();
    await expectFits(visit, 'push-connect-phone', screen);
  });
});
