import * as addonsMessages from '#messages/addons';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { addons } from '../../services/addons/index.ts';
import { control } from '../../services/control/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { alphaStreams, openFakeAddon, type FakeAddon } from '../services/addons/fake-addon.ts';
import { buildConfig, customPreset, makeUser, password } from '../services/addons/rig.ts';
import { getBrowser, noBrowser, openPage, signIn } from '../support/browser.ts';
import { openTestHost, type TestHost } from '../support/host.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';

describe.skipIf(noBrowser)('New configurations', () => {
  let host: TestHost;
  let upstream: FakeAddon;
  beforeAll(async () => {
    upstream = await openFakeAddon({ streams: alphaStreams });
    const built = process.env['HOMEPORT_TEST_PAGES'];
    host = await openTestHost({ services: [addons, inbox, control], ...(built ? { pages: built } : {}) });
  });
  afterAll(async () => {
    await host[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
  });

  it.each(screens)('are imported from the address of an installed one ($on)', async (screen) => {
    const config = buildConfig([customPreset('a', 'Alpha', upstream.manifestUrl)], { addonName: 'Shared' });
    const { manifestUrl } = await makeUser(host, config);
    await using visit = await openPage(await getBrowser(), screen);
    const { page } = visit;
    await signIn(page.context(), host.url('control'));
    await page.goto(`${host.url('control')}/addons/configurations`);
    await page.getByRole('button', { name: addonsMessages.fromTemplateOrAddress() }).click();
    await page.getByRole('radio', { name: addonsMessages.templateAddress() }).check();
    await page.getByLabel(addonsMessages.importAddress(), { exact: true }).fill(manifestUrl);
    await page.getByLabel(addonsMessages.importPassword(), { exact: true }).fill(password);
    await expectFits(visit, 'new-configuration', screen);
    await page.getByRole('dialog').getByRole('button', { name: addonsMessages.makeAConfiguration() }).click();
    await page.waitForURL('**/addons/configurations/*');
    await page.getByRole('heading', { level: 1, name: 'Shared' }).waitFor();
  });
});
