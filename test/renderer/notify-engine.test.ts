import * as notifyProblems from '#messages/notify-problems';
import * as notifyMessages from '#messages/notify';
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lacksLibrary, getLibraryFolder, placeEngine } from '../services/notify/engine-rig.ts';
import { noBrowser } from '../support/browser.ts';
import { anyText, containing } from '../support/message-patterns.ts';
import { openRealServices, type RealServices } from './real-services.ts';
import { besidesRefusals } from './visit.ts';

describe.skipIf(noBrowser || lacksLibrary)('a service that needs the Apprise engine', () => {
  let real: RealServices;
  let folder: string;
  let server: Server;
  let url: string;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'homeport-engine-page-'));
    server = createServer((request, response) => void request.resume().once('end', () => response.end('{}')));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `misskey://tokentoken@127.0.0.1:${(server.address() as AddressInfo).port}`;
    real = await openRealServices({ APPRISE_PATH: join(folder, 'engine', 'apprise') });
  });
  afterEach(async () => {
    await real[Symbol.asyncDispose]();
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('links to the engines, is accepted once the engine is installed, and waits visibly without it', async () => {
    await using browserPage = await real.visit('/delivery/keys');
    const { page } = browserPage;
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: notifyMessages.addADestination() }).click();
    await dialog.getByRole('combobox').fill('misskey');
    await page.keyboard.press('Enter');
    await dialog.getByLabel(notifyMessages.address()).fill(url);
    await dialog.getByRole('button', { name: notifyMessages.add(), exact: true }).click();
    await dialog.getByText(notifyProblems.engineMissing()).waitFor();
    expect(await dialog.getByRole('link', { name: notifyMessages.toTheEngines() }).getAttribute('href')).toBe(
      '/settings/engines',
    );

    placeEngine(join(folder, 'engine'), getLibraryFolder('apprise-2'));
    await real.ask('POST', '/engines/apprise/verify');
    await dialog.getByRole('button', { name: notifyMessages.add(), exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    const row = page.getByRole('listitem').filter({ hasText: 'Misskey' });
    await row.getByText('misskey://t...n@127.0.0.1').first().waitFor();
    await row
      .getByRole('button', { name: containing(notifyMessages.testDestination({ service: anyText, line: anyText })) })
      .click();
    await row.getByText(containing(notifyMessages.testArrived({ duration: anyText }))).waitFor();
    expect(await page.content()).not.toContain('tokentoken');

    renameSync(join(folder, 'engine'), join(folder, 'elsewhere'));
    await real.ask('POST', '/engines/apprise/verify');
    await page.reload();
    await row.getByText(notifyMessages.waitsForTheAppriseEngine()).waitFor();
    expect(await row.getByRole('link', { name: notifyMessages.toTheEngines() }).getAttribute('href')).toBe(
      '/settings/engines',
    );
    expect(besidesRefusals(browserPage.complaints)).toEqual([]);
    const shots = process.env['HOMEPORT_SHOTS'];
    if (shots !== undefined) await page.screenshot({ path: join(shots, 'engine-waits.png') });
  });
});
