import * as gitMessages from '#messages/git';
import * as manifests from '#messages/manifests';
import * as texts from '#messages/gateway-texts';
import * as homeMessages from '#messages/home';
import * as mailMessages from '#messages/mail';
import * as networkMessages from '#messages/network';
import * as serviceMessages from '#messages/service';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { gateway } from '../../services/gateway/index.ts';
import { git } from '../../services/git/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { mail } from '../../services/mail/index.ts';
import { notify } from '../../services/notify/index.ts';
import { push } from '../../services/push/index.ts';
import { api, inbox as readInbox } from '../support/api.ts';
import { noBrowser } from '../support/browser.ts';
import { lan, sharing } from '../support/gateway/phone.ts';
import { containing, getTagText } from '../support/message-patterns.ts';
import { seriousFindings } from './axe.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';
import { openPages, type Pages } from './visit.ts';

describe.skipIf(noBrowser)('ports without HTTP', () => {
  let pages: Pages;
  let folder: string;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'network-ports-'));
    const services = [git, mail, notify, push, inbox, control, gateway];
    pages = await openPages({ services, environment: sharing() });
  });
  afterEach(async () => {
    await pages[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const change = (settings: Readonly<Record<string, unknown>>): Promise<unknown> =>
    api(pages.url, '/api/settings/gateway', { method: 'PATCH', body: JSON.stringify(settings) });

  it('are shared and unshared on Network, which explains the effect and whether it works', async () => {
    await using visit = await pages.visit('/network');
    const { page } = visit;
    const list = page.getByRole('list', { name: networkMessages.ports() });
    const row = list.getByRole('listitem').filter({ hasText: 'Mail' }).first();
    await row.getByRole('radio', { name: networkMessages.off(), checked: true }).waitFor();
    await page.getByText(containing(networkMessages.portsNote()), { exact: false }).waitFor();
    await row.getByRole('radio', { name: networkMessages.shared() }).check();
    await row.getByText(`smtp://${lan}:${String(pages.host.port('mail'))}`).waitFor();
    await row.getByText(manifests.mailShared(), { exact: false }).waitFor();
    await page.getByRole('button', { name: networkMessages.test() }).click();
    await page
      .getByText(texts.testPortWorks({ title: 'Mail', url: `smtp://${lan}:${String(pages.host.port('mail'))}` }))
      .waitFor();
    await change({ portNetworks: ['192.168.1.7'] });
    await page
      .getByText(containing(networkMessages.portsNoteForNetworks({ networks: '192.168.1.7' })), { exact: false })
      .waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await row.getByRole('radio', { name: networkMessages.off() }).check();
    await row.getByRole('radio', { name: networkMessages.off(), checked: true }).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('are both shared when the second is switched on before the first is applied', async () => {
    await using visit = await pages.visit('/network');
    const { page } = visit;
    const row = (title: string) => page.getByRole('radiogroup', { name: networkMessages.whoReachesTitle({ title }) });
    const release = Promise.withResolvers<undefined>();
    const changes: unknown[] = [];
    await page.route('**/api/settings/gateway', async (route) => {
      changes.push(route.request().postDataJSON());
      await release.promise;
      await route.continue();
    });
    await row('Mail').getByRole('radio', { name: networkMessages.shared() }).check();
    await expect.poll(() => changes).toHaveLength(1);
    await row('Git over SSH').getByRole('radio', { name: networkMessages.shared() }).check();
    release.resolve(undefined);
    await expect.poll(() => changes).toHaveLength(2);
    expect(changes[1]).toEqual({ sharedPorts: ['mail', 'git.ssh'] });
    await page.getByText(`smtp://${lan}:${String(pages.host.port('mail'))}`).waitFor();
    await page.getByText(`ssh://${lan}:${String(pages.host.port('git.ssh'))}`).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('are listed on Connect of Mail for other devices, with a command that sends a mail', async () => {
    await using visit = await pages.visit('/delivery/connect');
    const { page } = visit;
    await page.getByRole('radio', { name: serviceMessages.otherDevices() }).check();
    await page.getByRole('heading', { name: serviceMessages.notShared({ label: 'Mail' }) }).waitFor();
    await page
      .getByRole('link', { name: getTagText(serviceMessages.shareForAddress(), 'link') })
      .last()
      .waitFor();
    await change({ sharedPorts: ['mail'] });
    await page.locator('dd').filter({ hasText: lan }).waitFor();
    await page.getByText(mailMessages.signInOff()).waitFor();
    await page.getByLabel(mailMessages.deviceOrProgram()).selectOption(mailMessages.curlGuide());
    const command = await page
      .locator('code')
      .filter({ hasText: `smtp://${lan}:${String(pages.host.port('mail'))}` })
      .innerText();
    await promisify(execFile)('sh', ['-c', command], { cwd: folder });
    await expect.poll(async () => (await readInbox(pages.url)).length, { timeout: 20_000 }).toBeGreaterThan(0);
    expect(visit.complaints).toEqual([]);
  });

  it('are listed on Connect of Code, with or without HTTP', async () => {
    await change({ shared: ['git'] });
    await using visit = await pages.visit('/git/connect');
    const { page } = visit;
    const port = String(pages.host.port('git.ssh'));
    await page.getByText(`git clone ssh://git@127.0.0.1:${port}/ada/project.git`).waitFor();
    await page.getByRole('radio', { name: serviceMessages.otherDevices() }).check();
    await page.getByText(containing(gitMessages.sshNotShared()), { exact: false }).waitFor();
    await change({ sharedPorts: ['git.ssh'] });
    await page.getByText(`git clone ssh://git@${lan}:${port}/ada/project.git`).waitFor();
    await change({ shared: [] });
    await page.getByRole('heading', { name: serviceMessages.notShared({ label: 'Code' }) }).waitFor();
    await page.getByText(`git clone ssh://git@${lan}:${port}/ada/project.git`).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('have a switch below the row of their service on Home', async () => {
    await using visit = await pages.visit('/');
    const { page } = visit;
    await page.getByRole('button', { name: homeMessages.addressAndSwitchOfTitle({ title: 'Mail gateway' }) }).click();
    await page
      .getByRole('switch', { name: homeMessages.shareTitleOnTheNetwork({ title: manifests.mailListener() }) })
      .click();
    await page.getByText(`smtp://${lan}:${String(pages.host.port('mail'))}`).waitFor();
    await page
      .getByRole('switch', {
        name: homeMessages.shareTitleOnTheNetwork({ title: manifests.mailListener() }),
        checked: true,
      })
      .click();
    await page.getByText(`smtp://${lan}:${String(pages.host.port('mail'))}`).waitFor({ state: 'detached' });
    expect(visit.complaints).toEqual([]);
  });

  it.each(screens)('fits on $on', async (screen) => {
    await change({ sharedPorts: ['mail', 'git.ssh'], shared: ['git'] });
    for (const [path, name, heading] of [
      ['/network', 'network-ports', manifests.mailShared()],
      ['/delivery/connect', 'mail-connect-elsewhere', mailMessages.whatASenderHasTo()],
      ['/git/connect', 'git-connect-elsewhere', 'Git over SSH'],
    ] as const) {
      await using visit = await pages.visit(path, screen);
      if (path !== '/network') await visit.page.getByRole('radio', { name: serviceMessages.otherDevices() }).check();
      await visit.page.getByText(heading).first().waitFor();
      await expectFits(visit, name, screen);
    }
  });
});
